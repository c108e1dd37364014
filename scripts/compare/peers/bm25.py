"""BM25 by the package bm25s, as its documentation shows it: English stop words and a Snowball stemmer.

Nothing is kept on disk. The package has no way to add to an index, so each add builds the index of its space again.
"""

import bm25s
import Stemmer
import worker


class Bm25(worker.Peer):
    packages = ("bm25s", "PyStemmer")

    def __init__(self, folder, endpoint, options):
        self.stemmer = Stemmer.Stemmer("english")
        self.spaces = {}

    def tokens(self, texts):
        return bm25s.tokenize(texts, stopwords="en", stemmer=self.stemmer, show_progress=False)

    def add(self, space, session, messages):
        known = self.spaces.setdefault(space, {"messages": []})
        known["messages"] += messages
        known["index"] = bm25s.BM25()
        known["index"].index(self.tokens([worker.line(message) for message in known["messages"]]), show_progress=False)

    def search(self, space, question, asked_at, asker, count):
        known = self.spaces[space]
        count = min(count, len(known["messages"]))
        found, _ = known["index"].retrieve(self.tokens([question]), k=count, show_progress=False)
        return [known["messages"][at]["id"] for at in found[0]]

    def kept(self, space):
        return [message["text"] for message in self.spaces.get(space, {}).get("messages", [])]


worker.run(Bm25)
