"""What speaks for whole files besides their BM25: their own vectors, mentions in documents, the words they cover.

A question in other words than the code seldom matches the definition that is asked for, but often what stands around
it: the start of its file, or a section of the documentation that mentions what the file defines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from atlas.code.question.parse_question import Query
from atlas.code.rank.rank import Candidate
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import Ranking
from atlas.code.retrieve.fuse import above_floor
from atlas.core.errors import AtlasError
from atlas.core.labels import DOCUMENT_LABELS
from atlas.core.model import Edge, Filter, Label, Scored

FILE_MEANING, MENTIONS = "file_meaning", "mentions"
"""The names of the rankings. The hits of `by_file_meaning` are nodes; those that reach the features are paths."""
FILES = 60
"""Files by meaning: with 30 to 150, NDCG@10 of files differs by .006 (docs/measurements/search.md)."""
MENTIONS_EACH = 20
"""Mentions of a section that are read."""
HEADING_WORDS = 6
"""Of 150 headings, few are longer."""
FULL_LIFT = 0.3
"""Bonus of a title (`titles.py`) from which on the document of that title is the answer, and files do not count."""
_FILE_LABELS = (Label.MODULE, Label.FILE)


def asks_for_files(query: Query) -> bool:
    """Return whether evidence about files counts: not for a name, which has one place, nor for a heading."""
    if query.focus >= 1 or not query.words:
        return False
    text = query.text.strip()
    is_heading = text[:1].isupper() and len(text.split()) <= HEADING_WORDS and "?" not in text and not query.states
    return not is_heading


async def by_file_meaning(reader: Reader, query: Query, where: Filter) -> Ranking:
    """Find the files whose own text, their beginning, is nearest to the question. It fails without a note.

    The channel of meaning says what is wrong; its hits must not be empty, or the vectors are of another model.
    """
    if not asks_for_files(query):
        return Ranking(FILE_MEANING)
    try:
        vector = await reader.embedder.embed_query(query.text)
        among = replace(where, labels=_FILE_LABELS)
        hits = await reader.store.search_vector(vector, among, FILES) if any(vector) else []
    except AtlasError:
        return Ranking(FILE_MEANING)
    return Ranking(FILE_MEANING, tuple(hit for hit in hits if hit.score > 0))


def wants_mentions(reader: Reader, query: Query) -> bool:
    """Return whether the mentions in documents are to be read."""
    return MENTIONS not in reader.ranking.off and asks_for_files(query)


def nearest_files(hits: Sequence[Scored], paths: Mapping[str, str]) -> Ranking:
    """Return the files by meaning as paths, 0..1 between the last and the best; `paths` by uid."""
    shares = above_floor(hits) if hits else {}
    best = dict.fromkeys(paths.values(), 0.0)
    for uid, share in shares.items():
        if (path := paths.get(uid)) is not None and share > best[path]:
            best[path] = share
    return Ranking(FILE_MEANING, tuple(Scored(path, share) for path, share in best.items() if share))


def mentioned_files(candidates: Sequence[Candidate], mentions: Sequence[Edge]) -> Ranking:
    """Return the files whose definitions matching documents mention, as paths with 0..1.

    A section gives its score to the files that it mentions, by their shares of the confidence: one that mentions many
    says little about each.
    """
    scores = {each.node.row.uid: each.score for each in candidates if each.node.row.label in DOCUMENT_LABELS}
    of_section: dict[str, dict[str, float]] = {}
    for edge in mentions:
        row = edge.node.row
        if edge.row.source in scores and row.path and not row.is_test and row.label not in DOCUMENT_LABELS:
            of_file = of_section.setdefault(edge.row.source, {})
            of_file[row.path] = of_file.get(row.path, 0.0) + edge.row.confidence
    found: dict[str, float] = {}
    for section, of_file in of_section.items():
        total = sum(of_file.values())
        for path, confidence in of_file.items():
            found[path] = found.get(path, 0.0) + scores[section] * confidence / total
    return Ranking(MENTIONS, tuple(Scored(path, min(1.0, score)) for path, score in found.items()))


def file_weight(query: Query, candidates: Sequence[Candidate], lifted: Sequence[Candidate]) -> float:
    """Return how much evidence about files counts, 0..1: less, the better a title is the question."""
    return untitled(candidates, lifted) if asks_for_files(query) else 0.0


def untitled(candidates: Sequence[Candidate], lifted: Sequence[Candidate]) -> float:
    """Return 1 where no title has lifted a candidate, 0 where one is the question."""
    lift = max((after.score - before.score for before, after in zip(candidates, lifted, strict=True)), default=0.0)
    return max(0.0, 1 - lift / FULL_LIFT)
