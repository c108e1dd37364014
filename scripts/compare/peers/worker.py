"""One memory system in a process of its own: reads requests as lines of JSON, answers each with a line.

Each file beside this one is one system. It has a class with the methods below and ends with `worker.run(Class)`.
Times are taken here, around the call of the system alone, so the pipe to compare.py costs nobody anything.
"""

import json
import os
import sys
import time
import urllib.request
from importlib.metadata import version
from pathlib import Path


class Peer:
    """What compare.py asks of a system. A message has `id`, `speaker`, `role`, `time` (epoch milliseconds) and `text`."""

    packages = ()  # whose versions are printed
    door = "in process"
    program = ""  # a folder below the system's own that holds a program, not memory

    def __init__(self, folder, endpoint, options):
        """Opens what the folder has, or begins it. The endpoint serves all-MiniLM-L6-v2."""

    def versions(self):
        return {name: version(name) for name in self.packages}

    def processes(self):
        """The processes that hold the memory; they are measured, and killed in the test of durability."""
        return [os.getpid()]

    def add(self, space, session, messages):
        """Writes messages of a session. Returns when the system has acknowledged them and a search finds them."""
        raise NotImplementedError

    def settle(self, space, session):
        """Waits for what the system still does in the background for that session."""

    def search(self, space, question, asked_at, asker, count):
        """Ids of messages, best first."""
        raise NotImplementedError

    def kept(self, space):
        """The texts of all messages that the system still has."""
        raise NotImplementedError


def line(message):
    """A message as systems get it that have no field for the speaker; with --dated, nor for the date."""
    date = f"[{minute(message)}] " if line.dated else ""
    return f"{date}{message['speaker']}: {message['text']}"


line.dated = False


def minute(message):
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(message["time"] / 1000))


def iso(milliseconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(milliseconds / 1000))


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def embedder(endpoint):
    """A function from texts to vectors, for systems that take a function."""
    return lambda texts: [row["embedding"] for row in post(endpoint + "/embeddings", {"input": list(texts)})["data"]]


def run(kind):
    # Libraries print what they like; only answers go to the pipe.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    start = json.loads(sys.stdin.readline())
    folder = Path(start["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    line.dated = start["options"]["dated"]
    peer = kind(folder, start["endpoint"], start["options"])
    answer = {"versions": peer.versions(), "processes": peer.processes(), "door": peer.door, "program": peer.program}
    while True:
        print(json.dumps(answer), file=answers)
        asked = sys.stdin.readline()
        if not asked:
            return
        asked = json.loads(asked)
        begun = time.perf_counter()
        result = getattr(peer, asked.pop("act"))(**asked)
        answer = {"seconds": time.perf_counter() - begun, "result": result}
