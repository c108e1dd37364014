"""A model server without a model, which keeps every request: chat completions, Anthropic messages, responses and Gemini, whole or streamed.

    with Model() as model:
        model.url     # http://127.0.0.1:PORT
        model.asked   # the bodies of the requests for an answer, in order
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = "All right, noted."
PIECES = ["All ", "right, ", "noted."]
USAGE = {"input_tokens": 100, "output_tokens": 5}


def chat(body):
    def one(kind, choice, **more):
        head = {"id": "chatcmpl-1", "object": kind, "created": 0, "model": body.get("model", "tiny")}
        return head | {"choices": [{"index": 0, "logprobs": None} | choice]} | more

    usage = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}
    said = {"role": "assistant", "content": ANSWER}
    whole = one("chat.completion", {"message": said, "finish_reason": "stop"}, usage=usage)

    def chunk(delta, end=None, **more):
        return None, one("chat.completion.chunk", {"delta": delta, "finish_reason": end}, **more)

    events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"content": piece}) for piece in PIECES]
    events.append(chunk({}, "stop"))
    if (body.get("stream_options") or {}).get("include_usage"):
        last = one("chat.completion.chunk", {}, usage=usage)
        events.append((None, last | {"choices": []}))
    return whole, [*events, (None, "[DONE]")]


def messages(body):
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "tiny")}
    head |= {"stop_sequence": None}
    block = {"type": "text", "text": ANSWER}
    whole = head | {"content": [block], "stop_reason": "end_turn", "usage": USAGE}
    begin = head | {"content": [], "stop_reason": None, "usage": USAGE | {"output_tokens": 1}}
    events = [
        {"type": "message_start", "message": begin},
        {"type": "content_block_start", "index": 0, "content_block": block | {"text": ""}},
        {"type": "ping"},
    ]
    for piece in PIECES:
        delta = {"type": "text_delta", "text": piece}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    events += [
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    return whole, [(event["type"], event) for event in events]


def responses(body):
    part = {"type": "output_text", "text": ANSWER, "annotations": []}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    head = {"id": "resp_1", "object": "response", "created_at": 0, "model": body.get("model", "tiny")}
    head |= {"error": None, "incomplete_details": None, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    begun = head | {"status": "in_progress", "output": [], "usage": None}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = USAGE | {"total_tokens": 105} | details
    whole = head | {"status": "completed", "output": [item], "usage": usage}
    at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    events = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": item | {"status": "in_progress", "content": []}},
        {"type": "response.content_part.added", **at, "part": part | {"text": ""}},
        *({"type": "response.output_text.delta", **at, "delta": piece} for piece in PIECES),
        {"type": "response.output_text.done", **at, "text": ANSWER},
        {"type": "response.content_part.done", **at, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [(event["type"], event | {"sequence_number": at}) for at, event in enumerate(events)]


def gemini(body):
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 5, "totalTokenCount": 105}

    def piece(text, **more):
        return {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": text}]}} | more], "usageMetadata": usage}

    whole = piece(ANSWER, finishReason="STOP")
    return whole, [(None, piece(text)) for text in PIECES[:-1]] + [(None, piece(PIECES[-1], finishReason="STOP"))]


DIALECTS = {"/v1/chat/completions": chat, "/v1/messages": messages, "/v1/responses": responses}


def dialect(path):
    """The dialect of a route, and whether the route says that the answer is streamed."""
    if path.startswith("/v1beta/models/"):
        return gemini, path.endswith(":streamGenerateContent")
    return DIALECTS.get(path), False


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        models = {"object": "list", "data": [{"id": "tiny", "object": "model", "created": 0, "owned_by": "nobody"}]}
        is_models = self.path.split("?")[0] == "/v1/models"
        self.json(200, models) if is_models else self.json(404, {"error": {"message": "no such route"}})

    def do_HEAD(self):
        self.head(200, "application/json", ("content-length", "0"))

    def do_POST(self):
        text = self.rfile.read(int(self.headers.get("content-length", 0)))
        path = self.path.split("?")[0]
        if path == "/v1/messages/count_tokens":
            return self.json(200, {"input_tokens": 100})
        answer, is_streamed = dialect(path)
        if not answer:
            return self.json(404, {"error": {"message": "no such route"}})
        body = json.loads(text)
        self.server.asked.append(body)
        whole, events = answer(body)
        if is_streamed or body.get("stream"):
            return self.stream(events)
        return self.json(200, whole)

    def json(self, status, value):
        text = json.dumps(value).encode()
        self.head(status, "application/json", ("content-length", str(len(text))))
        self.wfile.write(text)

    def stream(self, events):
        self.head(200, "text/event-stream", ("transfer-encoding", "chunked"))
        for name, data in events:
            data = data if isinstance(data, str) else json.dumps(data)
            text = (f"event: {name}\n" if name else "") + f"data: {data}\n\n"
            self.wfile.write(f"{len(text):x}\r\n{text}\r\n".encode())
        self.wfile.write(b"0\r\n\r\n")

    def head(self, status, kind, length):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header(*length)
        self.end_headers()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client may hang up."""


class Model:
    def __enter__(self):
        self.server = Server(("127.0.0.1", 0), Handler)
        self.asked = self.server.asked = []
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
