"""Memory and context for LLM agents: the client of a Quipu server."""

from ._async import AsyncConversations, AsyncDocuments, AsyncQuipu
from ._http import QuipuError
from ._start import Server, start
from ._sync import Conversations, Documents, Quipu

__all__ = [
    "AsyncConversations",
    "AsyncDocuments",
    "AsyncQuipu",
    "Conversations",
    "Documents",
    "Quipu",
    "QuipuError",
    "Server",
    "start",
]
