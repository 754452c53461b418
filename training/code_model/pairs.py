"""Pairs as sparse bags, kept in one file so that several runs of the training share the work."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from training.code_model.bags import MAX_TEXT, Vocabulary, words_of

MIN_FREQUENCY = 4
MAX_WORD = 24
FILE_NAME_WEIGHT = 3 / 4
"""A path counts 3 where the name of a function counts 4."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Bags of n pairs: first sentence, another sentence (may be empty), text, name; and what groups them."""

    words: list[str]
    frequency: Integers
    first: sp.csr_matrix
    other: sp.csr_matrix
    text: sp.csr_matrix
    name: sp.csr_matrix
    package: Integers
    place: Integers
    """Order of package, file and position: neighbours are of one file."""
    named: Integers
    """Hash of the name: equal for namesakes."""
    sentence: Integers
    """Hash of the first sentence."""


def read_pairs(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Yield the pairs of files that `mine` has written; identical code is kept once."""
    seen = set[int]()
    for path in paths:
        with path.open() as lines:
            for line in lines:
                pair = json.loads(line)
                digest = hash(pair["code"])
                if digest not in seen:
                    seen.add(digest)
                    yield pair


def choose_words(paths: Sequence[Path], size: int) -> tuple[list[str], Integers]:
    """Return the words in most pairs, most frequent first, and their frequencies."""
    counts: Counter[str] = Counter()
    for pair in read_pairs(paths):
        texts = (*pair["docs"], pair["cls"], pair["name"], pair["code"][:MAX_TEXT])
        counts.update({word for text in texts for word in words_of(text) if len(word) <= MAX_WORD})
    chosen = sorted((word for word, count in counts.items() if count >= MIN_FREQUENCY), key=lambda w: (-counts[w], w))
    return chosen[:size], np.array([counts[word] for word in chosen[:size]])


def build(paths: Sequence[Path], size: int) -> Pairs:
    """Read pairs and choose the vocabulary."""
    words, frequency = choose_words(paths, size)
    vocabulary = Vocabulary(words)
    packages: dict[str, int] = {}
    places: list[tuple[int, int, int]] = []
    named, sentences = list[int](), list[int]()
    for at, pair in enumerate(read_pairs(paths)):
        package = packages.setdefault(pair["pkg"], len(packages))
        places.append((package, zlib.crc32(pair["path"].encode()), at))
        named.append(zlib.crc32(pair["name"].lower().encode()))
        sentences.append(zlib.crc32(pair["docs"][0].lower().encode()))
    name = vocabulary.bag(words_of(f"{pair['cls']} {pair['name']}") for pair in read_pairs(paths))
    is_file = np.array([pair["kind"] == "file" for pair in read_pairs(paths)])
    place = np.empty(len(places), np.int64)
    place[sorted(range(len(places)), key=lambda at: places[at])] = np.arange(len(places))
    return Pairs(
        words,
        frequency,
        vocabulary.bag(words_of(pair["docs"][0]) for pair in read_pairs(paths)),
        vocabulary.bag(words_of(pair["docs"][-1] if len(pair["docs"]) > 1 else "") for pair in read_pairs(paths)),
        vocabulary.bag(words_of(pair["code"][:MAX_TEXT]) for pair in read_pairs(paths)),
        (sp.diags(np.where(is_file, FILE_NAME_WEIGHT, 1).astype(np.float32)) @ name).tocsr(),
        np.array([package for package, _, _ in places]),
        place,
        np.array(named),
        np.array(sentences),
    )


def save(pairs: Pairs, path: Path) -> None:
    """Write bags and groups."""
    bags = {key: getattr(pairs, key) for key in ("first", "other", "text", "name")}
    parts = {f"{key}_{part}": getattr(bag, part) for key, bag in bags.items() for part in ("data", "indices", "indptr")}
    groups = {key: getattr(pairs, key) for key in ("frequency", "package", "place", "named", "sentence")}
    np.savez(path, words=np.array("\n".join(pairs.words)), **parts, **groups)


def load(path: Path) -> Pairs:
    """Read what `save` has written."""
    with np.load(path) as stored:
        words = str(stored["words"]).split("\n")

        def bag(key: str) -> sp.csr_matrix:
            parts = tuple(stored[f"{key}_{part}"] for part in ("data", "indices", "indptr"))
            return sp.csr_matrix(parts, shape=(len(parts[2]) - 1, len(words)))

        groups = (stored[key] for key in ("package", "place", "named", "sentence"))
        return Pairs(words, stored["frequency"], bag("first"), bag("other"), bag("text"), bag("name"), *groups)
