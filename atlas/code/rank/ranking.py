"""Rank candidates: their features, then either the learned weights or the constants of `rank.py`. Pure.

`rank_candidates` is the whole order of a hybrid search but for the symbols of a bare name, which `symbol_order` puts
first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from atlas.code.question.parse_question import Query
from atlas.code.question.stem import roots_of
from atlas.code.rank.features import QuestionEvidence, features, main_features
from atlas.code.rank.learned import score, shares, weights
from atlas.code.rank.rank import Candidate, collapse, rank
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import Ranking
from atlas.code.retrieve.file_evidence import FILE_MEANING, MENTIONS, Coverage
from atlas.code.retrieve.file_prior import FileMatches, match_files
from atlas.code.retrieve.fuse import above_floor, normalised, prose_shares
from atlas.core.model import Scored, WordCounts

STAGES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "files": frozenset(),
        "stems": frozenset(("stem",)),
        "coherence": frozenset(("coherence",)),
        "file_meaning": frozenset(("file_meaning",)),
        "mentions": frozenset(("mentions",)),
        "coverage": frozenset(("coverage",)),
        "components": frozenset(("component",)),
        "titles": frozenset(),
        "descriptions": frozenset(),
        "intents": frozenset(("reason_wanted", "decision_wanted", "configuration_wanted")),
        "copies": frozenset(("copy", "text_copy")),
        "symbols": frozenset(),
        "near_names": frozenset(),
        "places": frozenset(),
        "long_texts": frozenset(),
        "relevance": frozenset(),
        "grouping": frozenset(),
        "quality": frozenset(),
    }
)
"""Stages that `RankingOptions.off` may name besides features, each with the features that only it uses."""
_TESTS = ("test", "text_test")


def read_evidence(
    reader: Reader, query: Query, rankings: Sequence[Ranking], counts: WordCounts, file_weight: float = 0.0
) -> QuestionEvidence:
    """Return what the channels say, on scales that do not depend on the number of hits.

    `file_weight`: how much evidence about whole files counts (`file_evidence.file_weight`).
    """
    hits = {ranking.channel: ranking.hits for ranking in rankings}
    found: dict[str, Mapping[str, float]] = {
        "words": normalised(hits.get("words", ())),
        "meaning": above_floor(hits.get("meaning", ())),
        "prose": prose_shares(hits.get("prose", ())),
        "quality": above_floor(hits.get("quality", ())),
        **{channel: dict(hits.get(channel, ())) for channel in ("name", "phrase", "written", "graph", "description")},
        **{channel: dict(hits.get(channel, ())) for channel in (FILE_MEANING, MENTIONS)},
    }
    is_counted = "files" not in reader.ranking.off
    files = match_files(counts, query.words, query.variants) if is_counted else FileMatches({}, {})
    return QuestionEvidence(
        query,
        found,
        cosines=dict(_highest((*hits.get("meaning", ()), *hits.get("prose", ())))),
        files=files,
        asked=roots_of(query.words),
        split_words=reader.split_words,
        languages=reader.languages,
        coverage=Coverage(counts, files.rarity) if file_weight else None,
        file_weight=file_weight,
    )


def rank_candidates(
    reader: Reader, candidates: Sequence[Candidate], evidence: QuestionEvidence, *, demote_tests: bool = True
) -> list[Candidate]:
    """Return candidates best first, one per symbol, each with its features; scores are 0..1 if ranked by weights."""
    options = reader.ranking
    known = (features if options.learned or options.all_features else main_features)(candidates, evidence)
    if off := options.off.union(*(STAGES.get(stage, frozenset[str]()) for stage in options.off)):
        known = [{name: value for name, value in own.items() if name not in off} for own in known]
    # The constructor takes a third of the time of `replace`.
    with_features = [
        Candidate(each.node, each.score, each.channels, each.reasons, each.degree, each.also, own)
        for each, own in zip(candidates, known, strict=True)
    ]
    if not options.learned:
        return rank(with_features, evidence.query, reader.split_words, reader.languages, demote_tests=demote_tests)
    model = {name: weight for name, weight in weights().items() if demote_tests or name not in _TESTS}
    scores = shares([score(each.features, model) for each in with_features])
    return collapse(
        [replace(each, score=own) for each, own in zip(with_features, scores, strict=True)], reader.languages
    )


def _highest(hits: Sequence[Scored]) -> list[Scored]:
    """Return hits in ascending order, so that a mapping keeps the highest score of each."""
    return sorted(hits, key=lambda hit: hit.score)
