"""Stored papers by meaning and words: vectors of the prose model and BM25 over stems, in memory, by digest.

A paper is embedded once per process and again only when its text changes. The fusion is that of notes.
"""

from __future__ import annotations

import math
import threading
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from atlas.contracts import Embedder
from atlas.model import Chunk, Scored
from atlas.paper_source import Paper
from atlas.papers.record import digest_of, text_of
from atlas.parsing import VectorIndex, split_words, stem_words
from atlas.search.fuse import WORDS_WEIGHT, normalised, order, prose_scores
from atlas.threads import in_thread

BATCH = 512
"""Papers that are embedded at once."""
CANDIDATES = 200
"""Hits of each channel that are fused."""
K1, B = 1.2, 0.75
"""BM25's usual constants."""
MAX_POSTINGS = 30_000
"""Postings that a question reads; words come rarest first, and those after it weigh next to nothing."""
TITLE_WEIGHT = 3
"""A word in the title counts like three in the abstract."""


@dataclass(slots=True)
class _Words:
    """Postings of stems: numbers of papers with how often the word occurs, and the length of each paper."""

    postings: dict[str, tuple[array[int], array[int]]] = field(
        default_factory=dict[str, "tuple[array[int], array[int]]"]
    )
    lengths: dict[int, int] = field(default_factory=dict[int, int])
    total: int = 0

    def put(self, number: int, paper: Paper) -> None:
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


class PaperIndex:
    """An index of the papers that it is given; use from one event loop."""

    def __init__(self, embedder: Embedder | None) -> None:
        """`embedder` None: words only."""
        self._embedder = embedder
        self._reset()

    async def search(self, papers: Mapping[str, Paper], text: str, allowed: Set[str] | None, most: int) -> list[Scored]:
        """Return the best of `papers` for a question, best first; `allowed` restricts them."""
        await self._update(papers)
        found = self._words.scores(text)
        words = self._best(found, allowed)
        meaning: list[Scored] = []
        if self._vectors is not None and self._embedder is not None:
            query = await self._embedder.embed_query(text)
            numbers = None
            if allowed is not None:
                numbers = array("q", sorted(self._numbers[one] for one in allowed)).tobytes()
            hits = self._vectors.search(query, CANDIDATES, numbers) if any(query) else []
            meaning = [Scored(self._ids[number], score) for number, score in hits]
        scores = prose_scores(meaning, words)
        weight = WORDS_WEIGHT if meaning else 1.0
        for uid, score in normalised(words).items():
            scores[uid] = scores.get(uid, 0.0) + weight * score
        return order(scores)[:most]

    async def near(self, papers: Mapping[str, Paper], paper: Paper, most: int) -> list[Scored]:
        """Return the papers whose text is closest to that of a paper, without it; nothing without an embedder."""
        await self._update(papers)
        if self._vectors is None or self._embedder is None:
            return []
        query = await self._embedder.embed_query(text_of(paper))
        hits = self._vectors.search(query, most + 1) if any(query) else []
        return [Scored(self._ids[number], score) for number, score in hits if self._ids[number] != paper.id][:most]

    def _reset(self) -> None:
        self._words = _Words()
        self._vectors: VectorIndex | None = None
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []
        self._known: dict[str, Paper] = {}
        self._digests: dict[str, str] = {}
        self._kept: dict[str, bytes] = {}
        self._changing = threading.Lock()

    async def _update(self, papers: Mapping[str, Paper]) -> None:
        """Take what is new. A paper that has changed or is gone is rare: everything is then put again."""
        known = self._known
        if len(known) <= len(papers) and all(papers.get(one) is paper for one, paper in known.items()):
            new = [paper for one, paper in papers.items() if one not in known] if len(known) < len(papers) else []
        else:
            digests = {one: digest_of(paper) for one, paper in papers.items()}
            if any(digests.get(one) != digest for one, digest in self._digests.items()):
                kept = {digest: self._kept[digest] for digest in self._digests.values() if digest in self._kept}
                self._reset()
                self._kept = kept
            self._known = {one: papers[one] for one in self._digests}
            new = [paper for one, paper in papers.items() if one not in self._digests]
        for start in range(0, len(new), BATCH):
            await self._put(new[start : start + BATCH])

    async def _put(self, papers: Sequence[Paper]) -> None:
        digests = [digest_of(paper) for paper in papers]
        missing = {
            digest: paper for digest, paper in zip(digests, papers, strict=True) if digest not in self._kept
        } if self._embedder is not None else {}  # fmt: skip
        made: list[bytes] = []
        if self._embedder is not None and missing:
            chunks = [Chunk(one.id, digest, one.title, text_of(one), False) for digest, one in missing.items()]
            made = await self._embedder.embed_chunks(chunks)
            self._kept.update(zip(missing, made, strict=True))
        dimension = (await self._embedder.info()).dimension if self._embedder is not None else 0
        await in_thread(self._take, papers, digests, dimension)

    def _take(self, papers: Sequence[Paper], digests: Sequence[str], dimension: int) -> None:
        with self._changing:
            first = len(self._ids)
            for number, (paper, digest) in enumerate(zip(papers, digests, strict=True), first):
                self._ids.append(paper.id)
                self._numbers[paper.id] = number
                self._known[paper.id] = paper
                self._digests[paper.id] = digest
                self._words.put(number, paper)
            if dimension:
                if self._vectors is None:
                    self._vectors = VectorIndex(dimension)
                numbers = list(range(first, first + len(papers)))
                self._vectors.put(numbers, [self._kept[digest] for digest in digests])

    def _best(self, scores: Mapping[int, float], allowed: Set[str] | None) -> list[Scored]:
        import heapq

        ids = self._ids
        chosen = scores.items()
        if allowed is not None:
            chosen = [(number, score) for number, score in chosen if ids[number] in allowed]
        best = heapq.nlargest(CANDIDATES, chosen, key=lambda one: one[1])
        return [Scored(ids[number], score) for number, score in best]


def _stems(text: str) -> list[str]:
    return stem_words(text).split() or split_words(text)
