"""LangChain: a chat history that never outgrows the model's window, and a retriever of memories."""

from __future__ import annotations

from typing import Any, Sequence

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from . import Quipu, QuipuError


class QuipuChatMessageHistory(BaseChatMessageHistory):
    """The messages of one conversation of a user. `window_tokens` is the model's window."""

    def __init__(self, conversation_id: str, *, user_id: str, client: Quipu | None = None, window_tokens: int | None = None):
        self._client = client or Quipu()
        self._named: dict[str, Any] = {"user_id": user_id, "conversation_id": conversation_id}
        self._window_tokens = window_tokens

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The view of the conversation: all messages, or summaries of old ones if they would not fit."""
        try:
            request = self._client.conversations.assemble(**self._named, memory="off", window_tokens=self._window_tokens)
        except QuipuError as error:
            if error.code != "NOT_FOUND":
                raise
            return []
        return convert_to_messages(request["messages"])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Stores messages. Memory learns from a turn when its reply is the last of them."""
        converted = convert_to_openai_messages(list(messages))
        reply = converted.pop() if converted and messages[-1].type == "ai" else None
        if converted:
            self._client.conversations.append(**self._named, messages=converted)
        if reply:
            self._client.conversations.after_turn(**self._named, message=reply)

    def clear(self) -> None:
        """Deletes the conversation and what memory learnt from it."""
        self._client.forget(session_id=f"{self._named['user_id']}/{self._named['conversation_id']}")


class QuipuRetriever(BaseRetriever):
    """Memories of a user for a question: one document, marked as data for a prompt, or none."""

    client: Quipu = Field(default_factory=Quipu)
    user_id: str
    max_tokens: int | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        bounds: dict[str, Any] = {} if self.max_tokens is None else {"max_tokens": self.max_tokens}
        found = self.client.context(user_id=self.user_id, query=query, **bounds)
        metadata = {"memory_ids": found["memory_ids"], "tokens": found["tokens"]}
        return [Document(page_content=found["context"], metadata=metadata)] if found["context"] else []
