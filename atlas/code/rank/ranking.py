"""How the hits of a hybrid search are ordered: the ordered list `STAGES`. Pure.

`order_candidates` runs those between reading and judging: lifts, then a score by the steps of `rank.SCORING` or by the
learned weights, then what comes first whatever its score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from atlas.code.notes.facts import is_withdrawn
from atlas.code.question.parse_question import Query, asks_for_tests
from atlas.code.rank.bodies import rank_by_bodies
from atlas.code.rank.descriptions import DESCRIPTION, NAMING
from atlas.code.rank.features import QuestionEvidence
from atlas.code.rank.grouping import group_by_file
from atlas.code.rank.judgement import judge
from atlas.code.rank.learned import score, shares, weights
from atlas.code.rank.rank import SCORING, Candidate, collapse, describes_one, rank
from atlas.code.rank.symbol_order import names_first
from atlas.code.rank.titles import lift_titles, pages_first
from atlas.code.rank.told_functions import told_functions
from atlas.code.reader import Reader, SearchStep
from atlas.code.retrieve.channels import Ranking, by_name
from atlas.code.retrieve.file_evidence import FILE_MEANING, MENTIONS, file_weight, untitled
from atlas.code.retrieve.fuse import above_floor, normalised, prose_shares
from atlas.code.retrieve.long_search import ChannelHits, lift_written_files, search_long_text
from atlas.code.retrieve.places import places_first
from atlas.core.model import Label, Scored, WordCounts
from atlas.parsing import candidate_features

PAGE, KEPT, FIRSTS_OF_CHANNEL = 10, 4, 6
"""Of a sentence of documentation: the first hits, how many of them the channels fill, and how many each channel offers.
Of 30 targets on Django 13 are among the first ten of one channel alone: evidence about files fills the first ten with
other functions of the right file."""
_TESTS = ("test", "text_test")
_RUN = (Label.FUNCTION, Label.METHOD)


@dataclass(frozen=True, slots=True)
class Ordering:
    """What the stages know besides the candidates so far."""

    reader: Reader
    found: ChannelHits
    read: Sequence[Candidate]
    """The candidates as read, with their fused scores."""


Order = Callable[[Ordering, Sequence[Candidate]], Sequence[Candidate]]


def order_candidates(
    reader: Reader, found: ChannelHits, read: Sequence[Candidate], *, demote_tests: bool = True
) -> list[Candidate]:
    """Return the candidates best first, after the stages that are on."""
    query, of = found.query, Ordering(reader, found, read)
    lifted = _run(LIFTS, of, read)
    weight = 0.0 if found.long is not None else file_weight(query, read, lifted)
    evidence = read_evidence(reader, found.rankings, found.counts, weight)
    if evidence.namings:
        share = untitled(read, lifted)
        evidence = replace(evidence, namings={uid: share * near for uid, near in evidence.namings.items()})
    ordered = _run(FIRSTS, of, _ranked(reader, query, lifted, evidence, demote_tests=demote_tests))
    # what a note has taken back answers only who asks for this note
    return sorted(
        ordered, key=lambda each: is_withdrawn(each.node.row) and each.node.row.qualified_name not in query.text
    )


def _run(stages: Iterable[SearchStep[Order]], of: Ordering, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    for stage in stages:
        if of.reader.ranking.has(stage):
            candidates = stage.run(of, candidates)
    return candidates


def _written(of: Ordering, ranked: Sequence[Candidate]) -> Sequence[Candidate]:
    return ranked if of.found.long is None else lift_written_files(ranked, of.found.long)


def _titles(of: Ordering, ranked: Sequence[Candidate]) -> Sequence[Candidate]:
    return ranked if of.found.long is not None else lift_titles(ranked, of.found.query)


def _symbols(of: Ordering, ranked: Sequence[Candidate]) -> Sequence[Candidate]:
    query = of.found.query
    is_word = bool(of.found.counts.words.get(query.text.lower()))
    return names_first(ranked, query, of.reader.languages, is_word=is_word)


def _tests(of: Ordering, ranked: Sequence[Candidate]) -> Sequence[Candidate]:
    if not asks_for_tests(of.found.query):
        return ranked
    return sorted(ranked, key=lambda each: not (each.node.row.is_test and each.node.row.label in _RUN))


def _places(of: Ordering, ranked: Sequence[Candidate]) -> Sequence[Candidate]:
    places = next((each for each in of.found.rankings if each.channel == "place"), None)
    return places_first(ranked, of.read, places) if places is not None and places.hits else ranked


def _exact(of: Ordering, ranked: Sequence[Candidate]) -> Sequence[Candidate]:
    exact = next((each for each in of.found.rankings if each.channel == "exact"), None)
    return places_first(ranked, of.read, exact) if exact is not None and exact.hits else ranked


def _channel_firsts(of: Ordering, ranked: Sequence[Candidate]) -> Sequence[Candidate]:
    """Return the candidates with those that words or meaning rank high among the first `PAGE`, at their end.

    Where names are compared with the sentence, they say which of those are meant.
    """
    is_named = any(each.channel == NAMING for each in of.found.rankings)
    if is_named or not describes_one(of.found.query) or of.found.long is not None:
        return ranked
    at = {uid: place for place, each in enumerate(ranked) for uid in (each.node.row.uid, *each.also)}
    lists = [each.hits for each in of.found.rankings if each.channel in ("words", "meaning")]
    firsts = [[at[uid] for uid, _ in hits if uid in at][:FIRSTS_OF_CHANNEL] for hits in lists]
    behind = (place for pair in zip_longest(*firsts, fillvalue=0) for place in pair if place >= PAGE)
    moved = list(dict.fromkeys(behind))[:KEPT]
    if not moved:
        return ranked
    rest = [each for place, each in enumerate(ranked) if place not in moved]
    first = PAGE - len(moved)
    return [*rest[:first], *(ranked[place] for place in moved), *rest[first:]]


LIFTS: tuple[SearchStep[Order], ...] = (
    SearchStep("written_files", _written, "a long text writes the paths that it is about"),
    SearchStep("titles", _titles, "a heading is what people ask for"),
)
"""Stages that raise fused scores."""


def _pages(of: Ordering, ranked: Sequence[Candidate]) -> Sequence[Candidate]:
    if of.found.long is not None:
        return ranked
    return pages_first(ranked, of.found.query, of.reader.root.name)


FIRSTS: tuple[SearchStep[Order], ...] = (
    SearchStep("channel_firsts", _channel_firsts, "words or meaning alone may find the function a sentence describes"),
    SearchStep("pages", _pages, "a page whose heading names the topic explains it"),
    SearchStep("symbols", _symbols, "a bare name asks for its symbols"),
    SearchStep("exact", _exact, "the line that builds a quoted text is what is asked for", switch="exact_text"),
    SearchStep("places", _places, "a place that the question writes is what it asks for"),
    SearchStep("tests_first", _tests, "tests come first where they are what is asked for"),
)
"""Stages that put candidates first, whatever their score."""
STAGES: tuple[SearchStep[object], ...] = (
    SearchStep("long_texts", search_long_text, "a long text has words and frames that are not asked for"),
    SearchStep("near_names", by_name, "a misspelt name means the most similar ones"),
    *LIFTS,
    *SCORING,
    *FIRSTS,
    SearchStep("told", told_functions, "subjects of commits say in the words of people what lines do"),
    SearchStep("bodies", rank_by_bodies, "what a question for behaviour asks for is decided inside of functions"),
    SearchStep("relevance", judge, "the nearest hits of an unrelated question answer nothing"),
    SearchStep("grouping", group_by_file, "a page shows more files if the hits of one share an entry"),
)
"""All stages behind the channels, in the order in which a hit passes them."""


def read_evidence(
    reader: Reader, rankings: Sequence[Ranking], counts: WordCounts, file_weight: float = 0.0
) -> QuestionEvidence:
    """Return what the channels say, on scales that do not depend on the number of hits.

    `file_weight`: how much evidence about whole files counts (`file_evidence.file_weight`).
    """
    options = reader.ranking
    hits = {ranking.channel: ranking.hits for ranking in rankings}
    return QuestionEvidence(
        None if "files" in options.off else counts,
        file_weight,
        dict(hits.get(FILE_MEANING, ())),
        dict(hits.get(MENTIONS, ())),
        dict(hits.get(DESCRIPTION, ())),
        dict(hits.get(NAMING, ())),
        _by_channel(hits) if options.learned or options.all_features else None,
    )


def _by_channel(hits: Mapping[str, Sequence[Scored]]) -> Mapping[str, Mapping[str, float]]:
    return {
        "words": normalised(hits.get("words", ())),
        "meaning": above_floor(hits.get("meaning", ())),
        "prose": prose_shares(hits.get("prose", ())),
        "quality": above_floor(hits.get("quality", ())),
        "cosine": dict(_highest((*hits.get("meaning", ()), *hits.get("prose", ())))),
        **{channel: dict(hits.get(channel, ())) for channel in ("name", "phrase", "written", "graph")},
    }


def _ranked(
    reader: Reader, query: Query, candidates: Sequence[Candidate], evidence: QuestionEvidence, *, demote_tests: bool
) -> list[Candidate]:
    """Return candidates best first, one per symbol; scores are 0..1 if ranked by weights."""
    options, languages = reader.ranking, reader.languages
    if not options.learned:
        return rank(candidates, query, languages, evidence, demote_tests=demote_tests, off=options.off)
    known = candidate_features(candidates, query, describes_one(query), languages, evidence, options.off)
    model = {name: weight for name, weight in weights().items() if demote_tests or name not in _TESTS}
    scores = shares([score(own, model) for own in known])
    scored = zip(candidates, scores, known, strict=True)
    return collapse([replace(each, score=own, features=features) for each, own, features in scored], languages)


def _highest(hits: Sequence[Scored]) -> list[Scored]:
    """Return hits in ascending order, so that a mapping keeps the highest score of each."""
    return sorted(hits, key=lambda hit: hit.score)
