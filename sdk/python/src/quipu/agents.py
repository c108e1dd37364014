"""A session of the OpenAI Agents SDK that never outgrows the model's window, and that memory learns from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from agents.memory import SessionABC

from . import AsyncQuipu, QuipuError

if TYPE_CHECKING:
    from agents.items import TResponseInputItem


class QuipuSession(SessionABC):
    """The items of one conversation of a user. `window_tokens` is the model's window."""

    def __init__(self, session_id: str, *, user_id: str, client: AsyncQuipu | None = None, window_tokens: int | None = None):
        self.session_id = session_id
        self._client = client or AsyncQuipu()
        self._user_id = user_id
        self._named: dict[str, Any] = {"user_id": user_id, "conversation_id": session_id}
        self._window_tokens = window_tokens

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns the view of the conversation: all items, or summaries of old ones if they would not fit."""
        try:
            request = await self._client.conversations.assemble(
                **self._named, dialect="responses", memory="off", window_tokens=self._window_tokens
            )
        except QuipuError as error:
            if error.code != "NOT_FOUND":
                raise
            return []
        items = cast("list[TResponseInputItem]", request["messages"])
        return items if limit is None else items[max(len(items) - limit, 0) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        messages = cast("list[dict[str, Any]]", list(items))
        reply = messages.pop() if messages and messages[-1].get("role") == "assistant" else None
        if messages:
            await self._client.conversations.append(**self._named, dialect="responses", messages=messages)
        if reply:
            await self._client.conversations.after_turn(**self._named, dialect="responses", message=reply)

    async def pop_item(self) -> TResponseInputItem | None:
        if not await self.get_items(limit=1):
            return None
        newest = (await self._client.conversations.view(**self._named))["messages"][-1]["id"]
        originals = await self._client.conversations.recover(**self._named, id=newest)
        await self._client.conversations.rewind(**self._named, to=newest)
        return cast("TResponseInputItem", originals["messages"][0]["message"])

    async def clear_session(self) -> None:
        """Deletes the conversation and what memory learnt from it."""
        await self._client.forget(session_id=f"{self._user_id}/{self.session_id}")
