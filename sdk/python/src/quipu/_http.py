"""What both clients share: settings, errors, and what a retry needs."""

from __future__ import annotations

import os
import pathlib
import time
import uuid
from typing import Any, Mapping, Tuple, Union

import httpx

URL = "http://127.0.0.1:4777"
API = "/api/v2"
PAUSE_SECONDS = 0.2
# No answer arrived because there is no connection. A timeout is not among them: the server may still be at work.
UNCONNECTED = (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ConnectTimeout)

File = Union[str, "os.PathLike[str]", Tuple[str, bytes]]


class QuipuError(Exception):
    """A request that failed.

    `code` is the server's, such as `NOT_FOUND`; `UNREACHABLE` if no answer arrived. `message` says what to do. The server's log has
    the request under `request_id`.
    """

    def __init__(self, code: str, message: str, request_id: str | None = None, status: int | None = None):
        super().__init__(f"{code}: {message}" + (f" (request {request_id})" if request_id else ""))
        self.code = code
        self.message = message
        self.request_id = request_id
        self.status = status


def settings(url: str | None, token: str | None, timeout: float) -> dict[str, Any]:
    """The arguments of an HTTP client."""
    token = token or os.environ.get("QUIPU_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return {"base_url": url or os.environ.get("QUIPU_URL") or URL, "headers": headers, "timeout": timeout}


def answer(response: httpx.Response) -> Any:
    """The data of an answer, without its envelope."""
    if response.status_code == 204:
        return None
    request_id = response.headers.get("x-request-id")
    try:
        body = response.json()
        if response.is_success:
            return body.get("data", body)
        code, message = body["error"]["code"], body["error"]["message"]
    except (ValueError, KeyError, TypeError, AttributeError):
        code, message = f"HTTP_{response.status_code}", "the answer is not Quipu's: check the URL"
    raise QuipuError(code, message, request_id, response.status_code)


def stamped(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request with a time and an id for each message. By the id the server knows a message that it gets again."""
    now = int(time.time() * 1000)
    messages = [{"timestamp": now, "message_id": uuid.uuid4().hex, **message} for message in request["messages"]]
    return {**request, "messages": messages}


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that have a value."""
    return {key: value for key, value in fields.items() if value is not None}


def form(file: File, fields: Mapping[str, str | None]) -> dict[str, Any]:
    """The arguments of an upload."""
    if isinstance(file, tuple):
        name, content = file
    else:
        name, content = os.path.basename(file), pathlib.Path(file).read_bytes()
    return {"files": {"file": (name, content)}, "data": given(fields)}
