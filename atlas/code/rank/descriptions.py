"""How similar the descriptions of candidates are to a question, by the model of prose.

A question in other words than the code shares no word with a candidate, and the model of code knows the words of
documentation, not those of people. The model of prose knows that visitors are users and that to limit is to throttle.
What describes a candidate is embedded for each question: path, name, signature and the start of its documentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from atlas.code.question.parse_question import Query
from atlas.code.rank.rank import Candidate
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import Ranking
from atlas.code.retrieve.long_search import ChannelHits
from atlas.core.errors import AtlasError
from atlas.core.model import NodeRow, Scored
from atlas.parsing import ProseEncoder

DESCRIPTION = "description"
PATH_WEIGHT = 0.5
"""Of the path's own cosine next to that of the whole description: files gain .01, functions lose as much."""
DOCUMENTATION_CHARACTERS = 300
"""Of a documentation; the whole changes no ranking."""


def add_descriptions(reader: Reader, found: ChannelHits, candidates: Sequence[Candidate]) -> ChannelHits:
    """Return what was found with one more ranking: the similarity of each candidate's description, 0..1.

    Names and long texts are left alone: they say in the words of the code what is meant.
    """
    if "descriptions" in reader.ranking.off or found.long is not None or not asks_in_words(found.query):
        return found
    try:
        encoder = reader.prose_encoder()
    except AtlasError:
        return found
    if encoder is None:  # a server would be asked for hundreds of vectors
        return found
    hits = _shares(encoder, found.query.text, [each.node.row for each in candidates])
    return replace(found, rankings=[*found.rankings, Ranking(DESCRIPTION, hits)])


def asks_in_words(query: Query) -> bool:
    """Return whether a question is more than a name."""
    return len(query.words) > 1 and query.focus < 1


def _shares(encoder: ProseEncoder, question: str, rows: Sequence[NodeRow]) -> tuple[Scored, ...]:
    """Return cosines as 0..1 between the least and the most similar row; none if they are all alike."""
    by_path: dict[str, list[NodeRow]] = {}
    for row in rows:
        by_path.setdefault(row.path, []).append(row)
    # last of each file, the path alone
    texts = [(path, [*map(describe, own), ""]) for path, own in by_path.items()]
    cosines = iter(encoder.cosines(question, texts))
    scores: dict[str, float] = {}
    for own in by_path.values():
        found = list(islice(cosines, len(own) + 1))
        if not found:
            return ()  # the model knows no word of the question
        of_path = PATH_WEIGHT * found[-1]
        scores.update((row.uid, cosine + of_path) for row, cosine in zip(own, found[:-1], strict=True))
    least, most = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    if most <= least:
        return ()
    return tuple(Scored(row.uid, (scores[row.uid] - least) / (most - least)) for row in rows)


def describe(row: NodeRow) -> str:
    """Return what describes a node besides its path."""
    return f"{row.qualified_name} {row.signature} {row.docstring[:DOCUMENTATION_CHARACTERS]}"
