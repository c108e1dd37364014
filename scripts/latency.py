"""What the proxy adds to the first byte of an answer: the same requests straight to a model server and through Quipu.

    python3 scripts/latency.py http://127.0.0.1:8080 http://127.0.0.1:4777 [TURNS [on|off]]

The last word switches memory. Each turn is one more message of a conversation of its own on either side, streamed. Prints milliseconds.
"""

import http.client
import json
import sys
import time
from urllib.parse import urlparse


class Talk:
    def __init__(self, base_url, memory):
        url = urlparse(base_url)
        self.path = url.path.rstrip("/").removesuffix("/v1") + "/v1/chat/completions"
        self.connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
        self.connection.connect()
        self.messages = [{"role": "system", "content": "Be brief."}]
        self.taken = []
        self.headers = {"content-type": "application/json", "x-quipu-user": "latency", "x-quipu-memory": memory}

    def turn(self, text):
        self.messages.append({"role": "user", "content": text})
        body = json.dumps({"model": "tiny", "stream": True, "messages": self.messages})
        begun = time.perf_counter()
        self.connection.request("POST", self.path, body, self.headers)
        answer = self.connection.getresponse()
        first = answer.read1(1)
        self.taken.append((time.perf_counter() - begun) * 1e3)
        rest = (first + answer.read()).decode()
        assert answer.status == 200, rest
        chunks = [json.loads(line[6:]) for line in rest.splitlines() if line.startswith("data: {")]
        choices = [chunk["choices"][0]["delta"] for chunk in chunks if chunk.get("choices")]
        said = "".join(delta.get("content") or "" for delta in choices)
        self.messages.append({"role": "assistant", "content": said})
        if len(self.messages) > 40:
            self.messages = self.messages[:1]

    def at(self, share):
        ranked = sorted(self.taken[20:])
        return ranked[min(len(ranked) - 1, int(len(ranked) * share))]


def main():
    turns = int(sys.argv[3]) if len(sys.argv) > 3 else 400
    memory = sys.argv[4] if len(sys.argv) > 4 else "on"
    direct, through = Talk(sys.argv[1], memory), Talk(sys.argv[2], memory)
    for number in range(turns):
        text = f"Turn {number}: what did I say about the parrot, the bicycle and the move to Lisbon?"
        direct.turn(text)
        through.turn(text)
    for name, talk in [("direct", direct), ("through Quipu", through)]:
        print(f"{name}: p50 {talk.at(0.5):.2f} ms, p99 {talk.at(0.99):.2f} ms")
    print(f"added: p50 {through.at(0.5) - direct.at(0.5):.2f} ms, p99 {through.at(0.99) - direct.at(0.99):.2f} ms")


main()
