# Written by `generate.py`: change `_async.py` instead.
"""The asynchronous client."""

from __future__ import annotations

import time
import sys
from typing import Any, Mapping
from urllib.parse import quote

import httpx

from . import types as t
from ._http import API, PAUSE_SECONDS, UNCONNECTED, File, QuipuError, answer, form, given, settings, stamped

if sys.version_info >= (3, 11):
    from typing import Unpack
else:
    from typing_extensions import Unpack


class _Transport:
    def __init__(self, url: str | None, token: str | None, timeout: float, retries: int):
        self.http = httpx.Client(**settings(url, token, timeout))
        self.retries = retries

    def send(self, method: str, path: str, *, retries: int = 0, **content: Any) -> Any:
        while True:
            try:
                return answer(self.http.request(method, path, **content))
            except httpx.TransportError as error:
                if retries == 0 or not isinstance(error, UNCONNECTED):
                    reason = str(error) or type(error).__name__
                    raise QuipuError("UNREACHABLE", f"{self.http.base_url}: {reason}") from error
            time.sleep(PAUSE_SECONDS * (self.retries - retries + 1))
            retries -= 1

    def get(self, path: str, query: Mapping[str, Any] = {}) -> Any:
        return self.send("GET", API + path, retries=self.retries, params=given(query))

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Asks something that may be asked twice."""
        return self.send("POST", API + path, retries=self.retries, json=body)

    def post_once(self, path: str, body: Mapping[str, Any]) -> Any:
        return self.send("POST", API + path, json=body)


class Conversations:
    """Conversations of a program that calls its model itself: messages in, the next request for the model out."""

    def __init__(self, transport: _Transport):
        self._transport = transport

    def list(self, **query: Unpack[t.ContextConversationsQuery]) -> t.ConversationsData:
        """Lists a user's conversations."""
        return self._transport.get("/context/conversations", query)

    def append(self, **request: Unpack[t.AppendRequest]) -> t.AppendData:
        """Stores messages. The first call makes the conversation."""
        return self._transport.post_once("/context/append", request)

    def assemble(self, **request: Unpack[t.AssembleRequest]) -> t.AssembleData:
        """Returns the next request for a model: messages that fit its window, with memories."""
        return self._transport.post_once("/context/assemble", request)

    def after_turn(self, **request: Unpack[t.AfterTurnRequest]) -> t.AfterTurnData:
        """Stores the model's reply and gives the turn to memory."""
        return self._transport.post_once("/context/after_turn", request)

    def compact(self, **request: Unpack[t.CompactRequest]) -> t.CompactData:
        """Compacts now."""
        return self._transport.post_once("/context/compact", request)

    def rewind(self, **request: Unpack[t.RewindRequest]) -> t.DoneData:
        """Continues from just before the message `to`."""
        return self._transport.post_once("/context/rewind", request)

    def view(self, **query: Unpack[t.ContextViewQuery]) -> t.ViewData:
        """Returns the messages that the model sees."""
        return self._transport.get("/context/view", query)

    def stats(self, **query: Unpack[t.ContextStatsQuery]) -> t.ContextStatsData:
        """Returns figures and warnings."""
        return self._transport.get("/context/stats", query)

    def find(self, **query: Unpack[t.ContextFindQuery]) -> t.OriginalsData:
        """Returns messages that contain all words of `query`."""
        return self._transport.get("/context/find", query)

    def recover(self, **query: Unpack[t.ContextRecoverQuery]) -> t.OriginalsData:
        """Returns a message (`id="m17"`), or all that a summary stands for (`id="n3"`)."""
        return self._transport.get("/context/recover", query)


class Documents:
    """Documents: text, Markdown, HTML, PDF, office files, e-mails."""

    def __init__(self, transport: _Transport):
        self._transport = transport

    def upload(
        self,
        file: File,
        *,
        title: str | None = None,
        source_type: str | None = None,
        category_id: str | None = None,
        app_id: str | None = None,
        project_id: str | None = None,
    ) -> t.DocumentCreateData:
        """Stores a document: the path of a file, or a name with bytes."""
        fields = {"title": title, "source_type": source_type, "category_id": category_id}
        content = form(file, {**fields, "app_id": app_id, "project_id": project_id})
        return self._transport.send("POST", API + "/knowledge/documents", **content)

    def list(self, **query: Unpack[t.ListDocumentsQuery]) -> t.DocumentListData:
        """Lists documents, by page."""
        return self._transport.get("/knowledge/documents", query)

    def read(self, doc_id: str, **query: Unpack[t.OneDocumentQuery]) -> t.DocumentData:
        """Returns a document with its topics."""
        return self._transport.get(f"/knowledge/documents/{quote(doc_id, safe='')}", query)

    def delete(self, doc_id: str, **query: Unpack[t.DeleteDocumentQuery]) -> t.DocumentDeleteData | None:
        """Deletes a document. Returns `None` if it does not exist."""
        path = f"{API}/knowledge/documents/{quote(doc_id, safe='')}"
        return self._transport.send("DELETE", path, retries=self._transport.retries, params=given(query))

    def search(self, **request: Unpack[t.KnowledgeSearchRequest]) -> t.KnowledgeSearchData:
        """Finds parts of documents."""
        return self._transport.post("/knowledge/search", request)


class Quipu:
    """A client of a Quipu server.

    `url` and `token` default to `QUIPU_URL` and `QUIPU_TOKEN` of the environment, `url` then to this machine's server. A call that may
    be repeated is retried if the connection fails. A call that fails raises `QuipuError`.
    """

    def __init__(self, url: str | None = None, *, token: str | None = None, timeout: float = 60.0, retries: int = 2):
        self._transport = _Transport(url, token, timeout, retries)
        self.conversations = Conversations(self._transport)
        self.documents = Documents(self._transport)

    def add(self, **request: Unpack[t.AddRequest]) -> t.AddData | t.QueuedData:
        """Adds messages of a session. A message without `timestamp` has the time of the call."""
        return self._transport.post("/memory/add", stamped(request))

    def flush(self, **request: Unpack[t.FlushRequest]) -> t.FlushData:
        """Extracts memories from a session's buffer now."""
        return self._transport.post("/memory/flush", request)

    def search(self, **request: Unpack[t.SearchRequest]) -> t.SearchData:
        """Finds memories, and verbatim messages with `include_messages`."""
        return self._transport.post("/memory/search", request)

    def context(self, **request: Unpack[t.ContextRequest]) -> t.ContextData:
        """Returns memories for a user's message as text to append to it, marked as data."""
        return self._transport.post("/memory/context", request)

    def list(self, **request: Unpack[t.GetRequest]) -> t.GetData:
        """Lists an owner's memories of one kind, by page."""
        return self._transport.post("/memory/get", request)

    def read(self, memory_id: str, **query: Unpack[t.OneMemoryQuery]) -> t.GetData:
        """Returns one memory."""
        return self._transport.get(f"/memories/{quote(memory_id, safe='')}", query)

    def edit(self, **request: Unpack[t.EditRequest]) -> t.EditData:
        """Changes the text of a memory."""
        return self._transport.post("/memory/edit", request)

    def update(self, **request: Unpack[t.UpdateRequest]) -> t.UpdateData:
        """Patches an episode and returns it."""
        return self._transport.post("/memory/update", request)

    def delete(self, **request: Unpack[t.DeleteByIdsRequest]) -> t.DeleteByIdsData:
        """Deletes single memories."""
        return self._transport.post("/memory/delete_by_ids", request)

    def forget(self, **request: Unpack[t.DeleteRequest]) -> t.DeleteData:
        """Deletes all memory of a session, of an owner, or of an owner in a session."""
        return self._transport.post("/memory/delete", request)

    def history(self, **query: Unpack[t.HistoryQuery]) -> t.HistoryData:
        """Lists changes of the files."""
        return self._transport.get("/history", query)

    def undo(self, **request: Unpack[t.UndoRequest]) -> t.UndoData:
        """Undoes one background run."""
        return self._transport.post_once("/history/undo", request)

    def health(self) -> t.HealthData:
        """Returns the health of the server."""
        return self._transport.send("GET", "/health", retries=self._transport.retries)

    def close(self) -> None:
        self._transport.http.close()

    def __enter__(self) -> Quipu:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
