"""How similar the descriptions of candidates are to a question, by the model of prose.

A question in other words than the code shares no word with a candidate, and the model of code knows the words of
documentation, not those of people. The model of prose knows that visitors are users and that to limit is to throttle.
What describes a candidate is embedded for each question: path, name, signature and the start of its documentation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

from atlas.code.question.parse_question import Query
from atlas.code.rank.rank import Candidate
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import Ranking
from atlas.code.retrieve.long_search import ChannelHits
from atlas.core.contracts import Embedder
from atlas.core.errors import AtlasError
from atlas.core.model import Chunk, NodeRow, Scored
from atlas.parsing import VectorIndex

DESCRIPTION = "description"
PATH_WEIGHT = 0.5
"""Of the path's own cosine next to that of the whole description: files gain .01, functions lose as much."""
DOCUMENTATION_CHARACTERS = 300
"""Of a documentation; the whole changes no ranking."""


async def add_descriptions(reader: Reader, found: ChannelHits, candidates: Sequence[Candidate]) -> ChannelHits:
    """Return what was found with one more ranking: the similarity of each candidate's description, 0..1.

    Names and long texts are left alone: they say in the words of the code what is meant.
    """
    embedder = None if "descriptions" in reader.ranking.off else _local(reader)
    if embedder is None or found.long is not None or not asks_in_words(found.query):
        return found
    try:
        hits = await _shares(embedder, found.query.text, [each.node.row for each in candidates])
    except AtlasError:
        return found
    return replace(found, rankings=[*found.rankings, Ranking(DESCRIPTION, hits)])


def asks_in_words(query: Query) -> bool:
    """Return whether a question is more than a name."""
    return len(query.words) > 1 and query.focus < 1


def _local(reader: Reader) -> Embedder | None:
    """Return the model of documents if it is in this process: a server would be asked for hundreds of vectors."""
    embedder = reader.documents_embedder
    return None if embedder is None or embedder.place else embedder


async def _shares(embedder: Embedder, question: str, rows: Sequence[NodeRow]) -> tuple[Scored, ...]:
    """Return cosines as 0..1 between the least and the most similar row; none if they are all alike."""
    vector, model = await asyncio.gather(embedder.embed_query(question), embedder.info())
    if not any(vector) or not rows:
        return ()
    paths = list(dict.fromkeys(row.path for row in rows))
    texts = [_chunk(row.path, describe(row)) for row in rows] + [_chunk(path, "") for path in paths]
    cosines = VectorIndex(model.dimension).cosines(vector, await embedder.embed_chunks(texts))
    known = [cosine if isfinite(cosine) else 0.0 for cosine in cosines]
    of_path = dict(zip(paths, known[len(rows) :], strict=True))
    scores = [own + PATH_WEIGHT * of_path[row.path] for own, row in zip(known[: len(rows)], rows, strict=True)]
    least, most = min(scores), max(scores)
    if most <= least:
        return ()
    return tuple(Scored(row.uid, (score - least) / (most - least)) for row, score in zip(rows, scores, strict=True))


def describe(row: NodeRow) -> str:
    """Return what describes a node besides its path."""
    return f"{row.qualified_name} {row.signature} {row.docstring[:DOCUMENTATION_CHARACTERS]}"


def _chunk(path: str, text: str) -> Chunk:
    return Chunk("", "", path, text, is_file=False)
