"""LangGraph's store, which LangMem's tools write to and search: InMemoryStore with an index of vectors.

It keeps nothing on disk, by design; for that its documentation names stores on Postgres and SQLite.
"""

import worker
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore


class LangGraph(worker.Peer):
    packages = ("langgraph", "langmem")

    def __init__(self, folder, endpoint, options):
        embed = worker.embedder(endpoint)
        self.store = InMemoryStore(index={"dims": 384, "embed": embed, "fields": ["content"]})

    def add(self, space, session, messages):
        values = [{"content": worker.line(m), "date": worker.minute(m), "session": session} for m in messages]
        puts = [PutOp((space,), message["id"], value) for message, value in zip(messages, values)]
        # `batch` of this version fails where two of its texts are the same.
        alone = len({value["content"] for value in values}) < len(values)
        for some in [[put] for put in puts] if alone else [puts]:
            self.store.batch(some)

    def search(self, space, question, asked_at, asker, count):
        return [item.key for item in self.store.search((space,), query=question, limit=count)]

    def kept(self, space):
        return [item.value["content"].split(": ", 1)[1] for item in self.store.search((space,), limit=10_000)]


worker.run(LangGraph)
