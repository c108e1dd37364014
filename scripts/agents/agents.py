"""Four real agents with memory, wired by `quipu init` or a plugin: what a person tells one in a session, the next session knows.

    python3 scripts/agents/agents.py QUIPU [AGENT...]    # `make agents` installs them first, into .tools/agents

Each run has a root of Quipu and a model server without a model, which keeps the requests. Each session has a new home, which only
`quipu init --yes` connects with Quipu, or the command of docs/hooks.md that installs the agent's plugin. So only Quipu can know what the first
session heard: the second one's request must hold it, and must offer the tool that searches, and the skill of a plugin. Then the agent goes on
with that session: the later request must begin with the earlier one, message for message. Only then can a model server read it from its cache.
"""

import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "sdk"))

from clients import AT_ONCE, QUIET, ended, parts  # noqa: E402
from model import ANSWER, Model  # noqa: E402

TOP = HERE.parent.parent
TOOLS = TOP / ".tools" / "agents" / "node_modules" / ".bin"
QUESTION = "What is my boat called?"
SECOND = "Thank you. How tall is the Eiffel Tower?"
# Whether the model calls it is the model's affair. Codex offers all of a server under one name.
SEARCH = r'quipu_+search|"mcp__quipu"'
SKILL = "Use the long-term memory that Quipu keeps for this user"


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


# `configure` and `env` give an agent its model server; without a URL, `quipu init` does.
class Claude:
    def configure(home, url):
        pass

    def env(url):
        return {"ANTHROPIC_API_KEY": "none"} | ({"ANTHROPIC_BASE_URL": url} if url else {})

    def say(message, again):
        return ["claude", "--print", *(["--continue"] if again else []), message]


class Codex:
    def configure(home, url):
        provider = f'name = "Stub"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
        config = f'model_provider = "stub"\n\n[model_providers.stub]\n{provider}' if url else ""
        write(home / ".codex/config.toml", f'model = "tiny"\n{config}')

    def env(url):
        return {}

    def say(message, again):
        # A person trusts the hooks once, in Codex's own screen.
        more = ["resume", "--last"] if again else []
        return ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", *more, message]


class Gemini:
    """Quipu has no route for its dialect, so it has no base URL."""

    def configure(home, url):
        auth = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
        write(home / ".gemini/settings.json", {"security": auth})

    def env(url):
        return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none", "GEMINI_MODEL": "gemini-2.5-flash"}

    def say(message, again):
        # Without a person, it offers no tool that asks for permission.
        more = ["--resume", "latest"] if again else []
        return ["gemini", "--approval-mode", "yolo", *more, "--prompt", message]


class Opencode:
    """Its models belong to a provider, so a person writes the base URL."""

    def configure(home, url):
        options = {"baseURL": f"{url}/v1", "apiKey": "none"}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"tiny": {}}}
        folder = home / ".config/opencode"
        write(folder / "opencode.json", {"model": "stub/tiny", "provider": {"stub": provider}})
        # Beside a plugin, opencode installs its types, which ours does not use; it does not where they seem to be.
        (folder / "node_modules").mkdir()
        write(folder / "package-lock.json", {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}})

    def env(url):
        return {}

    def say(message, again):
        more = ["--continue"] if again else []
        return ["opencode", "run", *more, message]


# By hooks beside a server, by hooks alone, and by a server between the agent and its model; with tools each time.
WAYS = {"hooks": "mcp,hooks", "hooks alone": "mcp,hooks", "base URL": "mcp,base-url"}
PLUGIN = "plugin"
AGENTS = {"claude-code": Claude, "codex": Codex, "gemini-cli": Gemini, "opencode": Opencode}


class Failed(Exception):
    pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def served(quipu, root, model):
    """A server of Quipu before the model server, at the address of the root's configuration."""
    command = [quipu, "--json", "serve", "--root", root, "--upstream", f"{model}/v1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            # One JSON object of several lines, once it listens.
            if not "".join(iter(server.stdout.readline, "}\n")):
                raise Failed("Quipu does not start")
            yield
        finally:
            server.terminate()


def wiring(root, name, way, home):
    """The command that connects an agent with Quipu, in the folder of its sessions."""
    if way != PLUGIN:
        return ["quipu", "init", "--yes", "--root", root, "--client", name, "--with", WAYS[way]]
    # A plugin uses the default root. Its command is the one of the documentation, for the folder that has `plugins`.
    (home / ".quipu").symlink_to(root)
    (home / "work/plugins").symlink_to(TOP / "plugins")
    title = name.replace("-", " ")
    row = re.search(rf"^\| {title} \| `(.+)` \|$", (TOP / "docs/hooks.md").read_text(), re.IGNORECASE | re.MULTILINE)
    if not row:
        raise Failed(f"docs/hooks.md does not install the plugin of {title}")
    # Gemini CLI asks before it installs.
    return ["bash", "-c", f"yes | ({row[1]})"]


@contextlib.contextmanager
def home(quipu, root, name, way, model, server):
    """A function that says something in a session of an agent with a new home, which knows Quipu."""
    agent = AGENTS[name]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = pathlib.Path(folder)
        (home / "work").mkdir()
        (home / "bin").mkdir()
        (home / "bin/quipu").symlink_to(quipu)
        # opencode has no address that `quipu init` could write.
        url = model.url if way != "base URL" else server if agent is Opencode else None
        agent.configure(home, url)
        path = f"{home / 'bin'}:{TOOLS}:{os.environ['PATH']}"
        env = QUIET | {"HOME": folder, "PATH": path, "LANG": "C.UTF-8"}
        wire = wiring(root, name, way, home)
        status, said = ended(wire, env, home / "work")
        if status != 0:
            raise Failed(f"{wire}: exit {status}\n{said[-3000:]}")
        env |= agent.env(url)

        def say(message, again=False):
            before = len(model.asked)
            status, said = ended(agent.say(message, again), env, home / "work")
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


def wrong(say, boat, offers):
    """What is wrong with the second session, if anything."""
    first = say(QUESTION)
    second = say(SECOND, again=True)
    trouble = divergence(first, second)
    if boat not in json.dumps(first):
        trouble += f"\nthe question came without the boat:\n{texts(first)[-1][-3000:]}"
    for offer in offers:
        if not re.search(offer, json.dumps(first)):
            trouble += f"\nthe model is not offered `{offer}`:\n{json.dumps(first.get('tools'))[:3000]}"
    return trouble


def check(quipu, name, way):
    """How long both sessions took, and what is wrong with them."""
    boat = f"Marula-{name}"
    # The plugin of opencode has no tools.
    offers = [SEARCH] if way != PLUGIN else [SKILL] if name == "opencode" else [SEARCH, SKILL]
    begun = time.monotonic()
    with Model() as model, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root, contextlib.ExitStack() as stack:
        address = f"127.0.0.1:{free_port()}"
        write(pathlib.Path(root) / "quipu.toml", f'[server]\nlisten = "{address}"\n')
        place = (quipu, root, name, way, model, f"http://{address}")
        try:
            if way not in ("hooks alone", PLUGIN):
                stack.enter_context(served(quipu, root, model.url))
            with home(*place) as say:
                say(f"My boat is called {boat}.")
            with home(*place) as say:
                trouble = wrong(say, boat, offers)
        except Failed as failed:
            trouble = str(failed)
        log = pathlib.Path(root) / "hook.log"
        if log.exists():
            trouble += f"\n{log.read_text()}"
    return round(time.monotonic() - begun, 1), trouble


def plugin_trouble():
    """What Claude Code finds wrong with its plugin."""
    with tempfile.TemporaryDirectory() as home:
        command = [TOOLS / "claude", "plugin", "validate", TOP / "plugins/claude-code"]
        env = QUIET | {"HOME": home, "PATH": os.environ["PATH"]}
        done = subprocess.run(command, env=env, capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else ""


def main(quipu, names):
    quipu = pathlib.Path(quipu).resolve()
    if trouble := plugin_trouble():
        print(trouble)
        return 1
    runs = [(name, way) for name in names or AGENTS for way in [*WAYS, PLUGIN] if (name, way) != ("gemini-cli", "base URL")]
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
