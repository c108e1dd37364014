"""Measures a static table, or the model it was distilled from, on LoCoMo: evidence turns found by cosine alone.

Prints the mean share of a question's evidence turns among the ten and fifty most similar turns of its conversation,
for categories 1 to 4. LoCoMo is only ever measured with, never learnt from. With --pairs it prints the cosines that
the Rust tests hold the table to. With --words, words of other languages count as their English pieces.
"""

import argparse
import json
import os
import re
import struct
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402
from tokenizers.normalizers import BertNormalizer  # noqa: E402
from tokenizers.pre_tokenizers import BertPreTokenizer  # noqa: E402

PAIRS = [
    ("I bought a red bicycle last week", "She got a new bike in May"),
    ("I bought a red bicycle last week", "The quarterly tax filing is due"),
    ("How do I bake sourdough bread?", "My loaf needs a longer rise, 我喜欢"),
    ("naïve café owner", "the owner of the cafe"),
    ("Meine Schwester hat einen Hund", "my sister has a dog"),
    ("猫が好きです", "I have a cat"),
]


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


class Words:
    """The words of other languages, read back from their file: each has three pieces, which count a third."""

    PIECES, CHARS_MAX, UNSPACED, SHARED, SHARE_MIN = 3, 16, "\u1100", 0x8000, 0.15
    NORMAL = BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=True, lowercase=True)

    def __init__(self, path: Path):
        raw = path.read_bytes()
        (count,) = struct.unpack_from("<I", raw, 12)
        hashes = struct.unpack_from(f"<{count}I", raw, 48)
        pieces = np.frombuffer(raw, "<u2", count * self.PIECES, 48 + 4 * count).reshape(count, self.PIECES)
        self.pieces = dict(zip(hashes, pieces))

    def find(self, word: str):
        number = 0x811C9DC5
        for byte in word.encode():
            number = ((number ^ byte) * 0x01000193) & 0xFFFFFFFF
        return self.pieces.get(number)

    def is_unspaced(self, letter: str) -> bool:
        return letter >= self.UNSPACED and letter.isalpha()

    def take(self, text: str) -> tuple[list, str]:
        """The words of a text without spaces, the longest first, and the text that is left."""
        if not any(map(self.is_unspaced, text)):
            return [], text
        text, found, left, at = self.NORMAL.normalize_str(text), [], "", 0
        while at < len(text):
            end = at
            while end < min(len(text), at + self.CHARS_MAX) and self.is_unspaced(text[end]):
                end += 1
            known = next((end for end in range(end, at, -1) if self.find(text[at:end]) is not None), None)
            if known is None:
                left, at = left + text[at], at + 1
            else:
                found.append(self.find(text[at:known]))
                left, at = left + " ", known
        return found, left

    def cut(self, text: str, tokenizer: Tokenizer) -> list[tuple[int, float]]:
        """Each piece of a text with what it counts. Only a text with enough words that English lacks is read as another language's."""
        found, left = self.take(text)
        words = [word for word, _ in BertPreTokenizer().pre_tokenize_str(BertNormalizer().normalize_str(left))]
        known = [(word, self.find(word)) for word in words]
        foreign = len(found) + sum(pieces is not None and not pieces[0] & self.SHARED for _, pieces in known)
        if not foreign or foreign < self.SHARE_MIN * (len(found) + sum(word[0].isalpha() for word in words)):
            return [(piece, 1.0) for piece in tokenizer.encode(text, add_special_tokens=False).ids]
        found += [pieces for _, pieces in known if pieces is not None]
        rest = [tokenizer.encode(word, add_special_tokens=False).ids for word, pieces in known if pieces is None]
        counted = [(piece, 1.0) for pieces in rest for piece in pieces]
        return counted + [(piece % self.SHARED, 1 / self.PIECES) for pieces in found for piece in pieces]


class Table:
    """A static table, read back from its file."""

    def __init__(self, path: Path, tokenizer: Tokenizer, words: Words | None = None):
        self.words = words
        raw = path.read_bytes()
        _, _, parts, dims, count, _, _ = struct.unpack_from("<8sIIIII32s", raw)
        self.weights = np.frombuffer(raw, "<f4", parts, 60)
        scales = np.frombuffer(raw, "<f4", count * parts, 60 + 4 * parts).reshape(count, parts, 1)
        start = 60 + 4 * parts * (1 + count)
        rows = np.frombuffer(raw, np.int8, count * parts * dims, start).reshape(count, parts, dims)
        self.parts = (rows * scales).transpose(1, 0, 2)
        self.tokenizer = tokenizer

    def embed(self, texts: list[str]) -> np.ndarray:
        if self.words:
            counted = [self.words.cut(text, self.tokenizer) for text in texts]
        else:
            encoded = self.tokenizer.encode_batch(texts, add_special_tokens=False)
            counted = [[(piece, 1.0) for piece in each.ids] for each in encoded]
        pieces = [([piece for piece, _ in each], np.array([[share] for _, share in each])) for each in counted]
        sums = [unit(np.stack([(rows[ids] * shares.reshape(-1, 1)).sum(axis=0) for ids, shares in pieces])) for rows in self.parts]
        return unit(np.concatenate([weight * sum for weight, sum in zip(self.weights, sums)], axis=1))


class Bert:
    """The full model: mean-pooled BERT in plain numpy."""

    LAYERS, HEADS, TOKENS_MAX = 6, 12, 256

    def __init__(self, folder: Path, tokenizer: Tokenizer):
        raw = (folder / "model.safetensors").read_bytes()
        (start,) = struct.unpack_from("<Q", raw)
        start += 8
        self.weights = {
            name: np.frombuffer(raw[start + entry["data_offsets"][0] : start + entry["data_offsets"][1]], "<f4").reshape(
                entry["shape"]
            )
            for name, entry in json.loads(raw[8:start]).items()
            if entry.get("dtype") == "F32"
        }
        self.tokenizer = tokenizer

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        flat = x.reshape(-1, x.shape[-1]) @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]
        return flat.reshape(*x.shape[:-1], -1)

    def norm(self, name: str, x: np.ndarray) -> np.ndarray:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return scaled * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def layer(self, at: str, x: np.ndarray, mask: np.ndarray) -> np.ndarray:
        count, length, dims = x.shape
        split = lambda y: y.reshape(count, length, self.HEADS, -1).transpose(0, 2, 1, 3)  # noqa: E731
        q, k, v = (split(self.linear(f"{at}.attention.self.{part}", x)) for part in ("query", "key", "value"))
        scores = q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(dims / self.HEADS))
        scores = np.where(mask[:, None, None, :], scores, np.float32(-1e9))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ v
        mixed = mixed.transpose(0, 2, 1, 3).reshape(count, length, dims)
        x = self.norm(f"{at}.attention.output.LayerNorm", self.linear(f"{at}.attention.output.dense", mixed) + x)
        inner = gelu(self.linear(f"{at}.intermediate.dense", x))
        return self.norm(f"{at}.output.LayerNorm", self.linear(f"{at}.output.dense", inner) + x)

    def embed(self, texts: list[str]) -> np.ndarray:
        ids = [e.ids for e in self.tokenizer.encode_batch(texts)]
        ids = [i if len(i) <= self.TOKENS_MAX else i[: self.TOKENS_MAX - 1] + i[-1:] for i in ids]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        out = np.zeros((len(ids), 384), np.float32)
        for start in range(0, len(order), 64):
            batch = order[start : start + 64]
            length = max(len(ids[i]) for i in batch)
            mask = np.array([[t < len(ids[i]) for t in range(length)] for i in batch])
            padded = np.array([ids[i] + [0] * (length - len(ids[i])) for i in batch])
            x = self.weights["embeddings.word_embeddings.weight"][padded]
            x = x + self.weights["embeddings.position_embeddings.weight"][:length]
            x = self.norm("embeddings.LayerNorm", x + self.weights["embeddings.token_type_embeddings.weight"][0])
            for i in range(self.LAYERS):
                x = self.layer(f"encoder.layer.{i}", x, mask)
            out[batch] = (x * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return unit(out)


def gelu(x: np.ndarray) -> np.ndarray:
    """x * Phi(x); erf by its rational approximation 7.1.26 of Abramowitz and Stegun, good to 2e-7."""
    y = np.abs(x) / np.float32(np.sqrt(2))
    t = 1 / (1 + np.float32(0.3275911) * y)
    tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return (x * 0.5 * (1 + np.sign(x) * (1 - tail * np.exp(-y * y)))).astype(np.float32)


def conversations(path: Path):
    """Each conversation's turns as `speaker: text [image: caption]`, and its questions with evidence turns."""
    for record in json.loads(path.read_text(encoding="utf-8")):
        turns, places = [], {}
        for number in range(1, 1 + len(record["conversation"])):
            for turn in record["conversation"].get(f"session_{number}", []):
                caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
                places[turn["dia_id"]] = len(turns)
                turns.append(f"{turn['speaker']}: {turn['text']}{caption}")
        questions = []
        for question in record["qa"]:
            named = re.findall(r"D(\d+):(\d+)", " ".join(question.get("evidence", [])))
            evidence = {places[d] for d in (f"D{int(s)}:{int(t)}" for s, t in named) if d in places}
            if evidence and question["category"] != 5:
                questions.append((question["question"], evidence))
        yield turns, questions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder with tokenizer.json and model.safetensors")
    parser.add_argument("--table", type=Path, help="measure this table instead of the full model")
    parser.add_argument("--words", type=Path, help="words of other languages, for the table")
    parser.add_argument("--locomo", type=Path, help="locomo10.json")
    parser.add_argument("--pairs", action="store_true", help="print the cosines of the pairs in this script")
    args = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    embedder = Table(args.table, tokenizer, args.words and Words(args.words)) if args.table else Bert(args.model, tokenizer)
    if args.pairs:
        for a, b in PAIRS:
            va, vb = embedder.embed([a, b])
            print(f"{va @ vb:.5f}  {a!r}  {b!r}")
    if args.locomo:
        found = {10: [], 50: []}
        for turns, questions in conversations(args.locomo):
            scores = embedder.embed([text for text, _ in questions]) @ embedder.embed(turns).T
            for (_, evidence), row in zip(questions, scores):
                ranked = np.argsort(-row, kind="stable")
                for k, shares in found.items():
                    shares.append(len(evidence & set(ranked[:k].tolist())) / len(evidence))
        for k, shares in found.items():
            print(f"recall@{k}: {np.mean(shares):.4f} ({len(shares)} questions)")


if __name__ == "__main__":
    main()
