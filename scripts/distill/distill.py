"""Distils the static table of `crates/providers` from all-MiniLM-L6-v2 and WordLlama.

Each word piece of BERT becomes one row of two parts. The first is the piece's input embedding in all-MiniLM-L6-v2, centred,
turned onto the 128 strongest principal axes, and weighted by how rare the piece is. The second is the sum of WordLlama's
vectors of the same letters, weighted and turned likewise. Both are stored as int8 with a scale of their own. README.md says
how to run it and why it is built so; docs/internals/embeddings.md describes the file. The same weights give the same bytes:
all arithmetic is float64 on one thread, and the sign of each axis is fixed.
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
from tokenizers import Tokenizer  # noqa: E402

MAGIC = b"QUIPUEMB"
VERSION = 2
PART_DIMS = 128
# What each part of a vector counts, after it was brought to unit length.
WEIGHTS = (1.0, 0.8)
# The vocabulary lists characters first, then words by falling frequency from `the` on.
FIRST_WORD = "the"
# Smooth inverse frequency: a / (a + p), with p from Zipf's law over the rank. WordLlama was trained to weigh by length.
SIF_A = (2e-3, 1e-2)


def tensor(path: Path, name: str) -> np.ndarray:
    """One tensor of a safetensors file, as float64."""
    raw = path.read_bytes()
    (header_bytes,) = struct.unpack_from("<Q", raw)
    entry = json.loads(raw[8 : 8 + header_bytes])[name]
    kind = {"F32": "<f4", "F16": "<f2"}[entry["dtype"]]
    start, end = (8 + header_bytes + offset for offset in entry["data_offsets"])
    return np.frombuffer(raw[start:end], kind).reshape(entry["shape"]).astype(np.float64)


def is_special(piece: str) -> bool:
    return piece.startswith("[") and piece.endswith("]") and len(piece) > 2


def principal_axes(rows: np.ndarray, dims: int) -> np.ndarray:
    """The strongest axes of centred rows as columns, each with its largest component positive."""
    _, axes = np.linalg.eigh(rows.T @ rows)
    axes = axes[:, ::-1][:, :dims]
    largest = np.abs(axes).argmax(axis=0)
    return axes * np.sign(axes[largest, np.arange(dims)])


def rarity(pieces: list[str], a: float) -> np.ndarray:
    """The weight of each piece: near 0 for `the`, near 1 for rare words; punctuation weighs as much as `the`."""
    first = pieces.index(FIRST_WORD)
    ranks = np.arange(len(pieces)) - first + 1.0
    words = ranks >= 1
    shares = np.where(words, 1 / np.maximum(ranks, 1), 0)
    weights = a / (a + shares / shares.sum())
    middle = np.median(weights[words])
    for i in np.flatnonzero(~words):
        piece = pieces[i]
        punctuation = len(piece) == 1 and not piece.isalnum()
        weights[i] = 0 if is_special(piece) else weights[first] if punctuation else middle
    return weights


def respelled(pieces: list[str], vectors: np.ndarray, tokenizer: Tokenizer) -> np.ndarray:
    """For each word piece the sum of another model's vectors of the same letters. Pieces have no capitals, so the row of one
    that begins a word is the mean of the word with and without one."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    ids = lambda text: tokenizer.encode(text, add_special_tokens=False).ids  # noqa: E731
    # After a line break the tokenizer marks no beginning of a word.
    line_break = len(ids("\n"))
    rows = np.zeros((len(pieces), vectors.shape[1]))
    for row, piece in zip(rows, pieces):
        if is_special(piece):
            continue
        if piece.startswith("##"):
            row += vectors[ids("\n" + piece[2:])[line_break:]].sum(axis=0)
        else:
            row += (vectors[ids(piece)].sum(axis=0) + vectors[ids(piece.capitalize())].sum(axis=0)) / 2
    return rows


def rounded(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The int8 rows and their scales."""
    scales = (np.abs(part).max(axis=1) / 127).astype(np.float32)
    divisors = np.where(scales > 0, scales, 1).astype(np.float64)
    return np.rint(part / divisors[:, None]).astype(np.int8), scales


def distil(own: np.ndarray, other: np.ndarray, pieces: list[str]) -> list[np.ndarray]:
    """The parts of the table."""
    ordinary = np.array([not is_special(piece) for piece in pieces])
    centred = own - own[ordinary].mean(axis=0)
    weighted = other * rarity(pieces, SIF_A[1])[:, None]
    return [
        centred @ principal_axes(centred[ordinary], PART_DIMS) * rarity(pieces, SIF_A[0])[:, None],
        weighted @ principal_axes(weighted[ordinary], PART_DIMS),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder with model.safetensors and vocab.txt")
    parser.add_argument("--wordllama", type=Path, required=True, help="folder of the package, with weights and tokenizers")
    parser.add_argument("--out", type=Path, required=True, help="the table to write")
    args = parser.parse_args()

    vocab = (args.model / "vocab.txt").read_text(encoding="utf-8")
    pieces = vocab.removesuffix("\n").split("\n")
    own = tensor(args.model / "model.safetensors", "embeddings.word_embeddings.weight")
    if len(pieces) != len(own):
        raise SystemExit(f"{len(pieces)} pieces, but {len(own)} rows")
    vectors = tensor(args.wordllama / "weights" / "l2_supercat_256.safetensors", "embedding.weight")
    tokenizer = Tokenizer.from_file(str(args.wordllama / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    parts = [rounded(part) for part in distil(own, respelled(pieces, vectors, tokenizer), pieces)]

    text = ("\n".join(pieces) + "\n").encode()
    scales = np.stack([scales for _, scales in parts], axis=1)
    rows = np.concatenate([rows for rows, _ in parts], axis=1)
    payload = struct.pack("<2f", *WEIGHTS) + scales.astype("<f4").tobytes() + rows.tobytes() + text
    digest = hashlib.sha256(payload).digest()
    header = struct.pack("<8sIIIII32s", MAGIC, VERSION, len(parts), PART_DIMS, len(pieces), len(text), digest)
    args.out.write_bytes(header + payload)
    print(f"{args.out}: {len(header) + len(payload)} bytes, payload sha256 {digest.hex()}")


if __name__ == "__main__":
    main()
