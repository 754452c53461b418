"""Words of a text and sparse bags of them: the words of the encoder in `rust-parser/retrieval/src/encode/code.rs`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import scipy.sparse as sp

WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
MAX_TEXT = 3000
MIN_PIECE = 3
MAX_PIECED = 32
"""Longest unknown word that is cut into pieces."""


def words_of(text: str) -> list[str]:
    """Return the parts of the identifiers and words of a text, in lower case."""
    return [word.lower() for word in WORD.findall(text)]


class Vocabulary:
    """Words and their rows; an unknown word is cut into known ones."""

    def __init__(self, words: Sequence[str], *, pieces: bool = True) -> None:
        """`pieces` False: unknown words are dropped, as the first model does."""
        self.words = list(words)
        self.rows: Mapping[str, int] = {word: row for row, word in enumerate(words)}
        self._longest = max(map(len, words), default=0)
        self._pieces = pieces
        self._unknown: dict[str, list[int]] = {}

    def rows_of(self, words: Iterable[str]) -> list[int]:
        """Return the rows of words, in order."""
        found: list[int] = []
        for word in words:
            row = self.rows.get(word)
            if row is not None:
                found.append(row)
            elif self._pieces and word[0] > "9" and len(word) <= MAX_PIECED:
                if word not in self._unknown:
                    self._unknown[word] = self._cut(word)
                found += self._unknown[word]
        return found

    def _cut(self, word: str) -> list[int]:
        """Greedy longest match from the left; a letter that begins no known word is skipped."""
        found, at = list[int](), 0
        while at + MIN_PIECE <= len(word):
            for end in range(min(len(word), at + self._longest), at + MIN_PIECE - 1, -1):
                row = self.rows.get(word[at:end])
                if row is not None:
                    found.append(row)
                    at = end
                    break
            else:
                at += 1
        return found

    def bag(self, texts: Iterable[Sequence[str]]) -> sp.csr_matrix:
        """Return one row a text: the square roots of the frequencies of its words."""
        columns, values, starts = list[int](), list[int](), [0]
        for words in texts:
            counts = Counter(self.rows_of(words))
            columns += counts.keys()
            values += counts.values()
            starts.append(len(columns))
        data = np.sqrt(np.array(values, np.float32))
        shape = (len(starts) - 1, len(self.words))
        return sp.csr_matrix((data, np.array(columns, np.int32), np.array(starts, np.int64)), shape=shape)
