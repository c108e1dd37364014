"""mem0: the Python library with `infer=False`, its default vector store (Qdrant in the process) and hybrid search.

Hybrid search is what its README recommends: the extra `nlp` with spaCy's en_core_web_sm, and fastembed for BM25. Each
session is one call of `add`. The library has no field for a date in its open source form, so the date is metadata.
"""

import logging
import os

import worker

os.environ["MEM0_TELEMETRY"] = "False"


class Mem0(worker.Peer):
    packages = ("mem0ai", "qdrant-client", "fastembed", "spacy")

    def __init__(self, folder, endpoint, options):
        os.environ["MEM0_DIR"] = str(folder / "home")
        logging.disable(logging.WARNING)
        from mem0 import Memory

        embedder = {"model": "all-MiniLM-L6-v2", "openai_base_url": endpoint, "embedding_dims": 384, "api_key": "none"}
        store = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": 384}
        self.memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "embedder": {"provider": "openai", "config": embedder},
                # The library opens a client for a chat model in any case; nothing here calls it.
                "llm": {"provider": "openai", "config": {"api_key": "none", "openai_base_url": endpoint}},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self.ids = {}

    def add(self, space, session, messages):
        turns = [{"role": m["role"], "name": m["speaker"], "content": worker.line(m)} for m in messages]
        date = {"date": worker.minute(messages[0])}
        made = self.memory.add(turns, user_id=space, run_id=session, metadata=date, infer=False)["results"]
        assert len(made) == len(messages)
        self.ids.update({memory["id"]: message["id"] for memory, message in zip(made, messages)})

    def search(self, space, question, asked_at, asker, count):
        found = self.memory.search(question, filters={"user_id": space}, top_k=count)["results"]
        return [self.ids[memory["id"]] for memory in found]

    def kept(self, space):
        found = self.memory.get_all(filters={"user_id": space}, top_k=10_000)["results"]
        return [memory["memory"].split(": ", 1)[1] for memory in found]


worker.run(Mem0)
