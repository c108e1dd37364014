"""Distils the static table of `crates/embed` from the weights of all-MiniLM-L6-v2.

Each word piece becomes one row: its input embedding, centred, turned onto the 256 strongest principal axes, weighted
by how rare the piece is, and stored as int8 with a scale of its own. README.md says how to run it and why it is built
so; docs/embeddings.md describes the file. The same weights give the same bytes: all arithmetic is float64 on one
thread, and the sign of each axis is fixed.
"""

import argparse
import hashlib
import json
import os
import struct
from pathlib import Path

# Before numpy loads its BLAS: one thread and one kernel, so that sums are added in one order on every machine.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OPENBLAS_CORETYPE"] = "Haswell"

import numpy as np  # noqa: E402

MAGIC = b"QUIPUEMB"
VERSION = 1
DIMS = 256
# The vocabulary lists characters first, then words by falling frequency from `the` on.
FIRST_WORD = "the"
# Smooth inverse frequency: a / (a + p), with p from Zipf's law over the rank.
SIF_A = 2e-3


def tensor(path: Path, name: str) -> np.ndarray:
    """One float32 tensor of a safetensors file, as float64."""
    raw = path.read_bytes()
    (header_bytes,) = struct.unpack_from("<Q", raw)
    entry = json.loads(raw[8 : 8 + header_bytes])[name]
    if entry["dtype"] != "F32":
        raise SystemExit(f"{name} is {entry['dtype']}, not F32")
    start, end = (8 + header_bytes + offset for offset in entry["data_offsets"])
    return np.frombuffer(raw[start:end], "<f4").reshape(entry["shape"]).astype(np.float64)


def is_special(piece: str) -> bool:
    return piece.startswith("[") and piece.endswith("]") and len(piece) > 2


def principal_axes(rows: np.ndarray, dims: int) -> np.ndarray:
    """The strongest axes of centred rows as columns, each with its largest component positive."""
    _, axes = np.linalg.eigh(rows.T @ rows)
    axes = axes[:, ::-1][:, :dims]
    largest = np.abs(axes).argmax(axis=0)
    return axes * np.sign(axes[largest, np.arange(dims)])


def rarity(pieces: list[str]) -> np.ndarray:
    """The weight of each piece: near 0 for `the`, near 1 for rare words; punctuation weighs as much as `the`."""
    first = pieces.index(FIRST_WORD)
    ranks = np.arange(len(pieces)) - first + 1.0
    words = ranks >= 1
    shares = np.where(words, 1 / np.maximum(ranks, 1), 0)
    weights = SIF_A / (SIF_A + shares / shares.sum())
    middle = np.median(weights[words])
    for i in np.flatnonzero(~words):
        piece = pieces[i]
        punctuation = len(piece) == 1 and not piece.isalnum()
        weights[i] = 0 if is_special(piece) else weights[first] if punctuation else middle
    return weights


def distil(embeddings: np.ndarray, pieces: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The int8 rows and their scales."""
    ordinary = np.array([not is_special(piece) for piece in pieces])
    centred = embeddings - embeddings[ordinary].mean(axis=0)
    table = centred @ principal_axes(centred[ordinary], DIMS) * rarity(pieces)[:, None]
    scales = (np.abs(table).max(axis=1) / 127).astype(np.float32)
    divisors = np.where(scales > 0, scales, 1).astype(np.float64)
    return np.rint(table / divisors[:, None]).astype(np.int8), scales


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder with model.safetensors and vocab.txt")
    parser.add_argument("--out", type=Path, required=True, help="the table to write")
    args = parser.parse_args()

    vocab = (args.model / "vocab.txt").read_text(encoding="utf-8")
    pieces = vocab.removesuffix("\n").split("\n")
    embeddings = tensor(args.model / "model.safetensors", "embeddings.word_embeddings.weight")
    if len(pieces) != len(embeddings):
        raise SystemExit(f"{len(pieces)} pieces, but {len(embeddings)} rows")
    rows, scales = distil(embeddings, pieces)

    text = ("\n".join(pieces) + "\n").encode()
    payload = scales.astype("<f4").tobytes() + rows.tobytes() + text
    digest = hashlib.sha256(payload).digest()
    header = struct.pack("<8sIIII32s", MAGIC, VERSION, DIMS, len(pieces), len(text), digest)
    args.out.write_bytes(header + payload)
    print(f"{args.out}: {len(header) + len(payload)} bytes, payload sha256 {digest.hex()}")


if __name__ == "__main__":
    main()
