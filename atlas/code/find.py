"""Run one search from text to ranked candidates: route, run the channels, fuse the results, rank them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from atlas.code.changes.changes import ChangeAnswer, answer_changes, asks_history
from atlas.code.graph.answer_relation import UNANSWERED, answer_relation
from atlas.code.graph.http_routes import answer_events, answer_routes
from atlas.code.graph.named_tests import add_named_tests
from atlas.code.graph.packages import PackageReport, answer_packages
from atlas.code.graph.relation import EdgeAnswer
from atlas.code.graph.unions import answer_both
from atlas.code.graph.untested import find_untested
from atlas.code.graph.unused import find_unused
from atlas.code.question.long_text import read_long_text
from atlas.code.question.package_questions import find_package_question
from atlas.code.question.parse_question import Query, route
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.question.route_forms import read_route_question
from atlas.code.rank.descriptions import add_descriptions
from atlas.code.rank.judgement import Judgement, judge, read_all_signals, remarks
from atlas.code.rank.rank import Candidate
from atlas.code.rank.ranking import rank_candidates, read_evidence
from atlas.code.rank.relevance import Signals
from atlas.code.rank.symbol_order import names_first
from atlas.code.rank.titles import lift_titles
from atlas.code.reader import Reader
from atlas.code.retrieve.candidates import hydrate
from atlas.code.retrieve.channels import (
    Ranking,
    by_any_meaning,
    by_graph,
    by_meaning,
    by_name,
    by_prose,
    by_words,
    count_words,
    gather,
)
from atlas.code.retrieve.file_evidence import by_file_meaning, file_weight, wants_mentions
from atlas.code.retrieve.fuse import REPORT_WORDS_WEIGHT, WORDS_WEIGHT, fuse_rrf, order, prose_scores, text_scores
from atlas.code.retrieve.long_search import ChannelHits, lift_written_files, search_long_text
from atlas.code.retrieve.phrases import by_phrase
from atlas.code.retrieve.places import by_place, places_first, with_line
from atlas.code.retrieve.sentence_transformer import by_quality
from atlas.core.errors import AtlasError
from atlas.core.model import Filter, Label, Match, Scored

RERANK_LIMIT = 100
"""Candidates that are read and ranked, the same for every page so that paging is stable. Of 330 files asked for, the
first 60 candidates lack 6 %, 100 lack 4 %, 200 lack 3 %."""
NAME_WEIGHT = 1.0
"""If the question is only a name, a name match weighs as much as the best text match, so the symbol comes first."""
FOCUS_POWER = 2
"""A name among other words weighs by the square of its share of the words (adr/0008)."""
NEIGHBOUR_WEIGHT = 0.15
"""Neighbours of a named symbol are context: they break ties but do not displace matches."""
PHRASE_WEIGHT = 1.5
"""A quoted text that occurs in the source outweighs matches that only resemble the question."""
PLACE_WEIGHT = 2.0
"""A place that the question writes is among the candidates, whatever else it says."""
WRITTEN_WEIGHT = 0.5
"""What a long text names: the only definition of a name counts as half of the best text match."""
_DEFINITIONS = frozenset((Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE))
_HEADING = re.compile(r"[A-Z][a-z]+(?:(?: [A-Z][a-z]+){1,4}|(?: (?!of |for |to |in |by )[a-z]+){1,2})$")
"""Words as in a heading: "Test Client", "Template Inheritance", "Running tests"."""
_OFTEN_IN_WORDS = frozenset((Kind.DOCS, Kind.TESTED))
"""Relations that texts often state without a reference: a page about a class that has two declarations."""


class Mode(StrEnum):
    """The channels to run."""

    HYBRID = "hybrid"
    WORDS = "words"
    MEANING = "meaning"


class Fusion(StrEnum):
    """How to combine words and meaning; `weighted` is the default (adr/0008)."""

    WEIGHTED = "weighted"
    RRF = "rrf"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search, best first; the tools show one page of it."""

    query: Query
    ranked: tuple[Candidate, ...]
    total: int
    """Number of candidates found; `ranked` contains at most as many as requested."""
    notes: tuple[str, ...]
    relation: EdgeAnswer | None = None
    """The answer to a question about a relation; nothing is ranked then."""
    changes: ChangeAnswer | None = None
    """The answer to a question about changes; nothing is ranked then."""
    packages: PackageReport | None = None
    """The answer to a question about packages; nothing is ranked then."""
    relevance: float = 1.0
    """How likely it is that the index answers the question; below `RELEVANT` the hits are merely the nearest."""
    strength: float = 1.0
    """The same with what the first hits have of the question: below `WEAK`, a note says so."""
    unranked: tuple[Scored, ...] = ()
    """Candidates behind the `RERANK_LIMIT` that a hybrid search reads and ranks, by their text alone."""


async def search(
    reader: Reader,
    text: str,
    where: Filter,
    mode: Mode = Mode.HYBRID,
    fusion: Fusion = Fusion.WEIGHTED,
    *,
    demote_tests: bool = True,
    wanted: int = RERANK_LIMIT,
) -> SearchResult:
    """Find candidates for a question. A failed channel adds a note instead of raising.

    The hybrid mode answers a question about a relation from the graph alone, unless nothing has the name asked for and
    that name may be an English word; it ranks all candidates. A single channel keeps its own order, but for definitions
    of a name that is the whole question, and reads only the first `wanted` nodes.
    """
    query = route(text, reader.split_words, reader.languages)
    if mode == Mode.HYBRID:
        query = replace(query, relation=with_line(query.relation, query.text, reader.languages))
        if query.relation is not None and asks_history(query.relation, text):
            changes = await answer_changes(reader, query.relation, text, where)
            return SearchResult(query, (), 0, query.notes, changes=changes)
        packages = await _packages(reader, query, where)
        if packages is not None:
            return SearchResult(query, (), len(packages.declared), query.notes, packages=packages)
        relation, trouble = await _relation(reader, query, where)
        if relation is not None:
            return SearchResult(query, (), len(relation.related), (*query.notes, *relation.notes), relation)
        found = await _find(reader, text, query, where)
        query, rankings = found.query, found.rankings
        fused = fuse(rankings, query, fusion)
        unranked = tuple(fused[RERANK_LIMIT:])
        ranked, rankings, problems = await _read_and_rank(reader, found, fused, demote_tests=demote_tests)
        total, judgement = len(ranked), await judge(reader, found, ranked, where)
        notes = (*trouble, *remarks(found, judgement))
    else:
        run = by_words if mode == Mode.WORDS else by_any_meaning
        rankings, notes, unranked = await gather((mode.value, run(reader, query, where))), (), ()
        judgement = Judgement()
        hits = (
            await _definitions_first(reader, rankings[0].hits, query, where) if mode == Mode.WORDS else rankings[0].hits
        )
        read = await hydrate(reader, hits[:wanted], rankings)
        ranked, total, problems = read.candidates, len(hits), read.notes
    said = (*query.notes, *(each.note for each in rankings), *notes, *problems)
    return SearchResult(
        query,
        tuple(ranked),
        total,
        said,
        relevance=judgement.relevance,
        strength=judgement.strength,
        unranked=unranked,
    )


async def _find(reader: Reader, text: str, query: Query, where: Filter) -> ChannelHits:
    """Run the channels, for a long text as several questions."""
    long = None if "long_texts" in reader.ranking.off else read_long_text(text, reader.languages)
    if long is not None:
        return await search_long_text(reader, long, query, where)
    rankings, counts = await asyncio.gather(_channels(reader, query, where), count_words(reader, query, where))
    return ChannelHits(query, rankings, counts, query)


async def read_question_signals(reader: Reader, text: str, where: Filter) -> Signals | None:
    """Return the signals behind `SearchResult.relevance` and `strength`; None if the graph answers the question."""
    query = route(text, reader.split_words, reader.languages)
    if (await _relation(reader, query, where))[0] is not None:
        return None
    found = await _find(reader, text, query, where)
    fused = fuse(found.rankings, found.query)[:RERANK_LIMIT]
    ranked, _, _ = await _read_and_rank(reader, found, fused, demote_tests=True)
    return await read_all_signals(reader, found, ranked, where)


async def _read_and_rank(
    reader: Reader, found: ChannelHits, fused: Sequence[Scored], *, demote_tests: bool
) -> tuple[list[Candidate], list[Ranking], tuple[str, ...]]:
    """Return the candidates best first, all rankings that ordered them, and what failed."""
    mentions = found.long is None and wants_mentions(reader, found.query)
    read = await hydrate(reader, fused, found.rankings, mentions=mentions)
    found = replace(found, rankings=[*found.rankings, *read.files])
    found = await add_descriptions(reader, found, read.candidates)
    return _rank(reader, found, read.candidates, demote_tests=demote_tests), found.rankings, read.notes


def _rank(reader: Reader, found: ChannelHits, candidates: list[Candidate], *, demote_tests: bool) -> list[Candidate]:
    """Return the candidates best first, after the stages that are on."""
    query, off, weight = found.query, reader.ranking.off, 0.0
    if found.long is not None:
        lifted = lift_written_files(candidates, found.long)
    else:
        lifted = candidates if "titles" in off else lift_titles(candidates, query)
        weight = file_weight(query, candidates, lifted)
    evidence = read_evidence(reader, query, found.rankings, found.counts, weight)
    ranked = rank_candidates(reader, lifted, evidence, demote_tests=demote_tests)
    if "symbols" not in off:
        is_word = bool(found.counts.words.get(query.text.lower()))
        ranked = names_first(ranked, query, reader.languages, is_word=is_word)
    places = next((each for each in found.rankings if each.channel == "place"), None)
    return places_first(ranked, candidates, places) if places is not None and places.hits else ranked


async def _definitions_first(reader: Reader, hits: Sequence[Scored], query: Query, where: Filter) -> Sequence[Scored]:
    """Put the definitions of a name first if the question is only that name: documents repeat it more often."""
    if query.focus < 1 or len(query.names) != 1:
        return hits
    try:
        nodes = await reader.store.find(query.names[0], Match.SUFFIX, where, RERANK_LIMIT)
    except AtlasError:
        return hits
    named = {node.row.uid for node in nodes if node.row.label in _DEFINITIONS}
    return sorted(hits, key=lambda hit: hit.uid not in named)


async def _packages(reader: Reader, query: Query, where: Filter) -> PackageReport | None:
    """Answer a question about packages; None for other questions, and when the store cannot be read."""
    question = find_package_question(query.text)
    if question is None:
        return None
    try:
        return await answer_packages(reader, question, where)
    except AtlasError:
        return None


async def _relation(reader: Reader, query: Query, where: Filter) -> tuple[EdgeAnswer | None, tuple[str, ...]]:
    """Answer a question about a relation; None with a note when the store cannot be read."""
    try:
        routes = await _routes(reader, query, where)
        if routes is not None or query.relation is None:
            return routes, ()
        relation = await _answer(reader, query.relation, where)
        if relation is not None and query.relation.kind == Kind.TESTS:
            relation = await add_named_tests(reader, relation, where)
    except AtlasError as error:
        asked = f"{query.relation.kind} of `{query.relation.name}`" if query.relation else "routes and events"
        return None, (f"{asked} could not be read: {error.message}",)
    if relation is not None and not relation.related and query.relation.kind in _OFTEN_IN_WORDS:
        return None, (f"no {query.relation.kind} of `{query.relation.name}` in the graph: searched as text",)
    if relation is not None and not relation.related and relation.outcome != "found" and _HEADING.match(query.text):
        return None, (f"`{query.relation.name}` names no single symbol: searched as text",)
    if relation is not None and (missing := relation.missing_end) is not None:
        return None, (f"no symbol is named `{missing}`: searched as text",)
    is_unknown = relation is None and (query.relation.kind in UNANSWERED or not query.relation.name)
    note = f"no {query.relation.kind} in the graph fit: searched as text"
    return relation, (note,) if is_unknown else ()


async def _routes(reader: Reader, query: Query, where: Filter) -> EdgeAnswer | None:
    """Answer a question about routes, events or commands; None for another question, or if none fits."""
    asked = read_route_question(query.text, query.relation)
    found = await answer_routes(reader, asked, query.relation, where) if asked is not None else None
    if found is not None and found.related:
        return found
    # a name without routes may be an event: `handlers of setting_changed`
    return await answer_events(reader, query.text, where) or found


async def _answer(reader: Reader, intent: RelationIntent, where: Filter) -> EdgeAnswer | None:
    if not intent.name and intent.kind in (Kind.UNUSED, Kind.UNTESTED):
        find = find_unused if intent.kind == Kind.UNUSED else find_untested
        return await find(reader, intent, where)
    if intent.other and intent.kind != Kind.PATH:
        return await answer_both(reader, intent, where)
    return await answer_relation(reader, intent, where)


async def _channels(reader: Reader, query: Query, where: Filter) -> list[Ranking]:
    return await gather(
        ("name", by_name(reader, query, where)),
        ("place", by_place(reader, query.text, where)),
        ("graph", by_graph(reader, query, where)),
        ("phrase", by_phrase(reader, query, where)),
        ("words", by_words(reader, query, where)),
        ("meaning", by_meaning(reader, query, where)),
        ("prose", by_prose(reader, query, where)),
        ("quality", by_quality(reader, query, where)),
        ("file_meaning", by_file_meaning(reader, query, where)),
    )


def fuse(rankings: Sequence[Ranking], query: Query, fusion: Fusion = Fusion.WEIGHTED) -> list[Scored]:
    """Combine the channels: words and meaning by `fusion` into 0..1, plus weighted scores of names and neighbours.

    The meaning of notes has a scale of its own, so that code scores the same with and without notes.
    """
    hits = {ranking.channel: ranking.hits for ranking in rankings}
    words, meaning = hits.get("words", ()), hits.get("meaning", ())
    if fusion == Fusion.RRF:
        text = fuse_rrf((words, meaning))
        totals = {uid: score / text[0].score for uid, score in text}
    else:
        words_weight = REPORT_WORDS_WEIGHT if query.reports else WORDS_WEIGHT
        totals = text_scores(words, meaning, hits.get("quality", ()), words_weight)
    for uid, share in prose_scores(hits.get("prose", ()), words).items():
        totals[uid] = totals.get(uid, 0.0) + share
    name_weight = NAME_WEIGHT * query.focus**FOCUS_POWER
    weights = {
        "name": name_weight,
        "place": PLACE_WEIGHT,
        "phrase": PHRASE_WEIGHT,
        "written": WRITTEN_WEIGHT,
        "graph": NEIGHBOUR_WEIGHT,
    }
    for channel, weight in weights.items():
        for uid, score in hits.get(channel, ()):
            totals[uid] = totals.get(uid, 0.0) + weight * score
    return order(totals)
