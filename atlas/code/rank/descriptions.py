"""How similar the descriptions of candidates are to a question, by the model of prose.

A question in other words than the code shares no word with a candidate, and the model of code knows the words of
documentation, not those of people. The model of prose knows that visitors are users and that to limit is to throttle.
What describes a candidate is embedded for each question: path, name, signature and the start of its documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from atlas.code.question.parse_question import Query
from atlas.code.rank.rank import Candidate, describes_one
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import Ranking
from atlas.code.retrieve.long_search import ChannelHits
from atlas.core.errors import AtlasError
from atlas.core.model import Label, NodeRow, Scored
from atlas.parsing import ProseEncoder

DESCRIPTION, NAMING = "description", "naming"
NAMINGS = "namings"
"""The switch of the latter, and its step in `rank.SCORING`."""
PATH_WEIGHT = 0.5
"""Of the path's own cosine next to that of the whole description: files gain .01, functions lose as much."""
DOCUMENTATION_CHARACTERS = 300
"""Of a documentation; the whole changes no ranking."""
_DEFINITIONS = frozenset((Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE))
Model = TypeVar("Model")


def add_descriptions(reader: Reader, found: ChannelHits, candidates: Sequence[Candidate]) -> ChannelHits:
    """Return what was found with one more ranking: the similarity of each candidate's description, 0..1.

    Of a sentence of documentation it is that of names and signatures instead. Names and long texts are left alone: they
    say in the words of the code what is meant.
    """
    if found.long is not None or not asks_in_words(found.query):
        return found
    if NAMINGS not in reader.ranking.off and describes_one(found.query):
        namings = _namings(reader, found.query.text, [each.node.row for each in candidates])
        if namings is not None:
            return replace(found, rankings=[*found.rankings, Ranking(NAMING, namings)])
    encoder = None if "descriptions" in reader.ranking.off else _model(reader.prose_encoder)
    if encoder is None:  # a server would be asked for hundreds of vectors
        return found
    hits = _shares(encoder, found.query.text, [each.node.row for each in candidates])
    return replace(found, rankings=[*found.rankings, Ranking(DESCRIPTION, hits)])


def _model(load: Callable[[], Model | None]) -> Model | None:
    try:
        return load()
    except AtlasError:
        return None


def _namings(reader: Reader, sentence: str, rows: Sequence[NodeRow]) -> tuple[Scored, ...] | None:
    """Return how near the names of definitions are to a sentence, 0..1; None without both models.

    The mean of three cosines: of the bare name and of owner, name and signature by the model of code, and of the latter
    by the model of prose. The owner is what all other evidence is about; the bare name tells its members apart.
    """
    code, prose = _model(reader.code_encoder), _model(reader.prose_encoder)
    if code is None or prose is None:
        return None
    own = [row for row in rows if row.label in _DEFINITIONS]
    names = [" ".join(row.qualified_name.split(".")[-2:]) for row in own]
    signed = [(name, row.signature) for name, row in zip(names, own, strict=True)]
    parts = (
        code.cosines(sentence, [(row.name, "") for row in own]),
        code.cosines(sentence, signed),
        prose.cosines(sentence, [("", [f"{name} {signature}" for name, signature in signed])]),
    )
    scaled = [_scaled(each) for each in parts if each]
    return tuple(Scored(row.uid, sum(each) / len(parts)) for row, *each in zip(own, *scaled, strict=True))


def _scaled(cosines: Sequence[float]) -> Sequence[float]:
    """Return cosines as 0..1 between the least and the most similar; zeros if they are all alike."""
    least, most = min(cosines), max(cosines)
    return [(each - least) / (most - least) if most > least else 0.0 for each in cosines]


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
    cosines = encoder.cosines(question, texts)
    if not cosines:
        return ()  # the model knows no word of the question
    scores: dict[str, float] = {}
    at = 0
    for own in by_path.values():
        of_path = PATH_WEIGHT * cosines[at + len(own)]
        for row in own:
            scores[row.uid] = cosines[at] + of_path
            at += 1
        at += 1
    least, most = min(scores.values()), max(scores.values())
    if most <= least:
        return ()
    span = most - least
    return tuple([Scored(uid := row.uid, (scores[uid] - least) / span) for row in rows])


def describe(row: NodeRow) -> str:
    """Return what describes a node besides its path."""
    return f"{row.qualified_name} {row.signature} {row.docstring[:DOCUMENTATION_CHARACTERS]}"
