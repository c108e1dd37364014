"""What the log of live conversations costs, and what a kill leaves of it, over HTTP.

    python3 scripts/conversations.py target/release/quipu [--messages 100000] [--conversations 1000] [--kills 60]

Starts servers of its own in folders of its own, and deletes them. Prints

- how many messages a second are on disk when the server answers, and the bytes that it writes for a byte of a message;
- how long an original takes by its id and by its words in a long conversation, and its size in the ledger;
- whether one of many conversations, written and read at the same time, ever shows the words of another;
- with strace: what a kill at one system call leaves. The calls that write, cut, sync or delete a file are counted in a run without
  a kill; then each of about `--kills` of them, evenly spread, ends a run of its own. strace counts the calls of each thread, so some
  runs end without a kill; they do not count. What was acknowledged must be there afterwards.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request

WRITES = "pwrite64,write,writev,ftruncate,fsync,fdatasync,unlink,unlinkat,rename,renameat,renameat2"
WORDS = "a slow river under the old bridge where boats of every colour wait for rain and thistles grow".split()


class Server:
    """A server on a root; with `kill`, under strace, which ends it at that call of that kind."""

    def __init__(self, binary, root, kill=None, counts=None):
        self.root, self.port = root, random.randrange(20000, 32000)
        command = [binary, "--root", root, "serve", "--listen", f"127.0.0.1:{self.port}"]
        if kill:
            call, number = kill
            inject = f"inject={call}:signal=SIGKILL:when={number}"
            command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject, *command]
        if counts:
            command = ["strace", "-f", "-qq", "-c", "-o", counts, "-e", f"trace={WRITES}", *command]
        begun = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.process.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/ready", timeout=5).read()
                break
            except OSError:
                time.sleep(0.02)
        self.ready_seconds = time.perf_counter() - begun

    def ask(self, route, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/api/v2/context/{route}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("content-type", "application/json")
        return json.load(urllib.request.urlopen(request, timeout=120))["data"]

    def append(self, conversation, texts):
        messages = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]
        return self.ask("append", {"conversation_id": conversation, "user_id": "ann", "messages": messages})

    def written_bytes(self):
        with open(f"/proc/{self.process.pid}/io") as io:
            return int(re.search(r"^write_bytes: (\d+)", io.read(), re.M)[1])

    def stop(self):
        """Ends it; returns whether it was running. Under strace, it is strace's only child."""
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        runs = self.process.poll() is None
        if runs and self.process.args[0] == "strace":
            for child in open(children).read().split():
                os.kill(int(child), signal.SIGTERM)
        elif runs:
            self.process.terminate()
        self.process.wait()
        return runs


def text(at, words=40):
    return f"Message {at}: " + " ".join(random.choice(WORDS) for _ in range(words)) + f" canary{at:07}."


def percentiles(millis):
    ranked = sorted(millis)
    return f"p50 {ranked[len(ranked) // 2]:.1f} ms, p99 {ranked[len(ranked) * 99 // 100]:.1f} ms"


def timed(work, *arguments):
    begun = time.perf_counter()
    work(*arguments)
    return (time.perf_counter() - begun) * 1000


def at_once(threads, work):
    begun = time.perf_counter()
    running = [threading.Thread(target=work, args=(at,)) for at in range(threads)]
    [one.start() for one in running]
    [one.join() for one in running]
    return time.perf_counter() - begun


def ingest(binary, root):
    server = Server(binary, root)
    for clients, requests, batch in ((1, 200, 1), (8, 100, 1), (1, 40, 100), (8, 20, 100)):
        texts = [text(at) for at in range(batch)]
        size = sum(map(len, texts)) * clients * requests
        before = server.written_bytes()

        def client(number):
            for _ in range(requests):
                server.append(f"in-{clients}-{batch}-{number}", texts)

        seconds = at_once(clients, client)
        count, written = clients * requests * batch, server.written_bytes() - before
        print(
            f"append, {clients} clients, {batch} messages each: {count / seconds:,.0f} messages/s, "
            f"{size / seconds / 1e6:.2f} MB/s, {written / size:.1f} bytes written for one"
        )
    server.stop()


def recovery(binary, root, messages):
    server = Server(binary, root)
    size = 0
    for first in range(0, messages, 1000):
        texts = [text(at) for at in range(first, min(first + 1000, messages))]
        size += sum(map(len, texts))
        server.append("long", texts)
    server.stop()
    ledger = sum(os.path.getsize(f"{root}/{name}") for name in os.listdir(root) if name.startswith("ledger.sqlite"))
    print(f"a conversation of {messages:,} messages: {ledger / size:.2f} bytes in the ledger for one of text")
    server = Server(binary, root)
    recover = lambda at: server.ask(f"recover?user_id=ann&conversation_id=long&id=m{at}")
    print(f"the first original after a restart: {timed(recover, 0):.0f} ms")
    places = [random.randrange(messages) for _ in range(200)]
    for at in places[:20]:
        assert f"canary{at:07}" in json.dumps(recover(at)), at
    print(f"by id: {percentiles([timed(recover, at) for at in places])}")
    find = lambda at: server.ask(f"find?user_id=ann&conversation_id=long&query=canary{at:07}")
    for at in places[:20]:
        assert [hit["id"] for hit in find(at)["messages"]] == [f"m{at}"], find(at)
    print(f"by words: {percentiles([timed(find, at) for at in places[:50]])}")
    server.stop()


def crossing(binary, root, conversations, threads=16):
    server, crossed = Server(binary, root), []

    def client(number):
        for at in range(number, conversations, threads):
            name, own = f"c{at}", f"canary{at:07}"
            server.append(name, [text(at), text(at)])
            request = {"conversation_id": name, "user_id": "ann", "window_tokens": 8192, "memory": "off"}
            shown = json.dumps(server.ask("assemble", request))
            other = f"canary{random.randrange(conversations):07}"
            found = server.ask(f"find?user_id=ann&conversation_id={name}&query={other}")["messages"]
            strange = set(re.findall(r"canary\d{7}", shown)) != {own} or (found and other != own)
            crossed.extend([name] * bool(strange))

    seconds = at_once(threads, client)
    print(f"{conversations} conversations, {threads} threads: {conversations / seconds:.0f} a second, {len(crossed)} crossed")
    server.stop()


def talk(server):
    """Appends and compacts until the server dies; returns the number of acknowledged messages."""
    known = 0
    try:
        for at in range(12):
            server.append("k", [text(known + one, 120) for one in range(4)])
            known += 4
            if at % 4 == 3:
                server.ask("compact", {"conversation_id": "k", "user_id": "ann", "window_tokens": 2048})
    except OSError:
        pass
    return known


def kills(binary, folder, count):
    if not shutil.which("strace"):
        return print("kills: there is no strace")
    counts = f"{folder}/counts"
    server = Server(binary, f"{folder}/whole", counts=counts)
    talk(server)
    server.stop()
    made = [(line.split()[-1], int(line.split()[3])) for line in open(counts) if line.split()[-1:][0] in WRITES.split(",")]
    points = [(call, number) for call, calls in made for number in range(1, calls + 1)]
    points = points[:: max(1, len(points) // count)]
    died, lost, ready = 0, [], []
    for at, point in enumerate(points):
        root = f"{folder}/kill{at}"
        server = Server(binary, root, kill=point)
        known = talk(server) if server.process.poll() is None else 0
        died += not server.stop()
        server = Server(binary, root)
        ready.append(server.ready_seconds * 1000)
        try:
            for one in range(known):
                if f"canary{one:07}" not in json.dumps(server.ask(f"recover?user_id=ann&conversation_id=k&id=m{one}")):
                    lost.append((point, one))
            if known:
                server.append("k", [text(known)])
        except OSError as error:
            lost.append((point, error))
        server.stop()
        shutil.rmtree(root)
    print(f"{died} kills at {sum(calls for _, calls in made)} writing calls: {len(lost)} lost or not readable {lost[:3]}")
    print(f"a start after a kill: {percentiles(ready)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--conversations", type=int, default=1_000)
    parser.add_argument("--kills", type=int, default=60)
    options = parser.parse_args()
    random.seed(7)
    with tempfile.TemporaryDirectory() as folder:
        ingest(options.binary, f"{folder}/ingest")
        recovery(options.binary, f"{folder}/recovery", options.messages)
        crossing(options.binary, f"{folder}/crossing", options.conversations)
        kills(options.binary, folder, options.kills)


if __name__ == "__main__":
    main()
