"""memvid: one file per conversation, words and vectors, the mode `auto` of `find`. A frame per message.

`put_many` with vectors of one's own is what its README shows for an external embedding model.
"""

import os

import worker

os.environ.update(MEMVID_TELEMETRY="0", MEMVID_OFFLINE="1")


class Memvid(worker.Peer):
    packages = ("memvid-sdk",)

    def __init__(self, folder, endpoint, options):
        os.environ["HOME"] = str(folder)
        self.folder, self.embed, self.files = folder, worker.embedder(endpoint), {}

    def file(self, space):
        import memvid_sdk

        if space not in self.files:
            path = self.folder / f"{space}.mv2"
            if path.exists():
                self.files[space] = memvid_sdk.use("basic", str(path), mode="open")
            else:
                self.files[space] = memvid_sdk.create(str(path), enable_vec=True, enable_lex=True)
        return self.files[space]

    def add(self, space, session, messages):
        texts = [worker.line(message) for message in messages]
        frames = [
            {"title": m["id"], "label": session, "text": text, "metadata": {"date": worker.minute(m)}}
            for m, text in zip(messages, texts)
        ]
        self.file(space).put_many(frames, embeddings=self.embed(texts))

    def search(self, space, question, asked_at, asker, count):
        found = self.file(space).find(question, k=count, mode="auto", query_embedding=self.embed([question])[0])
        return list(dict.fromkeys(hit["title"] for hit in found["hits"]))

    def kept(self, space):
        # The preview is the text, and a line with the title below it.
        previews = (entry["preview"].split("\ntitle: ")[0] for entry in self.file(space).timeline(limit=10_000))
        return [preview.split(": ", 1)[1] for preview in previews]


worker.run(Memvid)
