"""Stored papers by words: BM25 over stems of title, abstract and authors, in memory."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from dataclasses import dataclass, field

from atlas.core.paper_source import Paper
from atlas.parsing import split_words, stem_words

K1, B = 1.2, 0.75
"""BM25's usual constants."""
MAX_POSTINGS = 30_000
"""Postings that a question reads; words come rarest first, and those after it weigh next to nothing."""
TITLE_WEIGHT = 3
"""A word in the title counts like three in the abstract."""


@dataclass(slots=True)
class Words:
    """Postings of stems: numbers of papers with how often the word occurs, and the length of each paper."""

    postings: dict[str, tuple[array[int], array[int]]] = field(
        default_factory=dict[str, "tuple[array[int], array[int]]"]
    )
    lengths: dict[int, int] = field(default_factory=dict[int, int])
    total: int = 0

    def put(self, number: int, paper: Paper) -> None:
        """Add a paper under the next number."""
        counts = Counter(_stems(f"{paper.summary} {' '.join(paper.authors)}"))
        for word in _stems(paper.title):
            counts[word] += TITLE_WEIGHT
        length = sum(counts.values())
        self.lengths[number] = length
        self.total += length
        for word, count in counts.items():
            numbers, times = self.postings.setdefault(word, (array("I"), array("H")))
            numbers.append(number)
            times.append(min(count, 65_535))

    def scores(self, text: str) -> dict[int, float]:
        """Return the score of each paper that has a word of the text."""
        count = len(self.lengths)
        average = self.total / count if count else 1.0
        known = [self.postings[word] for word in dict.fromkeys(_stems(text)) if word in self.postings]
        totals: dict[int, float] = {}
        read = 0
        for numbers, times in sorted(known, key=lambda one: len(one[0])):
            read += len(numbers)
            if read > MAX_POSTINGS and totals:
                break
            weight = math.log(1 + (count - len(numbers) + 0.5) / (len(numbers) + 0.5)) * (K1 + 1)
            lengths = self.lengths
            for number, often in zip(numbers, times, strict=True):
                share = often / (often + K1 * (1 - B + B * lengths[number] / average))
                totals[number] = totals.get(number, 0.0) + weight * share
        return totals


def _stems(text: str) -> list[str]:
    return stem_words(text).split() or split_words(text)
