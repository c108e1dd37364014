"""memsearch: Markdown files and an index in Milvus Lite, hybrid by default. A file per session, a heading per message.

Its plugins write a file a day with a heading for each turn; the date in the heading is searched with the text.
"""

import asyncio
import logging
import os

import worker

os.environ["OPENAI_API_KEY"] = "none"


class MemSearch(worker.Peer):
    packages = ("memsearch", "milvus-lite", "pymilvus")

    def __init__(self, folder, endpoint, options):
        logging.disable(logging.ERROR)
        from memsearch import MemSearch as Memory

        self.files = folder / "memory"
        self.files.mkdir(exist_ok=True)
        self.loop = asyncio.new_event_loop()
        self.memory = Memory(
            paths=[self.files],
            embedding_model="all-MiniLM-L6-v2",
            embedding_base_url=endpoint,
            milvus_uri=str(folder / "milvus.db"),
        )
        self.ids = {}

    def wait(self, what):
        return self.loop.run_until_complete(what)

    def add(self, space, session, messages):
        path = self.files / space / f"{session}.md"
        path.parent.mkdir(exist_ok=True)
        begun = path.read_text().count("\n") if path.exists() else 0
        with path.open("a") as file:
            for message in messages:
                # One line, so that a heading within a message does not begin a part of its own.
                text = " ".join(worker.line(message).split())
                file.write(f"### {worker.minute(message)}\n\n{text}\n\n")
                self.ids[str(path), begun + 1] = message["id"]
                begun += 4
        self.wait(self.memory.index_file(path))

    def search(self, space, question, asked_at, asker, count):
        found = self.wait(self.memory.search(question, top_k=count, source_prefix=self.files / space))
        # A long message is cut into parts; the first line of each part but the first is not the heading's.
        ids = [self.id_of(hit["source"], hit["start_line"]) for hit in found]
        return list(dict.fromkeys(ids))

    def id_of(self, path, line):
        return self.ids[path, (line - 1) // 4 * 4 + 1]

    def kept(self, space):
        # What its index has, after it read the files again as it does when it starts.
        self.wait(self.memory.index())
        rows = self.memory._store.query(filter_expr=f'source like "{self.files / space}%"')
        return [row["content"].split("\n\n", 1)[1].split(": ", 1)[1] for row in rows]


worker.run(MemSearch)
