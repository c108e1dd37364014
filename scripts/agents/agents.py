"""Four real agents with memory: what a person tells one in a session, the next session knows.

    python3 scripts/agents/agents.py QUIPU [AGENT...]    # `make agents` installs them first, into .tools/agents

Each run has a root of Quipu and a model server without a model, which keeps the requests. The second session has a new home, so that only
Quipu can know what the first one heard: its request must hold it, or, by tools, must offer to search. Then the agent goes on with that
session: the later request must begin with the earlier one, message for message. Only then can a model server read it from its cache.
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "sdk"))

from clients import AT_ONCE, QUIET, ended, parts  # noqa: E402
from model import ANSWER, Model  # noqa: E402

TOOLS = HERE.parent.parent / ".tools" / "agents" / "node_modules" / ".bin"
PLUGINS = HERE.parent.parent / "plugins"
QUESTION = "What is my boat called?"
SECOND = "Thank you. How tall is the Eiffel Tower?"


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def events(plugin):
    """The hooks of a plugin, as the agent's own settings hold them."""
    return json.loads((PLUGINS / plugin / "hooks" / "hooks.json").read_text())["hooks"]


class Claude:
    """By its plugin, which has the tools too."""

    def wire(home, url, way):
        pass

    def say(message, again, way):
        plugin = ["--plugin-dir", PLUGINS / "claude-code"] if way != "base URL" else []
        return ["claude", "--print", *plugin, *(["--continue"] if again else []), message]

    def env(url):
        return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none"}


class Codex:
    """By ~/.codex/hooks.json, trusted."""

    def wire(home, url, way):
        provider = f'name = "Stub"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
        tools = '\n[mcp_servers.quipu]\ncommand = "quipu"\nargs = ["mcp"]\n' if way == "tools" else ""
        config = f'model = "tiny"\nmodel_provider = "stub"\n\n[model_providers.stub]\n{provider}{tools}'
        write(home / ".codex/config.toml", config)
        if way in HOOKED:
            write(home / ".codex/hooks.json", {"hooks": events("codex")})

    def say(message, again, way):
        more = ["resume", "--last"] if again else []
        return ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", *more, message]

    def env(url):
        return {}


class Gemini:
    """By ~/.gemini/settings.json. Quipu has no route for its dialect, so it has no base URL."""

    def wire(home, url, way):
        auth = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
        hooks = {"hooks": events("gemini")} if way in HOOKED else {}
        # Without a person, it offers no tool that asks for permission.
        server = {"command": "quipu", "args": ["mcp"], "trust": True}
        tools = {"mcpServers": {"quipu": server}} if way == "tools" else {}
        write(home / ".gemini/settings.json", {"security": auth, **hooks, **tools})

    def say(message, again, way):
        more = ["--resume", "latest"] if again else []
        return ["gemini", "--skip-trust", "--model", "gemini-2.5-flash", *more, "--prompt", message]

    def env(url):
        return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none"}


class Opencode:
    """By its plugin."""

    def wire(home, url, way):
        options = {"baseURL": f"{url}/v1", "apiKey": "none"}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"tiny": {}}}
        tools = {"mcp": {"quipu": {"type": "local", "command": ["quipu", "mcp"]}}} if way == "tools" else {}
        folder = home / ".config/opencode"
        write(folder / "opencode.json", {"provider": {"stub": provider}, **tools})
        if way in HOOKED:
            write(folder / "plugin/quipu.js", (PLUGINS / "opencode/quipu.js").read_text())
            # Beside a plugin, opencode installs its types, which ours does not use; it does not where they seem to be.
            (folder / "node_modules").mkdir()
            write(folder / "package-lock.json", {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}})

    def say(message, again, way):
        more = ["--continue"] if again else []
        return ["opencode", "run", "--model", "stub/tiny", *more, message]

    def env(url):
        return {}


# By hooks beside a server, by hooks alone, by a server between the agent and its model, and by tools that the model may call.
HOOKED = ["hooks", "hooks alone"]
WAYS = [*HOOKED, "base URL", "tools"]
AGENTS = {"claude-code": Claude, "codex": Codex, "gemini": Gemini, "opencode": Opencode}


class Failed(Exception):
    pass


@contextlib.contextmanager
def served(quipu, root, model):
    """The address of a server of Quipu before the model server."""
    command = [quipu, "--json", "serve", "--root", root, "--listen", "127.0.0.1:0", "--upstream", f"{model}/v1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            # One JSON object of several lines.
            yield json.loads("".join(iter(server.stdout.readline, "}\n")) + "}")["listening"]
        finally:
            server.terminate()


@contextlib.contextmanager
def home(agent, way, url, model, quipu, root):
    """A function that says something in a session of an agent with a new home."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = pathlib.Path(folder)
        (home / "work").mkdir()
        # The agent runs `quipu`, and Gemini CLI keeps QUIPU_ROOT from it.
        write(home / "bin/quipu", f'#!/bin/sh\nexec "{quipu}" "$@" --root "{root}"\n')
        (home / "bin/quipu").chmod(0o755)
        agent.wire(home, url, way)
        path = f"{home / 'bin'}:{TOOLS}:{os.environ['PATH']}"
        env = QUIET | agent.env(url) | {"HOME": folder, "PATH": path, "LANG": "C.UTF-8"}

        def say(message, again=False):
            before = len(model.asked)
            status, said = ended(agent.say(message, again, way), env, home / "work")
            if status != 0 or ANSWER not in said:
                raise Failed(f"exit {status} without the answer to `{message}`\n{said[-3000:]}")
            asked = [request for request in model.asked[before:] if message in json.dumps(request)]
            if not asked:
                raise Failed(f"the model server was never asked `{message}`\n{said[-3000:]}")
            # The longest: some agents ask for a title too.
            return max(asked, key=lambda request: len(json.dumps(request)))

        yield say


def plain(value):
    """What the model sees: without the marks that an agent moves from request to request, and a lone text as text."""
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    value = {key: plain(inner) for key, inner in value.items() if key != "cache_control"}
    match value.get("content"):
        case [{"type": "text", "text": text}]:
            value["content"] = text
    return value


def texts(request):
    """Each message of a request, as text."""
    return [json.dumps(plain(part)) for part in request.get("contents") or parts(request)]


def divergence(first, second):
    """The first message of the earlier request that the later one does not hold in its place."""
    for place, (before, after) in enumerate(zip(texts(first), texts(second))):
        if before != after:
            return f"message {place} differs:\n{before[-1500:]}\n{after[-1500:]}"
    return "" if len(texts(second)) > len(texts(first)) else "the later request is not longer"


def wrong(say, way, boat):
    """What is wrong with the second session, if anything."""
    first = say(QUESTION)
    second = say(SECOND, again=True)
    if way == "tools":
        # Whether the model calls one is the model's affair. Codex offers all of a server under one name.
        if not re.search(r'quipu_+search|"mcp__quipu"', json.dumps(second)):
            return f"the model is not offered to search:\n{json.dumps(second.get('tools'))[:3000]}"
    elif boat not in json.dumps(first):
        return f"the question came without the boat:\n{texts(first)[-1][-3000:]}"
    return divergence(first, second)


def check(quipu, name, way):
    """How long both sessions took, and what is wrong with them."""
    agent, boat = AGENTS[name], f"Marula-{name}"
    begun = time.monotonic()
    with Model() as model, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root, contextlib.ExitStack() as stack:
        url = model.url
        if way in ("hooks", "base URL"):
            server = stack.enter_context(served(quipu, root, model.url))
            url = server if way == "base URL" else url
        place = (agent, way, url, model, quipu, root)
        try:
            with home(*place) as say:
                say(f"My boat is called {boat}.")
            with home(*place) as say:
                trouble = wrong(say, way, boat)
        except Failed as failed:
            trouble = str(failed)
        log = pathlib.Path(root) / "hook.log"
        if log.exists():
            trouble += f"\n{log.read_text()}"
    return round(time.monotonic() - begun, 1), trouble


def main(quipu, names):
    quipu = pathlib.Path(quipu).resolve()
    runs = [(name, way) for name in names or AGENTS for way in WAYS if (name, way) != ("gemini", "base URL")]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        checks = {run: pool.submit(check, quipu, *run) for run in runs}
    failed = False
    print(f"{'agent':12} {'by':12} result")
    for (name, way), done in checks.items():
        took, trouble = done.result()
        failed = failed or bool(trouble)
        print(f"{name:12} {way:12} {'missing' if trouble else 'ok':8} {took:6} s" + (f"\n{trouble}" if trouble else ""))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
