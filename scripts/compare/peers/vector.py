"""Plain vector search: the cosine of all-MiniLM-L6-v2's vectors, every message compared, nothing else. Kept nowhere."""

import numpy as np
import worker


class Vector(worker.Peer):
    packages = ("numpy",)

    def __init__(self, folder, endpoint, options):
        self.embed = worker.embedder(endpoint)
        self.spaces = {}

    def add(self, space, session, messages):
        known, rows = self.spaces.get(space, ([], np.zeros((0, 384), np.float32)))
        new = np.array(self.embed([worker.line(message) for message in messages]), np.float32)
        self.spaces[space] = known + messages, np.concatenate([rows, new])

    def search(self, space, question, asked_at, asker, count):
        known, rows = self.spaces[space]
        scores = rows @ np.array(self.embed([question])[0], np.float32)
        return [known[at]["id"] for at in np.argsort(-scores, kind="stable")[:count]]

    def kept(self, space):
        return [message["text"] for message in self.spaces.get(space, ([], None))[0]]


worker.run(Vector)
