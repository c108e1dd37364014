"""Makes `words-v1.bin`: the most frequent words of other languages, each with three English pieces of the static table.

A form is brought to its lemma (simplemma), the lemma to its synsets (Wiktionary's words in the Open Multilingual
Wordnet), and a synset to its English words, weighed by how often WordNet's authors met each sense. README.md says how to run it
and what it brought; docs/internals/embeddings.md describes the file. The same inputs give the same bytes.
"""

import argparse
import collections
import gzip
import hashlib
import struct
from pathlib import Path

import msgpack
import simplemma
from tokenizers.normalizers import BertNormalizer

MAGIC = b"QUIPUWRD"
VERSION = 1
# The language of simplemma and wordfreq, the one of the Open Multilingual Wordnet.
LANGUAGES = {
    "ar": "arb", "bg": "bul", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "es": "spa", "fa": "fas", "fi": "fin",
    "fr": "fra", "he": "heb", "hi": "hin", "hu": "hun", "id": "ind", "is": "isl", "it": "ita", "ja": "jpn", "ko": "kor", "lt": "lit",
    "lv": "lav", "nb": "nob", "nl": "nld", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus", "sh": "hbs", "sk": "slk", "sl": "slv",
    "sv": "swe", "tr": "tur", "uk": "ukr", "zh": "cmn",
}  # fmt: skip
# simplemma's name for a language, where it is another one.
LEMMAS = {"sh": "hbs"}
# Frequencies by Zipf's scale: 9 minus the common logarithm of one word in so many, so 3 is once in a million words.
RAREST = 3.0
# An English word is not taken for a foreign one, unless the foreign one is ten times as frequent.
MARGIN = 1.0
# A word that English uses this often is taken for the foreign one only among other foreign words. It has a mark.
ENGLISH = 3.0
SHARED = 0x8000
# A word this frequent without a meaning of its own is a word of the grammar. It counts nothing, as `the` does.
GRAMMAR = 5.0
# A translation that is less of the meaning than this is left out.
SHARE_MIN = 0.1
PIECES = 3
NOTHING = "[PAD]"
FNV_START, FNV_PRIME = 0x811C9DC5, 0x01000193

normalizer = BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=True, lowercase=True)


def frequencies(folder: Path, language: str) -> dict[str, float]:
    """Zipf's frequency of each word that wordfreq knows, falling."""
    sizes = (folder / f"{size}_{language}.msgpack.gz" for size in ("large", "small"))
    buckets = msgpack.unpackb(gzip.open(next(path for path in sizes if path.exists())).read(), raw=False)
    return {word: 9 - centibels / 100 for centibels, words in enumerate(buckets[1:]) for word in words}


def english(folder: Path) -> dict[str, list[tuple[str, int]]]:
    """The English words of each synset of WordNet 3.0, with how often each was met in this sense."""
    kinds = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
    synsets = collections.defaultdict(list)
    for line in (folder / "index.sense").read_text().splitlines():
        sense, offset, _, count = line.split()
        word, _, place = sense.partition("%")
        synsets[f"{offset}-{kinds[place[0]]}"].append((word, int(count)))
    return synsets


def lemmas(folder: Path, language: str) -> dict[str, set[str]]:
    """The synsets of each lemma of a language."""
    found = collections.defaultdict(set)
    path = folder / "wns" / "wikt" / f"wn-wikt-{language}.tab"
    for line in path.read_text(encoding="utf-8").splitlines():
        synset, _, kind_and_word = line.partition("\t")
        kind, _, word = kind_and_word.partition("\t")
        if kind.endswith(":lemma"):
            found[word.strip().lower()].add(synset.replace("-s", "-a"))
    return found


def is_unspaced(word: str) -> bool:
    """Whether a script writes words without spaces or with endings, as Chinese, Japanese and Korean do."""
    return any(character >= "\u1100" for character in normalizer.normalize_str(word))


def lemma_of(word: str, language: str) -> list[str]:
    """The forms to look up for a word: itself, then its lemma."""
    try:
        name = LEMMAS.get(language, language)
        return [word, *(simplemma.lemmatize(form, lang=name).lower() for form in (word, word.capitalize()))]
    except ValueError:
        return [word]


def translations(synsets: set[str], meanings: dict[str, list[tuple[str, int]]], known: dict[str, float]) -> list[tuple[str, float]]:
    """The English words for a lemma, the likeliest first, as shares of its meaning."""
    shares = collections.Counter()
    for synset in sorted(synsets & meanings.keys()):
        words = meanings[synset]
        met = sum(count for _, count in words)
        for word, count in words:
            likely = 1.0 if word.split("_")[0] in known else 0.2
            shares[word] += likely * (met + 0.5) * (count + 0.2) / (met + 0.2 * len(words))
    best = sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))[:PIECES]
    total = sum(share for _, share in best)
    return [(word, share / total) for word, share in best]


def pieces(shares: list[tuple[str, float]], ids: dict[str, int]) -> list[int]:
    """Three pieces of the table, the likeliest word more than once where it is most of the meaning."""
    shares = [(word, share) for word, share in shares if share >= SHARE_MIN and word in ids]
    total = sum(share for _, share in shares)
    chosen = [ids[word] for word, share in shares[1:] for _ in range(round(PIECES * share / total))]
    return [ids[shares[0][0]]] * (PIECES - len(chosen)) + chosen if shares else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path, required=True, help="static-v2.bin, for its vocabulary")
    parser.add_argument("--omw", type=Path, required=True, help="a clone of omwn/omw-data")
    parser.add_argument("--wordnet", type=Path, required=True, help="folder with index.sense of WordNet 3.0")
    parser.add_argument("--wordfreq", type=Path, required=True, help="folder with the frequencies of wordfreq")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()

    raw = args.table.read_bytes()
    (vocab_bytes,) = struct.unpack_from("<I", raw, 24)
    ids = {piece: number for number, piece in enumerate(raw[-vocab_bytes:].decode().splitlines())}
    known = frequencies(args.wordfreq, "en")
    meanings = english(args.wordnet)
    chosen: dict[str, tuple[float, list[int]]] = {}
    for language, name in LANGUAGES.items():
        synsets = lemmas(args.omw, name)
        words = frequencies(args.wordfreq, language)
        # What is written without spaces is looked up by its beginnings, so every lemma helps.
        words |= {lemma: 2.0 for lemma in synsets if is_unspaced(lemma) and lemma not in words}
        for word, frequency in words.items():
            key = normalizer.normalize_str(word)
            if not word.isalpha() or (frequency < RAREST and not is_unspaced(word)) or len(key) < 2 and key < "\u4e00":
                continue
            own = max(known.get(word, 0.0), known.get(key, 0.0))
            if (frequency < own + MARGIN and not is_unspaced(word)) or chosen.get(key, (-1.0,))[0] >= frequency:
                continue
            found = set().union(*(synsets.get(lemma, ()) for lemma in lemma_of(word, language)))
            if three := pieces(translations(found, meanings, known), ids) or ([ids[NOTHING]] * PIECES if frequency >= GRAMMAR else []):
                chosen[key] = (frequency, [three[0] | SHARED * (own >= ENGLISH), *three[1:]])
        print(language, len(chosen))
    hashes: dict[int, tuple[float, list[int]]] = {}
    for key, entry in chosen.items():
        number = FNV_START
        for byte in key.encode():
            number = ((number ^ byte) * FNV_PRIME) & 0xFFFFFFFF
        hashes[number] = max(hashes.get(number, entry), entry)
    order = sorted(hashes)
    body = b"".join(struct.pack("<I", number) for number in order)
    body += b"".join(struct.pack("<3H", *hashes[number][1]) for number in order)
    args.out.write_bytes(MAGIC + struct.pack("<II", VERSION, len(order)) + hashlib.sha256(body).digest() + body)
    print(f"{len(order)} words, {args.out.stat().st_size} bytes, SHA-256 {hashlib.sha256(args.out.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
