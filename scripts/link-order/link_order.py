"""Writes `crates/quipu/link-order.txt`: the functions that a running server calls, those of a start first.

README.md says when to run it and what it is for. A server runs under valgrind's callgrind, which names every function
that was called; names are sorted inside each part, so that two runs differ in little.
"""

import argparse
import http.client
import json
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ORDER = ROOT / "crates/quipu/link-order.txt"
PORT = 47_771
OWNERS = 8
SESSIONS = 32
SESSION_MESSAGES = 20
# After each round the index is maintained; parts of its indexes are merged when there are six.
ROUNDS = 9
CLIENTS = 4
# The pause after which a server maintains its index, and time to do it at valgrind's pace.
MAINTAINED_SECONDS = 15
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


class Server:
    """A server under callgrind; leaving it stops the server and waits for the profile."""

    def __init__(self, binary: Path, folder: Path, profile: Path) -> None:
        command = ["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={profile}", str(binary)]
        command += ["serve", "--listen", f"127.0.0.1:{PORT}", "--root", str(folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self) -> "Server":
        for _ in range(600):
            try:
                if self.send("GET", "/health"):
                    return self
            except OSError:
                time.sleep(0.2)
        raise SystemExit("the server does not answer")

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def send(self, method: str, path: str, body: dict | None = None) -> dict:
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=600)
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"content-type": "application/json"})
        answer = connection.getresponse()
        data = json.loads(answer.read())
        if answer.status >= 400:
            raise SystemExit(f"{path}: {data}")
        return data

    def post(self, path: str, **body: object) -> dict:
        return self.send("POST", f"/api/v2/{path}", body)

    def settle(self) -> None:
        while self.send("GET", "/health")["memorize_queue"]["pending"]:
            time.sleep(0.2)


def word(dice: random.Random) -> str:
    """Few words often, many seldom."""
    number = int(4_000 ** dice.random())
    text = SYLLABLES[number % 70]
    while number >= 70:
        number //= 70
        text += SYLLABLES[number % 70]
    return text


def sentence(dice: random.Random) -> str:
    words = " ".join(word(dice) for _ in range(18))
    return f"{dice.choice(['I', 'My sister', 'Clara'])} moved to {words} on Monday."


def talk(number: int, session: int) -> list[dict]:
    dice = random.Random(f"{number} {session}")
    start = 1_700_000_000_000 + number * 864_000_000
    return [
        {
            "sender_id": "helper" if turn % 2 else f"owner-{session % OWNERS}",
            "role": "assistant" if turn % 2 else "user",
            "timestamp": start + (turn // 4) * 7_200_000 + turn * 60_000,
            "content": sentence(dice),
        }
        for turn in range(SESSION_MESSAGES)
    ]


def remember(server: Server, number: int) -> None:
    def one(session: int) -> None:
        server.post("memory/add", session_id=f"s{session}", messages=talk(number, session))
        server.post("memory/flush", session_id=f"s{session}")

    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(one, range(SESSIONS)))
    server.settle()


def search(server: Server, dice: random.Random) -> None:
    for owner in range(OWNERS):
        for method in ("keyword", "vector", "hybrid"):
            query = f"When did Clara move to {word(dice)} {word(dice)} last May?"
            server.post("memory/search", user_id=f"owner-{owner}", query=query, method=method, top_k=10)


def others(server: Server) -> None:
    listed = server.post("memory/get", user_id="owner-0", memory_type="episode")["data"]["episodes"]
    server.post("memory/edit", id=listed[0]["id"], episode="Ada lives in Porto now.")
    server.post("memory/delete_by_ids", ids=[listed[1]["id"]])
    server.post("memory/delete", session_id="s1")
    server.post("index/rebuild")


def called(profile: Path) -> set[str]:
    """The functions of a profile, and of the parts that it was written in."""
    names = set()
    for part in profile.parent.glob(f"{profile.name}*"):
        found = re.findall(r"^c?fn=\(\d+\) (\S+)", part.read_text(errors="replace"), re.MULTILINE)
        # Callgrind marks levels of a recursion with an apostrophe.
        names.update(name.split("'")[0] for name in found)
    return {name for name in names if not name.startswith(("0x", "("))}


def symbols(binary: Path) -> set[str]:
    listed = subprocess.run(["nm", "--defined-only", binary], check=True, capture_output=True, text=True).stdout
    return {line.split()[2] for line in listed.splitlines() if line.split()[1] in "tTwW"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path, help="a release build with symbols")
    binary = parser.parse_args().binary
    work = Path(tempfile.mkdtemp(prefix="link-order-"))
    dice = random.Random(7)
    with Server(binary, work / "empty", work / "start"):
        time.sleep(20)
    with Server(binary, work / "root", work / "writing") as server:
        for number in range(ROUNDS):
            remember(server, number)
            time.sleep(MAINTAINED_SECONDS)
        search(server, dice)
        others(server)
    with Server(binary, work / "root", work / "reading") as server:
        time.sleep(10)
        search(server, dice)
    known = symbols(binary)
    order: list[str] = []
    for profile in ("start", "reading", "writing"):
        order += sorted((called(work / profile) & known) - set(order))
    ORDER.write_text("".join(f"{name}\n" for name in order))
    shutil.rmtree(work)
    print(f"{len(order)} functions in {ORDER.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
