"""LangGraph's long-term memory. Each item is a message of a session of its own, so that Quipu finds it by words and meaning."""

from __future__ import annotations

import asyncio
import hashlib
import json
import operator
from datetime import datetime, timezone
from typing import Any, Iterable, Iterator

from langgraph.store.base import (
    BaseStore, GetOp, Item, ListNamespacesOp, MatchCondition, Op, PutOp, Result, SearchItem, SearchOp,
)

from . import Quipu

PAGE = 100
FOUND_MAX = 200
COMPARED = {"$eq": operator.eq, "$ne": operator.ne, "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le}


class QuipuStore(BaseStore):
    """Items of one user, in a project of their own: conversations do not mix with them.

    A search with a query ranks the 200 best matches of the user, then applies prefix and filter.
    """

    def __init__(self, client: Quipu | None = None, *, user_id: str = "langgraph", project_id: str = "langgraph"):
        self._client = client or Quipu()
        self._user_id = user_id
        self._project_id = project_id

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._done(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _done(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op.namespace, op.key)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return _namespaces(op, (item.namespace for item in self._all()))
        self._put(op)
        return None

    def _get(self, namespace: tuple[str, ...], key: str) -> Item | None:
        found = self._found([_session(namespace, key)], query="value")
        return Item(**_fields(found[0])) if found else None

    def _put(self, op: PutOp) -> None:
        session = _session(op.namespace, op.key)
        now = datetime.now(timezone.utc).isoformat()
        earlier = self._get(op.namespace, op.key)
        if earlier:
            self._client.forget(session_id=session, project_id=self._project_id)
        if op.value is None:
            return
        created = earlier.created_at.isoformat() if earlier else now
        item = {"value": op.value, "namespace": op.namespace, "key": op.key, "created_at": created, "updated_at": now}
        text = json.dumps(item, ensure_ascii=False)
        message: Any = {"sender_id": self._user_id, "role": "user", "content": text}
        self._client.add(session_id=session, project_id=self._project_id, messages=[message], defer_extraction=True)
        # A list pages through episodes.
        self._client.flush(session_id=session, project_id=self._project_id, wait=True)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        found = self._found(None, query=op.query) if op.query else self._all()
        prefix = tuple(op.namespace_prefix)
        kept = [
            item for item in found
            if item.namespace[: len(prefix)] == prefix and _matches(item.value, op.filter or {})
        ]
        return kept[op.offset : op.offset + op.limit]

    def _found(self, sessions: list[str] | None, query: str) -> list[SearchItem]:
        filters: Any = {"filters": {"session_id": {"in": sessions}}} if sessions else {}
        found = self._client.search(
            user_id=self._user_id, project_id=self._project_id, query=query, include_messages=FOUND_MAX, **filters
        )
        return [_item(message) for message in found["messages"]]

    def _all(self) -> Iterator[SearchItem]:
        page = 1
        while True:
            owned: Any = {"user_id": self._user_id, "project_id": self._project_id, "memory_type": "episode"}
            listed = self._client.list(**owned, page=page, page_size=PAGE)
            sessions = [episode["session_id"] for episode in listed["episodes"] if episode["session_id"]]
            yield from self._found(sessions, query="value") if sessions else []
            if page * PAGE >= listed["total_count"]:
                return
            page += 1


def _session(namespace: tuple[str, ...], key: str) -> str:
    return "item-" + hashlib.sha256(json.dumps([*namespace, key]).encode()).hexdigest()[:32]


def _item(message: Any) -> SearchItem:
    item: dict[str, Any] = json.loads(message["content"])
    item["namespace"] = tuple(item["namespace"])
    return SearchItem(**item, score=message["score"])


def _fields(item: SearchItem) -> dict[str, Any]:
    return {name: getattr(item, name) for name in ("value", "key", "namespace", "created_at", "updated_at")}


def _matches(value: dict[str, Any], wanted: dict[str, Any]) -> bool:
    def matches(field: str, condition: Any) -> bool:
        operators = condition if isinstance(condition, dict) and condition.keys() <= COMPARED.keys() else {"$eq": condition}
        return all(field in value and COMPARED[name](value[field], other) for name, other in operators.items())

    return all(matches(field, condition) for field, condition in wanted.items())


def _namespaces(op: ListNamespacesOp, namespaces: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    def fits(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
        path = tuple(condition.path)
        part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
        return len(part) == len(path) and all(one in ("*", label) for one, label in zip(path, part))

    fitting = (one for one in namespaces if all(fits(one, condition) for condition in op.match_conditions or ()))
    return sorted({one[: op.max_depth] for one in fitting})[op.offset : op.offset + op.limit]
