"""Nine real clients, unmodified, with nothing configured but the base URL: what one says in a chat, its next chat knows.

    python3 scripts/sdk/clients.py QUIPU [CLIENT...]    # `make sdk` installs them first, into .tools/sdk

Each client has a Quipu and a model server of its own. Its second chat is a new process with a new home, so that only Quipu can know what
the first one said: the request that reaches the model server must hold it.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from model import ANSWER, Model

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parent.parent / ".tools" / "sdk"
QUESTION = "What is my boat called?"
TIMEOUT_SECONDS = 60
AT_ONCE = 2

# No client reports, updates itself, or reaches any other machine.
QUIET = {
    "AIDER_ANALYTICS": "false",
    "AIDER_CHECK_UPDATE": "false",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "http_proxy": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
    "no_proxy": "127.0.0.1",
}


def python(client):
    def command(home, base, message):
        return [TOOLS / "venv/bin/python", HERE / "chat.py", client, message]

    return command


def ai_sdk(home, base, message):
    return ["node", TOOLS / "chat.mjs", message]


def aider(home, base, message):
    return [TOOLS / "aider/bin/aider", "--model", "openai/tiny", "--message", message, "--yes-always", "--no-git"]


def claude(home, base, message):
    return [TOOLS / "node_modules/.bin/claude", "--print", message]


def codex(home, base, message):
    folder = home / ".codex"
    folder.mkdir()
    provider = f'name = "Quipu"\nbase_url = "{base}/v1"\nwire_api = "responses"\n'
    config = f'model = "tiny"\nmodel_provider = "quipu"\n\n[model_providers.quipu]\n{provider}'
    (folder / "config.toml").write_text(config)
    return [TOOLS / "node_modules/.bin/codex", "exec", "--skip-git-repo-check", message]


def opencode(home, base, message):
    options = {"baseURL": f"{base}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"tiny": {}}}
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_text(json.dumps({"provider": {"quipu": provider}}))
    return [TOOLS / "node_modules/.bin/opencode", "run", "--model", "quipu/tiny", message]


CLIENTS = {
    "openai": python("openai"),
    "anthropic": python("anthropic"),
    "litellm": python("litellm"),
    "langchain": python("langchain"),
    "ai-sdk": ai_sdk,
    "aider": aider,
    "claude-code": claude,
    "codex": codex,
    "opencode": opencode,
}


def ended(command, env, folder, seconds=TIMEOUT_SECONDS):
    """How a command ended, none where it did not, and what it wrote. Nothing that it started outlives it."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen(command, cwd=folder, env=env, start_new_session=True, text=True, errors="replace", **pipes)
    try:
        said, _ = process.communicate(timeout=seconds)
        return process.returncode, said
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def chat(client, base, message):
    """A new process in a new home; what went wrong with it, if anything."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = pathlib.Path(folder)
        (home / "work").mkdir()
        server = {
            "OPENAI_API_BASE": f"{base}/v1",
            "OPENAI_BASE_URL": f"{base}/v1",
            "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": base,
            "ANTHROPIC_API_KEY": "none",
        }
        env = QUIET | server | {"HOME": folder, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        command = CLIENTS[client](home, base, message)
        status, said = ended(command, env, home / "work")
    if status is None:
        return f"no end within {TIMEOUT_SECONDS} seconds\n{said[-2000:]}"
    if status != 0 or ANSWER not in said:
        return f"exit {status} without the answer\n{said[-2000:]}"
    return None


@contextlib.contextmanager
def served(quipu, upstream):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        command = [quipu, "--root", root, "serve", "--listen", "127.0.0.1:0", "--upstream", f"{upstream}/v1"]
        with tempfile.TemporaryFile("w+") as errors:
            server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
            try:
                line = server.stdout.readline()
                address = re.search(r"http://[0-9.]+:\d+", line)
                if not address:
                    errors.seek(0)
                    raise SystemExit(f"Quipu does not start: {line}{errors.read()}")
                yield address.group()
            finally:
                server.terminate()
                server.wait()


def parts(request):
    return request.get("messages") or request.get("input") or []


def last_of_person(request):
    said = [part for part in parts(request) if isinstance(part, dict) and part.get("role") == "user"]
    return json.dumps(said[-1] if said else parts(request), indent=1)[-3000:]


def check(quipu, client):
    """How long both chats took, and what is wrong."""
    boat = f"Marula-{client}"
    with Model() as model, served(quipu, model.url) as base:
        begun = time.monotonic()
        wrong = chat(client, base, f"My boat is called {boat}.")
        first = len(model.asked)
        wrong = wrong or chat(client, base, QUESTION)
        took = round((time.monotonic() - begun) * 1000)
        # Beside the turn itself a client may ask for a title, which is shorter.
        turns = [request for request in model.asked[first:] if QUESTION in json.dumps(parts(request))]
        turn = max(turns, key=lambda request: len(json.dumps(request)), default=None)
        if not wrong and turn is None:
            wrong = "the question has not reached the model server"
        if not wrong and boat not in json.dumps(turn):
            wrong = f"{boat} is missing in the request. Its last message of the person:\n{last_of_person(turn)}"
    return took, wrong


def main(quipu, names):
    with ThreadPoolExecutor(AT_ONCE) as pool:
        checks = {name: pool.submit(check, quipu, name) for name in names or CLIENTS}
    failed = False
    for name, done in checks.items():
        took, wrong = done.result()
        failed = failed or bool(wrong)
        print(f"{name:12} {'missing' if wrong else 'ok':8} {took:6} ms" + (f"\n{wrong}" if wrong else ""))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
