"""How long an agent waits at its doors: hooks beside a server and alone, the start of `quipu mcp`, a search by MCP and by HTTP.

    python3 scripts/doors.py QUIPU [TIMES]    # the path of a release binary, on a machine that does nothing else

A root with 200 messages of one user; each door is asked so often, 200 times unless told. Prints milliseconds, and fails where a
door takes longer than an agent should wait.
"""

import http.client
import json
import re
import subprocess
import sys
import tempfile
import time

QUESTION = "Where does my sister live?"
MESSAGES = 200
# The first ones fill caches that a person's machine has filled.
WARM_UP = 10
PROMPT = {"hook_event_name": "UserPromptSubmit", "session_id": "now", "prompt": QUESTION}
GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "doors", "version": "1"}}
CALL = {"name": "search", "arguments": {"query": QUESTION}}
SEARCH = {"user_id": "me", "query": QUESTION, "top_k": 8, "include_messages": 8, "explain": True}
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
MCP_HEADERS = HEADERS | {"mcp-protocol-version": "2025-06-18"}


# Milliseconds, p50 and p99. A search by MCP may take 2 ms longer than by HTTP.
LIMITS = {"hook beside a server": (10, 30), "hook alone": (60, None), "quipu mcp, to the first answer": (60, None)}
MCP_MAX = 2


def rpc(method, params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def timed(act, times, afterwards=lambda made: None):
    """Sorted milliseconds of an act, without what comes afterwards."""
    taken = []
    for number in range(WARM_UP + times):
        begun = time.perf_counter()
        made = act(number)
        taken.append((time.perf_counter() - begun) * 1e3)
        afterwards(made)
    return sorted(taken[WARM_UP:])


def shown(name, taken):
    """Prints a door's times, and gives its p50 and whether it is too slow."""
    measured = taken[len(taken) // 2], taken[len(taken) * 99 // 100]
    limits = LIMITS.get(name, (None, None))
    late = any(limit and took > limit for took, limit in zip(measured, limits))
    print(f"{name:32} p50 {measured[0]:6.1f}   p99 {measured[1]:6.1f}{'   too slow' if late else ''}")
    return measured[0], late


def main(quipu, times):
    with tempfile.TemporaryDirectory() as root:
        run = [quipu, "--root", root]

        def hook(number):
            event = json.dumps(PROMPT | {"prompt_id": str(number), "session_id": f"now{number}"})
            answer = subprocess.run([*run, "hook"], input=event, text=True, capture_output=True, check=True).stdout
            assert "Porto" in answer, answer

        def start(_):
            process = subprocess.Popen([*run, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            print(json.dumps(rpc("initialize", GREETING)), file=process.stdin, flush=True)
            assert "protocolVersion" in process.stdout.readline()
            return process

        with subprocess.Popen([*run, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True) as server:
            try:
                address = re.search(r"127\.0\.0\.1:\d+", server.stdout.readline()).group()
                connection = http.client.HTTPConnection(address)

                def post(path, body, headers=HEADERS):
                    connection.request("POST", path, json.dumps(body), headers)
                    answer = connection.getresponse()
                    text = answer.read().decode()
                    assert answer.status == 200, text
                    return text

                texts = [f"Note {number}: the hedge in garden {number} needs water." for number in range(MESSAGES - 1)]
                for number, text in enumerate([*texts, "My sister lives in Porto."]):
                    said = {"sender_id": "me", "role": "user", "timestamp": 1_700_000_000_000 + number * 60_000, "content": text}
                    post("/api/v2/memory/add", {"session_id": f"me/{number // 20}", "messages": [said]})
                for number in range(MESSAGES // 20):
                    post("/api/v2/memory/flush?wait=true", {"session_id": f"me/{number}"})
                by_http = timed(lambda _: post("/api/v2/memory/search", SEARCH), times)
                by_mcp = timed(lambda _: post("/mcp", rpc("tools/call", CALL), MCP_HEADERS), times)
                http_p50, _ = shown("search by HTTP", by_http)
                mcp_p50, _ = shown("search by MCP", by_mcp)
                late = [mcp_p50 - http_p50 > MCP_MAX, shown("hook beside a server", timed(hook, times))[1]]
            finally:
                server.terminate()
        late.append(shown("hook alone", timed(hook, times))[1])
        late.append(shown("quipu mcp, to the first answer", timed(start, times, subprocess.Popen.communicate))[1])
        return any(late)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200))
