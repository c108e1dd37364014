"""The engine of keep_last.py as an HTTP server. Quipu sends `POST /HOOK` with the call; the answer is the body of the response.

    python3 examples/engines/keep_last_http.py 9000
"""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from keep_last import answer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps(answer(call)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)  # port 0: any free port
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
