"""all-MiniLM-L6-v2 behind an endpoint like OpenAI's, for the systems that need an embedding model.

    embedder.py build FOLDER      # makes FOLDER/minilm.onnx from the folder's model.safetensors
    embedder.py serve FOLDER      # prints its port, then answers POST /v1/embeddings

Every system gets its vectors here, so that none wins by a better model or a faster engine. With --cache the endpoint
remembers vectors of texts that it has seen; use it only where no time is measured.
"""

import argparse
import base64
import json
import struct
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock

import numpy as np

LAYERS, HEADS, DIMS, TOKENS_MAX, BATCH = 6, 12, 384, 256, 32
MODEL = "all-MiniLM-L6-v2"


def tensors(path):
    """The float32 tensors of a safetensors file."""
    raw = path.read_bytes()
    (size,) = struct.unpack_from("<Q", raw)
    for name, entry in json.loads(raw[8 : 8 + size]).items():
        if entry.get("dtype") == "F32":
            start, end = (8 + size + offset for offset in entry["data_offsets"])
            yield name, np.frombuffer(raw[start:end], "<f4").reshape(entry["shape"])


class Graph:
    """The nodes and constants of an ONNX graph, as they are added."""

    def __init__(self, weights):
        from onnx import helper, numpy_helper

        self.weights, self.helper, self.numpy_helper = weights, helper, numpy_helper
        self.nodes, self.constants, self.count = [], {}, 0

    def constant(self, value, name=None):
        name = name or f"c{len(self.constants)}"
        self.constants.setdefault(name, self.numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def weight(self, name, transposed=False):
        value = self.weights[name]
        return self.constant(value.T, name + ".T") if transposed else self.constant(value, name)

    def op(self, kind, *inputs, **attributes):
        self.count += 1
        out = f"n{self.count}"
        self.nodes.append(self.helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def linear(self, at, x):
        return self.op("Add", self.op("MatMul", x, self.weight(at + ".weight", True)), self.weight(at + ".bias"))

    def norm(self, at, x):
        return self.op("LayerNormalization", x, self.weight(at + ".weight"), self.weight(at + ".bias"), epsilon=1e-12)

    def heads(self, x, order):
        return self.op("Transpose", self.op("Reshape", x, self.constant(np.array([0, 0, HEADS, DIMS // HEADS]))), perm=order)

    def layer(self, at, x, bias):
        query = self.heads(self.linear(at + ".attention.self.query", x), [0, 2, 1, 3])
        key = self.heads(self.linear(at + ".attention.self.key", x), [0, 2, 3, 1])
        value = self.heads(self.linear(at + ".attention.self.value", x), [0, 2, 1, 3])
        scale = self.constant(np.array(1 / np.sqrt(DIMS / HEADS), np.float32))
        scores = self.op("Add", self.op("Mul", self.op("MatMul", query, key), scale), bias)
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), value)
        mixed = self.op("Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), self.constant(np.array([0, 0, DIMS])))
        x = self.norm(at + ".attention.output.LayerNorm", self.op("Add", self.linear(at + ".attention.output.dense", mixed), x))
        inner = self.op("Gelu", self.linear(at + ".intermediate.dense", x))
        return self.norm(at + ".output.LayerNorm", self.op("Add", self.linear(at + ".output.dense", inner), x))


def build(folder):
    """BERT, mean pooling and unit length as one ONNX graph of the folder's weights."""
    from onnx import TensorProto, helper, save

    g = Graph(dict(tensors(folder / "model.safetensors")))
    words = g.op("Gather", g.weight("embeddings.word_embeddings.weight"), "ids")
    places = g.op("Gather", g.weight("embeddings.position_embeddings.weight"), "places")
    kind = g.constant(g.weights["embeddings.token_type_embeddings.weight"][0])
    x = g.norm("embeddings.LayerNorm", g.op("Add", g.op("Add", words, places), kind))
    far = g.op("Sub", "mask", g.constant(np.array(1, np.float32)))
    bias = g.op("Unsqueeze", g.op("Mul", far, g.constant(np.array(1e9, np.float32))), g.constant(np.array([1, 2])))
    for number in range(LAYERS):
        x = g.layer(f"encoder.layer.{number}", x, bias)
    weights = g.op("Unsqueeze", "mask", g.constant(np.array([2])))
    total = g.op("ReduceSum", g.op("Mul", x, weights), g.constant(np.array([1])), keepdims=0)
    size = g.op("ReduceL2", total, g.constant(np.array([1])), keepdims=1)
    g.nodes.append(helper.make_node("Div", [total, size], ["vectors"]))
    shape = ["texts", "tokens"]
    graph = helper.make_graph(
        g.nodes,
        "minilm",
        [
            helper.make_tensor_value_info("ids", TensorProto.INT64, shape),
            helper.make_tensor_value_info("places", TensorProto.INT64, ["tokens"]),
            helper.make_tensor_value_info("mask", TensorProto.FLOAT, shape),
        ],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", DIMS])],
        list(g.constants.values()),
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    save(model, folder / "minilm.onnx")


class Model:
    def __init__(self, folder, cached):
        import onnxruntime
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(TOKENS_MAX)
        options = onnxruntime.SessionOptions()
        # Threads that wait for work would take the processor from the systems that are measured.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = onnxruntime.InferenceSession(folder / "minilm.onnx", options, providers=["CPUExecutionProvider"])
        self.cache = {} if cached else None
        self.lock = Lock()

    def embed(self, texts):
        # A vector of nothing would have no length to divide by; `[CLS] [SEP]` is never empty.
        ids = [encoded.ids for encoded in self.tokenizer.encode_batch(texts)]
        out = np.zeros((len(ids), DIMS), np.float32)
        order = sorted(range(len(ids)), key=lambda at: len(ids[at]))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            longest = max(len(ids[at]) for at in batch)
            padded = np.array([ids[at] + [0] * (longest - len(ids[at])) for at in batch], np.int64)
            mask = np.array([[1.0] * len(ids[at]) + [0.0] * (longest - len(ids[at])) for at in batch], np.float32)
            out[batch] = self.session.run(None, {"ids": padded, "places": np.arange(longest), "mask": mask})[0]
        return out

    def vectors(self, texts):
        with self.lock:
            if self.cache is None:
                return self.embed(texts)
            new = list(dict.fromkeys(text for text in texts if text not in self.cache))
            if new:
                self.cache.update(zip(new, self.embed(new)))
            return np.stack([self.cache[text] for text in texts])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None

    def setup(self):
        super().setup()
        # Without it an answer in two pieces waits 40 ms for the client's acknowledgement.
        self.connection.setsockopt(6, 1, 1)

    def answer(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        rows = self.model.vectors(texts)
        packed = asked.get("encoding_format") == "base64"
        shown = [base64.b64encode(row.tobytes()).decode() if packed else row.tolist() for row in rows]
        data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(shown)]
        self.answer({"object": "list", "data": data, "model": MODEL, "usage": {"prompt_tokens": 0, "total_tokens": 0}})

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("act", choices=["build", "serve"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", action="store_true")
    args = parser.parse_args()
    if args.act == "build":
        build(args.folder)
        return
    Handler.model = Model(args.folder, args.cache)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
