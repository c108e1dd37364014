"""Many streamed conversations at once: the same ones straight to a model server and through Quipu.

    python3 scripts/streams.py http://127.0.0.1:8080 http://127.0.0.1:4777 [--talks 200] [--turns 5] [--words 200] [--pid PID]

Every answer must end as the API says, and hold what the server of `cargo run -p testkit --example backend` says where it is that one:
the person's own words, all of them, in order. PID is Quipu's: its resident memory is read before and after.
"""

import argparse
import asyncio
import json
import sys
import time
from urllib.parse import urlparse


class Side:
    """One server, and what its streams took."""

    def __init__(self, base_url):
        self.url = urlparse(base_url)
        self.path = self.url.path.rstrip("/").removesuffix("/v1") + "/v1/chat/completions"
        self.firsts = []
        self.chunks = 0
        self.tokens = 0
        self.wrong = []

    async def talk(self, number, turns, words):
        reader, writer = await asyncio.open_connection(self.url.hostname, self.url.port)
        messages = [{"role": "system", "content": "Be brief."}]
        for turn in range(turns):
            said = f"Talk {number}, turn {turn}: " + " ".join(f"{number}-{turn}-{word}" for word in range(words))
            messages.append({"role": "user", "content": said})
            answer = await self.turn(reader, writer, number, messages)
            if answer is None or answer.startswith("You said: ") and answer != f"You said: {said}":
                self.wrong.append(f"talk {number}, turn {turn}: {answer!r:.200}")
                break
            messages.append({"role": "assistant", "content": answer})
        writer.close()
        await writer.wait_closed()

    async def turn(self, reader, writer, number, messages):
        """The whole answer; none where it is not complete."""
        body = {"model": "tiny", "stream": True, "stream_options": {"include_usage": True}, "messages": messages}
        body = json.dumps(body).encode()
        head = f"POST {self.path} HTTP/1.1\r\nhost: {self.url.netloc}\r\ncontent-type: application/json\r\n"
        head += f"x-quipu-user: streams{number}\r\ncontent-length: {len(body)}\r\n\r\n"
        begun = time.perf_counter()
        writer.write(head.encode() + body)
        told = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        if " 200 " not in told.splitlines()[0] or "transfer-encoding: chunked" not in told:
            return None
        raw = bytearray()
        while size := int(await reader.readuntil(b"\r\n"), 16):
            if not raw:
                self.firsts.append((time.perf_counter() - begun) * 1e3)
            raw += (await reader.readexactly(size + 2))[:-2]
        await reader.readexactly(2)
        return self.read(raw.decode())

    def read(self, text):
        events = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
        if not events or events[-1] != "[DONE]":
            return None
        said, finished = [], False
        for event in map(json.loads, events[:-1]):
            for choice in event.get("choices", []):
                piece = choice.get("delta", {}).get("content") or ""
                if piece and finished:
                    return None
                said.append(piece)
                finished = finished or choice.get("finish_reason") is not None
            self.tokens += (event.get("usage") or {}).get("completion_tokens", 0)
        self.chunks += len(events)
        return "".join(said) if finished else None

    async def run(self, name, options):
        begun = time.perf_counter()
        talks = (self.talk(number, options.turns, options.words) for number in range(options.talks))
        for ended in await asyncio.gather(*talks, return_exceptions=True):
            if ended is not None:
                self.wrong.append(repr(ended))
        took = time.perf_counter() - begun
        ranked = sorted(self.firsts) or [float("nan")]
        p50, p99 = (ranked[min(len(ranked) - 1, int(len(ranked) * share))] for share in (0.5, 0.99))
        print(
            f"{name}: {len(self.firsts)} answers in {took:.2f} s, {self.tokens / took:,.0f} tokens/s, "
            f"{self.chunks / took:,.0f} chunks/s, first byte p50 {p50:.1f} ms, p99 {p99:.1f} ms"
        )


def resident(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("direct")
    parser.add_argument("through")
    parser.add_argument("--talks", type=int, default=200)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--words", type=int, default=200)
    parser.add_argument("--pid", type=int)
    options = parser.parse_args()
    wrong = []
    before = resident(options.pid) if options.pid else None
    for name, base_url in [("direct", options.direct), ("through Quipu", options.through)]:
        side = Side(base_url)
        asyncio.run(side.run(name, options))
        wrong += [f"{name}: {what}" for what in side.wrong]
    if before:
        print(f"Quipu's resident memory: {before:.0f} MiB before, {resident(options.pid):.0f} MiB after")
    print("\n".join(wrong[:20]) or f"complete and in order: {2 * options.talks * options.turns} answers")
    sys.exit(1 if wrong else 0)


main()
