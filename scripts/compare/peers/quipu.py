"""Quipu over HTTP: add, then flush and wait; hybrid search for messages, all settings as they come."""

import http.client
import json
import re
import subprocess

import worker


def name(text):
    return "".join(letter for letter in text.lower() if letter.isalnum() and letter.isascii())


class Quipu(worker.Peer):
    door = "HTTP"

    def __init__(self, folder, endpoint, options):
        self.binary, self.ids = options["binary"], {}
        if options.get("embeddings") == "openai":
            settings = f'[embedding]\nprovider = "openai"\nmodel = "all-MiniLM-L6-v2"\nbase_url = "{endpoint}"\n'
            (folder / "quipu.toml").write_text(settings)
        command = [self.binary, "--root", str(folder), "serve", "--listen", "127.0.0.1:0"]
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        address = re.search(r"127\.0\.0\.1:\d+", self.server.stdout.readline()).group()
        self.connection = http.client.HTTPConnection(address)

    def versions(self):
        shown = subprocess.run([self.binary, "--version"], capture_output=True, text=True).stdout
        return {"quipu": shown.split()[-1]}

    def processes(self):
        return [self.server.pid]

    def post(self, route, body):
        self.connection.request("POST", "/api/v2/memory/" + route, json.dumps(body), {"content-type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read().decode()
        assert answer.status == 200, text
        return json.loads(text)["data"]

    def add(self, space, session, messages):
        said = [
            {
                "message_id": m["id"],
                "sender_id": name(m["speaker"]),
                "sender_name": m["speaker"],
                "role": m["role"],
                "timestamp": m["time"],
                "content": m["text"],
            }
            for m in messages
        ]
        made = self.post("add", {"project_id": space, "session_id": session, "messages": said})
        self.ids.update(zip(made["message_ids"], (m["id"] for m in messages)))

    def settle(self, space, session):
        self.post("flush", {"project_id": space, "session_id": session, "wait": True})

    def search(self, space, question, asked_at, asker, count):
        body = {"user_id": name(asker), "project_id": space, "query": question, "query_time": asked_at}
        found = self.post("search", body | {"method": "hybrid", "include_messages": count})["messages"]
        return [self.ids[message["id"]] for message in found]

    def kept(self, space):
        body = {"user_id": "ana", "project_id": space, "query": "garden", "include_messages": 200}
        return [message["content"] for message in self.post("search", body)["messages"]]


worker.run(Quipu)
