"""Quipu beside other memory systems that need neither a key nor a chat model, on one machine in one run.

    scripts/compare/install.sh      # once; `make compare` does both
    python3 scripts/compare/compare.py QUIPU --data locomo10.json [--longmemeval FILE.zst] [--conversations N]

QUIPU is the path of a release binary. Everybody gets the same messages, dates and questions, and those that need an
embedding model get the same one from the same endpoint. Systems take turns session by session and question by question,
in an order that changes each time, so that whatever else the machine does falls on all of them. The run has no network
but its own loopback. Prints Markdown tables and writes them with all figures to --out. docs/comparison.md explains them.
"""

import argparse
import ctypes
import json
import os
import platform
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import data
import guard
import report

HERE = Path(__file__).resolve().parent
TOOLS = HERE.parent.parent / ".tools" / "compare"
MODEL = TOOLS / "model"
# How many messages a question gets: as many as the greatest depth that is measured needs.
LOCOMO_HITS, LONGMEMEVAL_HITS = 10, 50
KILLED_MESSAGES = 100

# name: (file, environment below .tools/compare, options). The order is that of the tables.
SYSTEMS = {
    "Quipu": ("quipu", None, {}),
    "Quipu, MiniLM": ("quipu", None, {"embeddings": "openai"}),
    "BM25": ("bm25", "plain", {}),
    "vectors": ("vector", "plain", {}),
    "mem0": ("mem0_peer", "mem0", {}),
    "LangGraph": ("langgraph_peer", "langmem", {}),
    "memsearch": ("memsearch_peer", "memsearch", {}),
    "MemPalace": ("mempalace_peer", "mempalace", {}),
    "MemPalace, union": ("mempalace_peer", "mempalace", {"strategy": "union"}),
    "memvid": ("memvid_peer", "memvid", {}),
    "Hindsight": ("hindsight_peer", "hindsight", {}),
}


def environment_of(more):
    """The variables of a process. Some machines set OpenBLAS to an old kernel, which slows whoever uses numpy."""
    return {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")} | more


class Worker:
    """One system in a process of its own."""

    def __init__(self, name, folder, run):
        file, environment, options = SYSTEMS[name]
        self.name, self.folder = name, folder
        python = TOOLS / environment / "bin" / "python" if environment else sys.executable
        if name not in run.proxies:
            run.proxies[name] = guard.Proxy()
        variables = environment_of(run.proxies[name].variables() | {"FASTEMBED_CACHE_PATH": str(TOOLS / "fastembed"), "HF_HUB_OFFLINE": "1"})
        folder.mkdir(parents=True, exist_ok=True)
        self.log = open(run.logs / f"{file}.log", "a")
        self.process = subprocess.Popen(
            [python, HERE / "peers" / f"{file}.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=variables,
            cwd=folder,
        )
        options = options | {"binary": str(run.binary), "dated": run.args.dated}
        self.hello = self.tell({"folder": str(folder / "data"), "endpoint": run.endpoint, "options": options})

    def tell(self, body):
        print(json.dumps(body), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended: see {self.log.name}")
        return json.loads(line)

    def ask(self, act, **arguments):
        return self.tell({"act": act} | arguments)

    def kill(self):
        """kill -9 of the system, then of its worker, without a word."""
        for process in {*self.hello["processes"], self.process.pid}:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        # Ports and lock files are free when their owner is gone, and it is gone when its parent has asked for it.
        time.sleep(1)
        for process in self.hello["processes"]:
            try:
                os.waitpid(process, os.WNOHANG)
            except ChildProcessError:
                pass

    def resident(self):
        """Bytes of memory that the system's processes hold; shared pages are divided among those that share them."""
        total = 0
        for process in self.ask("processes")["result"]:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
            total += int(re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)[1]) * 1024
        return total


class Run:
    def __init__(self, args, scratch):
        self.args, self.binary, self.scratch = args, args.binary.resolve(), scratch
        self.logs = args.out / "logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.proxies, self.figures = {}, {}
        self.names = [name for name in SYSTEMS if not args.systems or name in args.systems]
        self.server = self.endpoint = None

    def serve_model(self, *options):
        if self.server:
            self.server.kill()
            self.server.wait()
        python = TOOLS / "embed" / "bin" / "python"
        command = [python, HERE / "embedder.py", "serve", MODEL, *options]
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment_of({}))
        self.endpoint = f"http://127.0.0.1:{self.server.stdout.readline().strip()}/v1"

    def start(self, part):
        """All systems, each with a folder that nothing has written to; those that do not start are left out, with a word."""
        workers = []
        for name in self.names:
            folder = self.scratch / part / re.sub(r"\W+", "-", name)
            try:
                worker = Worker(name, folder, self)
            except (OSError, RuntimeError) as error:
                print(f"left out: {name}: {error}", file=sys.stderr)
                self.figures.setdefault(name, {})["error"] = str(error)
                continue
            self.figures.setdefault(name, {})["versions"] = worker.hello["versions"]
            workers.append(worker)
        return workers


class Turns:
    """The workers, in an order that begins with another one each time. One that fails is left out from then on."""

    def __init__(self, run, workers):
        self.run, self.workers, self.count = run, workers, 0

    def each(self, act):
        self.count += 1
        at = self.count % max(1, len(self.workers))
        for worker in self.workers[at:] + self.workers[:at]:
            try:
                act(worker)
            except (OSError, RuntimeError) as error:
                print(f"left out: {error}", file=sys.stderr)
                self.run.figures[worker.name] = {"error": str(error)}
                self.workers.remove(worker)
                worker.kill()


def write(turns, case, note):
    for session, messages in case.sessions():

        def act(worker, session=session, messages=messages):
            added = worker.ask("add", space=case.space, session=session, messages=messages)["seconds"]
            settled = worker.ask("settle", space=case.space, session=session)["seconds"]
            note(worker.name, len(messages), added, settled)

        turns.each(act)


def locomo(run):
    cases = data.locomo(run.args.data)[: run.args.conversations]
    turns = Turns(run, run.start("locomo"))
    for worker in turns.workers:
        run.figures[worker.name] |= {"door": worker.hello["door"], "messages": 0, "add_seconds": 0.0, "all_seconds": 0.0, "search_ms": [], "evidence": []}
        run.figures[worker.name]["start_bytes"] = worker.resident()

    def note(name, count, added, settled):
        figures = run.figures[name]
        figures["messages"] += count
        figures["add_seconds"] += added
        figures["all_seconds"] += added + settled

    for number, case in enumerate(cases):
        print(f"LoCoMo {number + 1} of {len(cases)}: {len(case.messages)} messages, {len(case.questions)} questions", file=sys.stderr)
        write(turns, case, note)
        # The first search of a conversation fills caches, and counts for nobody.
        warm = case.questions[0].asked(case, LOCOMO_HITS)
        turns.each(lambda worker, warm=warm: worker.ask("search", **warm))
        for question in case.questions:

            def act(worker, question=question, number=number, case=case):
                answer = worker.ask("search", **question.asked(case, LOCOMO_HITS))
                run.figures[worker.name]["search_ms"].append(answer["seconds"] * 1e3)
                shares = {depth: question.share(answer["result"], depth) for depth in (1, 5, 10)}
                run.figures[worker.name]["evidence"].append({"half": number % 2, "category": question.category, "shares": shares})

            turns.each(act)
    said = [message["text"] for case in cases for message in case.messages]
    for worker in turns.workers:
        folder = worker.folder / "data"
        run.figures[worker.name] |= {
            "resident_bytes": worker.resident(),
            "disk_bytes": guard.size(folder, worker.hello["program"]),
            "readable": guard.readable(folder, random.Random(1).sample(said, 100)),
        }
        worker.kill()
    run.figures["model"] = {"resident_bytes": guard.resident(run.server.pid)}


def durability(run):
    """A hundred messages, one add each; kill -9 the moment after the last acknowledgement; what is there after a start?"""
    for worker in run.start("killed"):
        said = data.garden(KILLED_MESSAGES)
        for message in said:
            worker.ask("add", space="durable", session="garden", messages=[message])
        # The pool of a server may have new processes by now.
        worker.hello["processes"] = worker.ask("processes")["result"]
        worker.kill()
        try:
            again = Worker(worker.name, worker.folder, run)
            kept = set(again.ask("kept", space="durable")["result"])
            again.kill()
        except (OSError, RuntimeError) as error:
            print(f"{worker.name} after kill -9: {error}", file=sys.stderr)
            kept = set()
        run.figures[worker.name]["lost"] = sum(message["text"] not in kept for message in said)


def longmemeval(run):
    """Quality only: the endpoint remembers vectors here, so no time of this part means anything."""
    run.serve_model("--cache")
    cases = data.longmemeval(run.args.longmemeval, TOOLS / "plain" / "bin" / "python")[: run.args.questions]
    turns = Turns(run, run.start("longmemeval"))
    for number, case in enumerate(cases):
        print(f"LongMemEval {number + 1} of {len(cases)}: {len(case.messages)} messages", file=sys.stderr)
        write(turns, case, lambda *_: None)
        question = case.questions[0]

        def act(worker, question=question, case=case):
            found = worker.ask("search", **question.asked(case, LONGMEMEVAL_HITS))["result"]
            sessions = list(dict.fromkeys(case.session_of[hit] for hit in found))
            record = {depth: question.sessions <= set(sessions[:depth]) for depth in (5, 10)}
            run.figures[worker.name].setdefault("sessions", []).append(record)

        turns.each(act)
    for worker in turns.workers:
        worker.kill()


def machine():
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / 1024**2
    return f"{os.cpu_count()} cores ({cpu[1] if cpu else platform.machine()}), {memory:.0f} GiB, {platform.system()} {platform.release()}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path, help="the path of a quipu binary")
    parser.add_argument("--data", type=Path, required=True, help="locomo10.json")
    parser.add_argument("--longmemeval", type=Path, help="lines of LongMemEval-S, as .jsonl or .jsonl.zst")
    parser.add_argument("--conversations", type=int, help="only the first N conversations of LoCoMo")
    parser.add_argument("--questions", type=int, help="only the first N questions of LongMemEval")
    parser.add_argument("--dated", action="store_true", help="write the date before each text, for systems that take only text")
    parser.add_argument("--systems", action="append", choices=list(SYSTEMS), help="only this one; may be repeated")
    parser.add_argument("--part", action="append", choices=["locomo", "killed", "longmemeval"], help="only this part; may be repeated")
    parser.add_argument("--out", type=Path, default=Path("target/compare"), help="folder for comparison.md, comparison.json and logs")
    parser.add_argument("--note", default="", help="a line about the build and the machine, printed at the top")
    parser.add_argument("--network", action="store_true", help="do not take the network away; only where namespaces are not allowed")
    return parser.parse_args()


def main():
    args = arguments()
    isolated = guard.isolate(args.network)
    args.out = args.out.resolve()
    # Processes that a killed worker left behind come to us, and end with us.
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    begun = time.time()
    scratch = Path(tempfile.mkdtemp(prefix="compare-", dir=args.out.parent if args.out.parent.is_dir() else None))
    run = Run(args, scratch)
    try:
        run.serve_model()
        parts = args.part or ["locomo", "killed", "longmemeval"]
        if "locomo" in parts:
            locomo(run)
        if "killed" in parts:
            durability(run)
        if "longmemeval" in parts and args.longmemeval:
            longmemeval(run)
    finally:
        guard.end_children()
        shutil.rmtree(scratch, ignore_errors=True)
    for name in run.names:
        run.figures[name]["tried_to_reach"] = sorted(run.proxies[name].asked)
    head = {
        "command": " ".join(["python3", "scripts/compare/compare.py", *(re.sub(r"^.*/", "", a) if "/" in a else a for a in sys.argv[1:])]),
        "date": time.strftime("%Y-%m-%d", time.gmtime(begun)),
        "minutes": round((time.time() - begun) / 60, 1),
        "machine": machine(),
        "load": os.getloadavg()[2],
        "network": "none but loopback" if isolated else "not taken away",
        "note": args.note,
    }
    text = report.write(head, run.names, run.figures, args.out)
    print(text)


if __name__ == "__main__":
    main()
