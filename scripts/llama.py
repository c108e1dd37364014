"""What a real llama.cpp server evaluates of each turn through Quipu: the experiments of docs/llama-cpp.md.

    QUIPU_LLAMA_URL=http://127.0.0.1:8080 python3 scripts/llama.py [--quipu target/release/quipu] [--slots 1] [--hybrid UBATCH]

Starts a Quipu of its own in a folder of its own, and ends it. Exit code: 0 where every bound holds, 1 where one does not, 2 where
nothing could be measured. With --through URL it uses that Quipu, and leaves the restart out.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

# Tokens at the border of two messages that a server may evaluate again.
BORDER = 5


class Unmeasured(Exception):
    """The server does not tell what it reused."""


def ask(url, body, headers=None):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=1800) as answer:
        return json.load(answer)


class Quipu:
    """A Quipu before the server; its data outlives a restart."""

    def __init__(self, options, upstream):
        self.options, self.upstream = options, upstream
        self.root = tempfile.TemporaryDirectory()
        self.process = None
        self.start()

    def start(self):
        if self.options.through:
            self.url = self.options.through.rstrip("/")
            return
        command = [self.options.quipu, "--root", self.root.name, "serve", "--listen", "127.0.0.1:0", "--upstream", self.upstream]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        found = re.search(r"http://[0-9.:]+", self.process.stdout.readline())
        if not found:
            raise Unmeasured(f"{self.options.quipu} did not start")
        self.url = found.group()

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=60)

    def remember(self, session, text):
        now = int(time.time() * 1000)
        message = {"sender_id": "llama", "role": "user", "timestamp": now, "content": text}
        ask(f"{self.url}/api/v2/memory/add", {"session_id": session, "messages": [message]})
        ask(f"{self.url}/api/v2/memory/flush?wait=true", {"session_id": session})


class Talk:
    """A conversation, and what its turns cost."""

    def __init__(self, quipu, name, memory="on"):
        self.quipu, self.name, self.memory = quipu, name, memory
        self.messages = [{"role": "system", "content": "You are brief and kind. " * 40}]
        self.before = 0
        self.over = []

    def turn(self, text=None, counts=True, **more):
        """Tokens evaluated beyond what is new since the last request and its reply."""
        if text is not None:
            self.messages.append({"role": "user", "content": text})
        headers = {"x-quipu-user": "llama", "x-quipu-conversation": self.name, "x-quipu-memory": self.memory}
        body = {"model": "tiny", "messages": self.messages, "max_tokens": 48, "temperature": 0, **more}
        answer = ask(f"{self.quipu.url}/v1/chat/completions", body, headers)
        timings, usage = answer.get("timings", {}), answer.get("usage", {})
        if "cache_n" not in timings or "prompt_n" not in timings:
            raise Unmeasured("the answer has no `timings.cache_n`: is it a llama.cpp server of this year?")
        told = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", timings["cache_n"])
        if told != timings["cache_n"]:
            raise Unmeasured(f"`usage` tells of {told} cached tokens, `timings` of {timings['cache_n']}")
        self.prompt = timings["cache_n"] + timings["prompt_n"]
        over = timings["prompt_n"] - max(self.prompt - self.before, 1)
        if counts and self.before:
            self.over.append(over)
        self.before = self.prompt + timings.get("predicted_n", usage.get("completion_tokens", 0))
        self.messages.append(answer["choices"][0]["message"])
        return over


def chat(quipu, memory):
    talk = Talk(quipu, f"chat-{memory}", memory)
    for turn in range(20):
        talk.turn(f"Turn {turn}: tell me one thing about goats that you have not told me yet.")
    return talk.over


def recall(quipu):
    talk = Talk(quipu, "recall")
    for turn in range(10):
        quipu.remember(f"fact-{turn}", f"Person{turn} moved to town{turn} and keeps goats{turn}.")
        talk.turn(f"Does person{turn} in town{turn} keep goats{turn}?")
    return talk.over


def tools(quipu):
    tool = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}
    quipu.remember("tools", "The work folder holds goat pictures.")
    talk = Talk(quipu, "tools")
    talk.turn("Use the tool to look into the work folder of goat pictures.", tools=[tool])
    for _ in range(6):
        calls = talk.messages[-1].get("tool_calls") or []
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "a.jpg b.jpg"} for call in calls]
        talk.messages += results or [{"role": "user", "content": "Use the tool once more."}]
        talk.turn(tools=[tool])
    return talk.over


def restarted(quipu):
    talk = Talk(quipu, "restarted")
    for turn in range(3):
        talk.turn(f"Turn {turn}, before.")
    quipu.stop()
    quipu.start()
    for turn in range(3):
        talk.turn(f"Turn {turn}, after.")
    return talk.over


def edited(quipu):
    talk = Talk(quipu, "edited")
    places = []
    for turn in range(6):
        places.append((len(talk.messages), talk.before))
        talk.turn(f"Turn {turn}: a goat.")
    length, talk.before = places[3]
    del talk.messages[length:]
    talk.turn("Something else, then.")
    return talk.over[-1:]


def interleaved(quipu):
    talks = [Talk(quipu, "one"), Talk(quipu, "other")]
    for turn in range(12):
        talks[turn % 2].turn(f"Turn {turn}: a goat.")
    return talks[0].over + talks[1].over


def compacted(quipu):
    talk = Talk(quipu, "compacted")
    last = 0
    for turn in range(400):
        talk.turn(f"Note {turn}: " + "the quick brown fox jumps over it. " * 200, counts=False)
        if talk.prompt < last:
            return [talk.turn("And after the summary?")]
        last = talk.prompt
    raise Unmeasured("400 notes did not fill the window")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quipu", default="target/release/quipu")
    parser.add_argument("--through", help="a Quipu that runs already before the same server")
    parser.add_argument("--slots", type=int, default=1, help="what llama-server was given as -np")
    parser.add_argument("--hybrid", type=int, metavar="UBATCH", help="the model cannot rewind: -ub of llama-server")
    options = parser.parse_args()
    upstream = os.environ.get("QUIPU_LLAMA_URL")
    if not upstream:
        sys.exit("QUIPU_LLAMA_URL names no llama.cpp server; docs/llama-cpp.md tells how to start one")
    bound = BORDER if options.hybrid is None else options.hybrid + 8
    experiments = [
        ("E-1 20 turns, memory off", lambda quipu: chat(quipu, "off")),
        ("E-1 20 turns, memory on", lambda quipu: chat(quipu, "on")),
        ("E-2 other memories every turn", recall),
        ("E-4 a tool loop", tools),
        ("E-6 the turn after a compaction", compacted),
        ("E-8 an edited message", edited),
    ]
    if not options.through:
        experiments.append(("E-7 Quipu restarted", restarted))
    if options.slots > 1:
        experiments.append(("E-9 two interleaved chats", interleaved))
    failed = 0
    try:
        quipu = Quipu(options, upstream)
        try:
            for name, run in experiments:
                over = run(quipu)
                failed += max(over) > bound
                verdict = "well" if max(over) <= bound else f"OVER THE BOUND: {over}"
                print(f"{name}: at most {max(over)} tokens beyond the new ones, bound {bound}: {verdict}", flush=True)
        finally:
            quipu.stop()
    except (Unmeasured, OSError, urllib.error.URLError) as error:
        print(f"nothing could be measured: {error}", file=sys.stderr)
        sys.exit(2)
    sys.exit(1 if failed else 0)


main()
