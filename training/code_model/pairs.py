"""Pairs as sparse bags, kept in one file so that several runs of the training share the work."""

from __future__ import annotations

import json
import zlib
from array import array
from collections import Counter, defaultdict
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


class _Counts:
    """Words of texts by provisional numbers, row by row."""

    def __init__(self) -> None:
        self._columns, self._values, self._starts = array("i"), array("f"), array("q", [0])

    def add(self, counts: Counter[int], weight: float = 1.0) -> None:
        """Add the next row."""
        self._columns.extend(counts)
        self._values.extend(counts.values())
        if weight != 1:
            # Roots are taken afterwards
            for at in range(self._starts[-1], len(self._values)):
                self._values[at] *= weight**2
        self._starts.append(len(self._columns))

    def bag(self, rows_of_words: sp.csr_matrix) -> sp.csr_matrix:
        """Return the roots of the frequencies, by rows of the vocabulary."""
        shape = (len(self._starts) - 1, rows_of_words.shape[0])
        parts = (np.array(self._values), np.array(self._columns), np.array(self._starts))
        found = (sp.csr_matrix(parts, shape=shape) @ rows_of_words).tocsr()
        found.data = np.sqrt(found.data)
        return found


def build(paths: Sequence[Path], size: int) -> Pairs:
    """Read pairs, and choose the words that are in most of them as the vocabulary."""
    numbers: dict[str, int] = defaultdict(lambda: len(numbers))
    packages: dict[str, int] = defaultdict(lambda: len(packages))
    frequency: Counter[int] = Counter()
    first, other, text, name = fields = [_Counts() for _ in range(4)]
    places, named, sentences = list[tuple[int, int, int]](), list[int](), list[int]()
    for at, pair in enumerate(read_pairs(paths)):
        docs = pair["docs"]
        texts = (docs[0], docs[-1] if docs[1:] else "", pair["code"][:MAX_TEXT], f"{pair['cls']} {pair['name']}")
        counts = [Counter(numbers[word] for word in words_of(each)) for each in texts]
        for field, words in zip((first, other, text), counts, strict=False):
            field.add(words)
        name.add(counts[3], FILE_NAME_WEIGHT if pair["kind"] == "file" else 1.0)
        frequency.update(set().union(*counts))
        places.append((packages[pair["pkg"]], zlib.crc32(pair["path"].encode()), at))
        named.append(zlib.crc32(pair["name"].lower().encode()))
        sentences.append(zlib.crc32(docs[0].lower().encode()))
    words = [word for word, number in numbers.items() if frequency[number] >= MIN_FREQUENCY and len(word) <= MAX_WORD]
    words = sorted(words, key=lambda word: (-frequency[numbers[word]], word))[:size]
    rows_of_words = _rows_of_words(list(numbers), Vocabulary(words))
    place = np.empty(len(places), np.int64)
    place[sorted(range(len(places)), key=lambda at: places[at])] = np.arange(len(places))
    return Pairs(
        words,
        np.array([frequency[numbers[word]] for word in words]),
        *(field.bag(rows_of_words) for field in fields),
        np.array([package for package, _, _ in places]),
        place,
        np.array(named),
        np.array(sentences),
    )


def _rows_of_words(words: Sequence[str], vocabulary: Vocabulary) -> sp.csr_matrix:
    """Return the rows that each word counts for: its own, those of its pieces, or none."""
    rows = [vocabulary.rows_of([word]) for word in words]
    starts = np.cumsum([0, *map(len, rows)])
    columns = np.array([row for each in rows for row in each], np.int32)
    shape = (len(words), len(vocabulary.words))
    return sp.csr_matrix((np.ones(len(columns), np.float32), columns, starts), shape=shape)


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
