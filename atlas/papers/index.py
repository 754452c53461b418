"""Stored papers by meaning and words: vectors of the prose model and BM25 over stems, by digest.

A paper is read and embedded once, and again only when its text changes: `atlas.papers.index_file` keeps the index for
the next process. The fusion is that of notes.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

from atlas import __version__
from atlas.code.retrieve.fuse import WORDS_WEIGHT, normalised, order, prose_scores
from atlas.core.contracts import Embedder
from atlas.core.model import Chunk, Scored
from atlas.core.paper_source import Paper
from atlas.core.threads import in_thread
from atlas.papers.index_file import IndexContent, read_index, write_index
from atlas.papers.record import digest_of, text_of
from atlas.papers.words import Words
from atlas.parsing import VectorIndex

BATCH = 512
"""Papers that are embedded at once."""
CANDIDATES = 200
"""Hits of each channel that are fused."""
MIN_UNSAVED = 64
"""New papers from which the index is written: to read and embed fewer takes less time than to write it."""


class PaperIndex:
    """An index of the papers that it is given; use from one event loop."""

    def __init__(self, embedder: Embedder | None, file: Path | None = None) -> None:
        """`embedder` None: words only. `file` keeps the index between processes."""
        self._embedder, self._file = embedder, file
        self._reset()
        self._opened = file is None
        self._unsaved = 0

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
        self._words = Words()
        self._vectors: VectorIndex | None = None
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []
        self._known: dict[str, Paper] = {}
        self._digests: dict[str, str] = {}
        self._kept: dict[str, bytes] = {}
        self._changing = threading.Lock()

    async def _update(self, papers: Mapping[str, Paper]) -> None:
        """Take what is new. A paper that has changed or is gone is rare: everything is then put again."""
        if not self._opened:
            self._opened = True
            await self._open(papers)
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
        self._unsaved += len(new)
        if self._file is not None and self._unsaved >= MIN_UNSAVED:
            self._unsaved = 0
            await in_thread(write_index, self._file, await self._model(), self._content())

    async def _model(self) -> str:
        """Return what vectors and words depend on besides the texts."""
        return repr((__version__, await self._embedder.info() if self._embedder is not None else None))

    def _content(self) -> IndexContent:
        digests = [self._digests[one] for one in self._ids]
        return IndexContent(
            tuple(self._ids), tuple(digests), self._words, [self._kept.get(one, b"") for one in digests]
        )

    async def _open(self, papers: Mapping[str, Paper]) -> None:
        """Take the index of an earlier process; of one that has papers that changed or are gone, the vectors only."""
        assert self._file is not None
        found = await in_thread(read_index, self._file, await self._model())
        if found is None:
            return
        self._kept = {digest: data for digest, data in zip(found.digests, found.vectors, strict=True) if data}
        stored = zip(found.ids, found.digests, strict=True)
        if not all(one in papers and digest_of(papers[one]) == digest for one, digest in stored):
            return
        dimension = (await self._embedder.info()).dimension if self._embedder is not None else 0
        await in_thread(self._take, [papers[one] for one in found.ids], found.digests, dimension, found.words)

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

    def _take(
        self, papers: Sequence[Paper], digests: Sequence[str], dimension: int, words: Words | None = None
    ) -> None:
        """Add papers; `words`, if given, has their words already."""
        with self._changing:
            first = len(self._ids)
            for number, (paper, digest) in enumerate(zip(papers, digests, strict=True), first):
                self._ids.append(paper.id)
                self._numbers[paper.id] = number
                self._known[paper.id] = paper
                self._digests[paper.id] = digest
                if words is None:
                    self._words.put(number, paper)
            self._words = words or self._words
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
