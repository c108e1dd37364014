"""MemPalace through the functions of its MCP tools: a wing per conversation, a room per session, a drawer per message.

The strategy `union`, which adds words to vectors before ranking, is the tool's own option; the default is `vector`.
"""

import logging
import os

import worker


class MemPalace(worker.Peer):
    packages = ("mempalace", "chromadb")

    def __init__(self, folder, endpoint, options):
        os.environ.update(
            HOME=str(folder / "home"),
            MEMPALACE_PALACE_PATH=str(folder / "palace"),
            MEMPALACE_EMBEDDING_MODEL="openai-compat",
            MEMPALACE_EMBEDDING_API_URL=endpoint,
            MEMPALACE_EMBEDDING_API_MODEL="all-MiniLM-L6-v2",
            MEMPALACE_EMBEDDING_API_KEY="none",
            ANONYMIZED_TELEMETRY="False",
        )
        (folder / "home").mkdir(exist_ok=True)
        logging.disable(logging.WARNING)
        from mempalace import mcp_server

        self.server = mcp_server
        self.strategy = options.get("strategy", "vector")

    def add(self, space, session, messages):
        for message in messages:
            made = self.server.tool_add_drawer(space, session, worker.line(message), source_file=message["id"])
            assert made["success"], made

    def search(self, space, question, asked_at, asker, count):
        found = self.server.tool_search(question, limit=count, wing=space, candidate_strategy=self.strategy)
        ids = [hit["source_path"] for hit in found["results"]]
        return list(dict.fromkeys(ids))

    def kept(self, space):
        rows = self.server._get_collection().get(where={"wing": space}, include=["documents"])
        return [text.split(": ", 1)[1] for text in rows["documents"]]


worker.run(MemPalace)
