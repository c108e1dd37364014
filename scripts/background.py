"""What memory's own work costs a conversation at the same model server: turns with nothing else to do, and turns while memcells wait.

    QUIPU_LLAMA_URL=http://127.0.0.1:8080 python3 scripts/background.py [--quipu target/release/quipu] [--turns 40]

Starts a Quipu of its own in a folder of its own whose memories are told by the same server's model, and ends it. Two talks take
turns, one in each state; between turns a person reads for a while, and a model may work. Prints what each state's turns took until
their first word and in all, and how many memcells were told meanwhile.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

READS_SECONDS = 3
WORDS = "goats like thistles and the old road to the harbour where boats of every colour wait for rain".split()


def ask(url, body, headers=None):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json", **(headers or {})})
    return urllib.request.urlopen(request, timeout=1800)


class Talk:
    """A conversation whose turns are timed."""

    def __init__(self, url, name):
        self.url, self.name = url, name
        self.messages = [{"role": "system", "content": "You are brief and kind. " * 40}]
        self.firsts, self.wholes, self.again = [], [], []

    def turn(self, number):
        self.messages.append({"role": "user", "content": f"Turn {number}: tell me one thing about goats."})
        headers = {"x-quipu-user": "reader", "x-quipu-conversation": self.name}
        body = {"model": "tiny", "messages": self.messages, "max_tokens": 48, "temperature": 0, "stream": True}
        begun, first, said = time.perf_counter(), None, []
        with ask(f"{self.url}/v1/chat/completions", body, headers) as answer:
            for line in answer:
                if not line.startswith(b"data: {"):
                    continue
                event = json.loads(line[6:])
                piece = "".join((choice["delta"].get("content") or "") for choice in event["choices"])
                if piece and first is None:
                    first = time.perf_counter() - begun
                said.append(piece)
                if "timings" in event:
                    self.again.append(event["timings"]["prompt_n"])
        self.firsts.append(first or time.perf_counter() - begun)
        self.wholes.append(time.perf_counter() - begun)
        self.messages.append({"role": "assistant", "content": "".join(said)})


class Load:
    """Other people's sessions, each of which becomes a memcell that a model tells."""

    def __init__(self, url):
        self.url, self.count = url, 0
        self.is_on, self.is_over = threading.Event(), False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.is_over:
            if self.is_on.wait(0.2) and self.waiting() < 20:
                self.count += 1
                said = " ".join(WORDS[(self.count * step) % len(WORDS)] for step in range(1, 60))
                session = f"load-{self.count}"
                message = {"sender_id": "other", "role": "user", "timestamp": int(time.time() * 1000), "content": said}
                ask(f"{self.url}/api/v2/memory/add", {"session_id": session, "messages": [message]}).close()
                ask(f"{self.url}/api/v2/memory/flush", {"session_id": session}).close()
            time.sleep(0.05)

    def waiting(self):
        with urllib.request.urlopen(f"{self.url}/health") as answer:
            return json.load(answer)["memorize_queue"]["pending"]

    def told(self):
        return self.count - self.waiting()

    def end(self):
        self.is_over = True
        self.thread.join()


def measure(url, turns):
    load = Load(url)
    talks = [Talk(url, "quiet"), Talk(url, "busy")]
    try:
        # In blocks, so that what one state leaves behind is no part of the other's turns but the first.
        for block in range(0, turns, 10):
            for talk, is_busy in zip(talks, (False, True)):
                (load.is_on.set if is_busy else load.is_on.clear)()
                while not is_busy and load.waiting():
                    time.sleep(0.5)
                for number in range(block, min(block + 10, turns)):
                    time.sleep(READS_SECONDS)
                    talk.turn(number)
        told = load.told()
    finally:
        load.end()
    for talk in talks:
        # The first turn of a block reads what the other talk displaced.
        kept = [at for at in range(turns) if at % 10]
        for what, times in (("first word", talk.firsts), ("whole answer", talk.wholes)):
            ordered = sorted(times[at] * 1e3 for at in kept)
            p95 = ordered[int(len(ordered) * 0.95)]
            print(f"{talk.name}: {what}: median {statistics.median(ordered):.0f} ms, p95 {p95:.0f} ms, longest {ordered[-1]:.0f} ms")
        if talk.again:
            print(f"{talk.name}: tokens evaluated a turn: median {statistics.median(talk.again[at] for at in kept)}")
    print(f"memcells told meanwhile: {told}, waiting: {load.waiting()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quipu", default="target/release/quipu")
    parser.add_argument("--turns", type=int, default=40)
    options = parser.parse_args()
    upstream = os.environ.get("QUIPU_LLAMA_URL")
    if not upstream:
        sys.exit("QUIPU_LLAMA_URL names no llama.cpp server; docs/llama-cpp.md tells how to start one")
    with tempfile.TemporaryDirectory() as root:
        command = [options.quipu, "--root", root, "serve", "--listen", "127.0.0.1:0", "--upstream", upstream]
        model = {"QUIPU_CHAT__MODEL": "tiny", "QUIPU_CHAT__BASE_URL": f"{upstream}/v1"}
        quipu = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **model})
        try:
            found = re.search(r"http://[0-9.:]+", quipu.stdout.readline())
            if not found:
                sys.exit(f"{options.quipu} did not start")
            measure(found.group(), options.turns)
        finally:
            quipu.terminate()
            quipu.wait(timeout=60)


main()
