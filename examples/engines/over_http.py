"""An engine that is an HTTP server, as a program: each call becomes `POST URL/HOOK`, and the body of the response is the answer.

    command = ["python3", "examples/engines/over_http.py", "http://127.0.0.1:9000"]
"""
import json
import sys
import urllib.request

for line in sys.stdin:
    call = json.loads(line)
    headers = {"content-type": "application/json"}
    try:
        request = urllib.request.Request(f"{sys.argv[1].rstrip('/')}/{call['hook']}", line.encode(), headers)
        with urllib.request.urlopen(request, timeout=5) as response:
            answer = json.load(response)
    except (OSError, ValueError) as error:  # a status outside 200 to 299, no server, no JSON
        answer = {"id": call["id"], "error": str(error)}
    print(json.dumps(answer), flush=True)
