"""How well whole files match the words of a question: BM25 over files, from the counts of `Store.count_words`. Pure.

A definition seldom contains every word of a question; its file does. The words of a file are the nodes that contain
them, so that one long function does not outweigh ten short ones, and its length is its number of nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log

from atlas.core.english.stems import root_of
from atlas.core.model import WordCounts

_K1, _B = 1.2, 0.75
"""The constants of FTS5's `bm25`."""


@dataclass(frozen=True, slots=True)
class FileMatches:
    """How well files match the question, and how rare its words are."""

    scores: Mapping[str, float]
    """0..1 by path, 1 for the best file; files without any word are omitted."""
    rarity: Mapping[str, float]
    """Inverse document frequency of each root of the question's words; 0 for words that are everywhere or nowhere."""

    def share(self, roots: frozenset[str]) -> float:
        """Return the share of the question's rarity that these roots have, 0..1."""
        total = sum(self.rarity.values())
        return fsum(self.rarity.get(root, 0.0) for root in roots) / total if total else 0.0


def match_files(counts: WordCounts, words: Sequence[str], variants: Sequence[str]) -> FileMatches:
    """Return the matches of all files for a question's words and their other forms."""
    size = len(counts.nodes)
    mean = sum(counts.nodes.values()) / size if size else 1.0
    by_length = {path: _K1 * (1 - _B + _B * (nodes / mean)) for path, nodes in counts.nodes.items()}
    usual = _K1 * (1 - _B + _B * (mean / mean)) if mean else 0.0
    scores: dict[str, float] = defaultdict(float)
    rarity = dict.fromkeys(map(root_of, words), 0.0)
    for word in dict.fromkeys((*words, *variants)):
        files = counts.words.get(word)
        if not files:
            continue
        weight = idf(size, len(files))
        root = root_of(word)
        if root in rarity:
            rarity[root] = max(rarity[root], weight)
        for path, count in files.items():
            scores[path] += weight * count * (_K1 + 1) / (count + by_length.get(path, usual))
    best = max(scores.values(), default=0.0)
    return FileMatches({path: score / best for path, score in scores.items()} if best > 0 else {}, rarity)


def idf(size: int, files: int) -> float:
    """Return the inverse document frequency of a word that some of `size` files have, as BM25 defines it."""
    return log(1 + (size - files + 0.5) / (files + 0.5))
