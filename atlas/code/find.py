"""Run one search from text to an answer: parse, ask the answerers, run the channels, fuse, order by the stages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from atlas.code.answerers import Answered, AskedQuestion, answer_question
from atlas.code.changes.changes import ChangeAnswer
from atlas.code.changes.hit_commits import commits_of_absent, commits_of_hit
from atlas.code.graph.absence.class_members import member_lines
from atlas.code.graph.absence.described_families import family_lines
from atlas.code.graph.cards import CardHints, SubjectCard, read_card, read_text_card
from atlas.code.graph.packages import PackageReport
from atlas.code.graph.paths.shared import shared_lines
from atlas.code.graph.relation import EdgeAnswer
from atlas.code.graph.subjects import Subjects, find_subjects, qualified_relation
from atlas.code.lines.absent.named import find_absent_named
from atlas.code.lines.absent.options import find_absent_option
from atlas.code.lines.absent.things import AbsentThings, find_absent_things
from atlas.code.lines.absent.words import find_absent_words
from atlas.code.lines.bounds import find_bounds
from atlas.code.lines.flags import flag_names
from atlas.code.lines.flags_in_words import find_absent_flag
from atlas.code.lines.line_report import LineReport
from atlas.code.lines.plain_values import PlainValue, find_plain_values
from atlas.code.lines.value_setters import setters_of
from atlas.code.question.behaviour import asks_at_length, asks_how, without_examples, without_scare_quotes
from atlas.code.question.cues import asks, asks_for_code, asks_for_values, hinted_kinds
from atlas.code.question.grammar import MAX_RELATION_CHARACTERS
from atlas.code.question.long_text import read_long_text
from atlas.code.question.parse_question import Query, route
from atlas.code.question.relation_kinds import RelationIntent
from atlas.code.question.written_names import NameShape
from atlas.code.rank.bodies import FUNCTIONS, BodyEvidence, BodyWindow, is_deciding, rank_by_bodies
from atlas.code.rank.descriptions import add_descriptions
from atlas.code.rank.judgement import MISSING, Judgement, judge, read_all_signals, remarks, unknown_words
from atlas.code.rank.likelihood import SENTENCE, certainty_of
from atlas.code.rank.rank import Candidate, describes_one
from atlas.code.rank.ranking import order_candidates
from atlas.code.rank.relevance import Signals
from atlas.code.rank.titles import has_covering_page
from atlas.code.rank.told_functions import ToldFunction, told_functions, with_told
from atlas.code.reader import Reader, SearchStep
from atlas.code.retrieve.candidates import find_functions, hydrate
from atlas.code.retrieve.channels import (
    ExactLine,
    Ranking,
    by_any_meaning,
    by_graph,
    by_meaning,
    by_name,
    by_prose,
    by_words,
    count_words,
    gather,
    with_known_joined,
)
from atlas.code.retrieve.exact_text import by_exact_text, texts_of
from atlas.code.retrieve.file_evidence import by_file_meaning, wants_mentions
from atlas.code.retrieve.fuse import (
    REPORT_WORDS_WEIGHT,
    STATED_WORDS_WEIGHT,
    WORDS_WEIGHT,
    fuse_rrf,
    order,
    prose_scores,
    text_scores,
)
from atlas.code.retrieve.long_search import ChannelHits, search_long_text
from atlas.code.retrieve.named_folder import in_named_folder
from atlas.code.retrieve.phrases import by_phrase
from atlas.code.retrieve.places import by_place, with_line
from atlas.code.retrieve.sentence_transformer import by_quality
from atlas.core.errors import AtlasError
from atlas.core.model import Filter, Label, Match, Scored

RERANK_LIMIT = 100
"""Hits of a single channel that are read, and candidates by which the signals of relevance are fitted; a hybrid search
reads and ranks all, the same for every page so that paging is stable. Of 330 files asked for, the first 60 candidates
lack 6 %, 100 lack 4 %, 200 lack 3 %."""
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
MOST_UNASKED = 6
"""Words of a text without a question that may still be one: `callers of f`, `f usages in g.py`."""
_DEFINITIONS = frozenset((Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE))


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
    report: LineReport | None = None
    """The answer to a question that lines of texts or of the history answer; nothing is ranked then."""
    relevance: float = 1.0
    """How likely it is that the index answers the question; below `RELEVANT` the hits are merely the nearest."""
    strength: float = 1.0
    """The same with what the first hits have of the question: below `WEAK`, a note says so."""
    answered_by: str = ""
    """The entry of `ANSWERERS` that answered; "" for ranked hits."""
    cards: tuple[SubjectCard, ...] = ()
    """What the graph has about the certain subjects of a question that no answerer answers."""
    unranked: tuple[Scored, ...] = ()
    """Candidates behind the `RERANK_LIMIT` that a hybrid search reads and ranks, by their text alone."""
    lines: Mapping[str, tuple[ExactLine, ...]] = field(default_factory=dict[str, tuple[ExactLine, ...]])
    """By uid of a hit: the lines that have or build a text of the question."""
    nowhere: tuple[str, ...] = ()
    """Texts that the question quotes and no file has."""
    values: tuple[PlainValue, ...] = ()
    """Lines whose value a question in plain words may ask for."""
    absent: tuple[str, ...] = ()
    """A line for each word of a question for existence that no code has, and with the commits of the best hit."""
    windows: Mapping[str, Sequence[BodyWindow]] = field(default_factory=dict[str, Sequence[BodyWindow]])
    """By uid of a function: the lines of its body that were compared with a question for behaviour."""


async def search(
    reader: Reader,
    text: str,
    where: Filter,
    mode: Mode = Mode.HYBRID,
    fusion: Fusion = Fusion.WEIGHTED,
    *,
    demote_tests: bool = True,
    wanted: int = RERANK_LIMIT,
    stated: RelationIntent | None = None,
) -> SearchResult:
    """Find candidates for a question. A failed channel adds a note instead of raising.

    The hybrid mode answers a question about a relation from the graph alone, unless nothing has the name asked for and
    that name may be an English word; it ranks all candidates. A single channel keeps its own order, but for definitions
    of a name that is the whole question, and reads only the first `wanted` nodes. `stated`: the relation asked for.
    """
    text, query = _read_question(reader, text, mode)
    if mode == Mode.HYBRID:
        relation = stated or await _relation(reader, query, where)
        query = replace(without_examples(query, reader.split_words), relation=relation)
        subjects = Subjects() if stated is not None else await _subjects(reader, query, where)
        answered = await answer_question(reader, AskedQuestion(text, query, where, subjects, stated is not None))
        if answered.answer is not None:
            return _answer(query, answered)
        asked, where = where, await in_named_folder(reader, query, where)
        found = await _find(reader, text, query, where)
        query, rankings = found.query, found.rankings
        cards, values, absent, is_missing = await _told(reader, subjects, found, where)
        fused = fuse(rankings, query, fusion)
        ranked, rankings, problems = await _read_and_rank(reader, found, fused, demote_tests=demote_tests)
        is_covered = has_covering_page(ranked, query, reader.root.name)
        judgement = MISSING if is_missing else Judgement() if is_covered else await judge(reader, found, ranked, where)
        shown = await _by_bodies(reader, found, ranked, where, is_answered=is_covered or _is_told(query, cards, values))
        limits = (f"only {where.path} was searched, which the question names",) if where != asked else ()
        notes, total = (*answered.notes, *limits, *remarks(found, judgement)), len(shown.ranked)
    else:
        run = by_words if mode == Mode.WORDS else by_any_meaning
        rankings, notes, fused = await gather((mode.value, run(reader, query, where))), (), []
        cards, values, absent, judgement = (), (), (), Judgement()
        best = rankings[0].hits
        hits = await _definitions_first(reader, best, query, where) if mode == Mode.WORDS else best
        read = await hydrate(reader, hits[:wanted], rankings)
        shown, total, problems = BodyEvidence(read.candidates, {}), len(hits), read.notes
    said = (*query.notes, *(each.note for each in rankings), *notes, *problems)
    return SearchResult(
        query,
        tuple(shown.ranked),
        total,
        said,
        relevance=judgement.relevance,
        strength=judgement.strength,
        unranked=tuple(fused[RERANK_LIMIT:]),
        cards=cards,
        lines={uid: lines for each in rankings for uid, lines in each.lines},
        nowhere=tuple(text for each in rankings for text in each.nowhere),
        values=values,
        absent=(*absent, *(await commits_of_hit(reader, query, shown.ranked, where) if mode == Mode.HYBRID else ())),
        windows=shown.windows,
    )


def _read_question(reader: Reader, text: str, mode: Mode) -> tuple[str, Query]:
    """Return what is asked, without quotes that quote nothing, and what it says."""

    def read(asked: str) -> Query:
        return route(asked, reader.split_words, reader.languages)

    text = without_scare_quotes(text, read) if mode == Mode.HYBRID else text
    return text, read(text)


def _is_told(query: Query, cards: Sequence[SubjectCard], values: Sequence[PlainValue]) -> bool:
    """Return whether cards or values answer a question; of a long one, values may be of something else."""
    return bool(cards or (values and not asks_at_length(query)))


async def _relation(reader: Reader, query: Query, where: Filter) -> RelationIntent | None:
    """Return the relation that a question asks for, with the line of its name or the owner that it writes before it."""
    found = with_line(query.relation, query.text, reader.languages)
    return found or await qualified_relation(reader, query.text, where)


async def _told(
    reader: Reader, subjects: Subjects, found: ChannelHits, where: Filter
) -> tuple[tuple[SubjectCard, ...], tuple[PlainValue, ...], tuple[str, ...], bool]:
    """Return the cards of a question's subjects, the values that it may ask for, and which words no code has.

    And whether the flag or member that it asks about does not exist: hits are merely the nearest then.
    """
    query = found.query
    if any(each.lines or each.nowhere for each in found.rankings):
        return (), (), (), False  # the text that is asked for is the subject
    # statements answer a question for behaviour, whatever is called like one of its words
    cards = () if _asks_bodies(reader, query) else await _cards(reader, query, subjects, where.project)
    try:
        # what a missing name gives no value to is none of what is asked for
        values = () if subjects.unknown else await find_plain_values(reader, query, where)
        values += await setters_of(reader, query.text, values, where)
        values += await find_bounds(reader, query, where)
        unknown = await unknown_words(reader, found, where)
        is_named = bool(subjects.unknown) or any(each.written.shape > NameShape.PLAIN for each in subjects.found)
        is_described = asks(query.text) and not is_named
        described = await family_lines(reader, query.text, where.project) if is_described else ()
        members = await member_lines(reader, query.text, subjects, where.project or reader.project)
        named = () if members else await find_absent_named(reader, query, where)
        named = named if members or named else await find_absent_flag(reader, query, where)
        is_missing = bool(members or named or flag_names(query.text))
        things = AbsentThings() if is_missing else await find_absent_things(reader, query, unknown, where)
        named = named or things.lines or await find_absent_option(reader, query, where)
        absent = (*members, *(named or await find_absent_words(reader, query, unknown, where)))
        absent = (*absent, *await commits_of_absent(reader, absent, where))
        is_missing = bool(absent) and (is_missing or things.is_missing)
        if is_missing:
            values = ()  # what is not there has no default
            cards = tuple(each for each in cards if each.subject is not None)
        certain = [each for each in subjects.found if each.written.shape > NameShape.KIND]
        shared = await shared_lines(reader, query.text, certain) if not subjects.unknown else ()
        return () if described else cards, values, (*described, *absent, *shared), is_missing
    except AtlasError:
        return cards, (), (), False


async def _subjects(reader: Reader, query: Query, where: Filter) -> Subjects:
    """Return the subjects of a question; none of a text that states or reports something, or is long."""
    if query.states or query.reports or len(query.text) > MAX_RELATION_CHARACTERS:
        return Subjects()
    if len(query.text.split()) > MOST_UNASKED and not asks(query.text):
        return Subjects()  # it states something
    if any(" " in each.text for each in texts_of(query.text)):
        return Subjects()  # the words of a message are no names
    try:
        return await find_subjects(reader, query.text, where.project)
    except AtlasError:
        return Subjects()


async def _cards(reader: Reader, query: Query, subjects: Subjects, project: str) -> tuple[SubjectCard, ...]:
    """Return the cards of names; none for a name alone that several symbols have, because the hits list them."""
    is_alone = len(subjects.text.words) == 1
    if not subjects.found and not subjects.unknown:
        return ()
    if is_alone and subjects.found and subjects.found[0].total > 1:
        return ()
    marked = subjects.marked()
    kinds = hinted_kinds(marked) or ((query.relation.kind,) if query.relation is not None else ())
    asked = CardHints(kinds, asks_for_values(marked), asks_for_code(marked))
    try:
        cards = [await read_card(reader, each, asked) for each in subjects.found]
        return (*cards, *[await read_text_card(reader, each, project, asked) for each in subjects.unknown])
    except AtlasError:
        return ()


def _answer(query: Query, answered: Answered) -> SearchResult:
    """Return the result of a question that an answerer has answered: nothing is ranked."""
    result = SearchResult(query, (), 0, query.notes, answered_by=answered.by)
    match answered.answer:
        case ChangeAnswer() as changes:
            return replace(result, changes=changes)
        case PackageReport() as packages:
            return replace(result, total=len(packages.declared), packages=packages)
        case LineReport() as report:
            return replace(result, total=len(report.lines), report=report)
        case relation:
            assert relation is not None
            notes = (*query.notes, *relation.notes)
            return replace(result, total=len(relation.related), notes=notes, relation=relation)


async def _find(reader: Reader, text: str, query: Query, where: Filter) -> ChannelHits:
    """Run the channels, for a long text as several questions."""
    query = await with_known_joined(reader, query, where)
    long = None if "long_texts" in reader.ranking.off else read_long_text(text, reader.languages)
    if long is not None:
        return await search_long_text(reader, long, query, where)
    rankings, counts = await asyncio.gather(_channels(reader, query, where), count_words(reader, query, where))
    return ChannelHits(query, rankings, counts, query)


async def read_question_signals(reader: Reader, text: str, where: Filter) -> Signals | None:
    """Return the signals behind `SearchResult.relevance` and `strength`; None if the graph answers the question."""
    query = route(text, reader.split_words, reader.languages)
    if (await answer_question(reader, AskedQuestion(text, query, where))).answer is not None:
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
    found = add_descriptions(reader, found, read.candidates)
    ranked = order_candidates(reader, found, read.candidates, demote_tests=demote_tests)
    return ranked, found.rankings, read.notes


async def _by_bodies(
    reader: Reader, found: ChannelHits, ranked: Sequence[Candidate], where: Filter, *, is_answered: bool
) -> BodyEvidence:
    """Return the candidates of a question for behaviour by what commits and their bodies say, others as given."""
    query = found.query
    is_placed = any(each.hits for each in found.rankings if each.channel in ("place", "exact"))
    is_certain = is_answered or is_placed or not ranked or certainty_of(ranked[0], query) is not SENTENCE
    if is_certain or not _asks_bodies(reader, query):
        return BodyEvidence(ranked, {})
    try:
        ranked = await _with_functions(reader, query, ranked, where)
        told = await _told_by_commits(reader, query, where)
        return await rank_by_bodies(
            reader, query, with_told(ranked, told), {each.node.row.uid: each.value for each in told}
        )
    except AtlasError:
        return BodyEvidence(ranked, {})


async def _with_functions(
    reader: Reader, query: Query, ranked: Sequence[Candidate], where: Filter
) -> Sequence[Candidate]:
    """Return the candidates with further functions behind them, where few of them are functions of the code."""
    lacking = FUNCTIONS - sum(is_deciding(each.node.row) for each in ranked)
    if lacking <= 0:
        return ranked
    known = {uid for each in ranked for uid in (each.node.row.uid, *each.also)}
    found, rankings = await find_functions(reader, query, where, known, lacking)
    read = (await hydrate(reader, found, rankings)).candidates
    best = max((each.score for each in found), default=0.0)
    share = ranked[0].score / best if best > 0 else 0.0
    return [*ranked, *(replace(each, score=share * each.score) for each in read)]


async def _told_by_commits(reader: Reader, query: Query, where: Filter) -> Sequence[ToldFunction]:
    """Return the functions that commits tell about; none where the history cannot be read."""
    if "told" in reader.ranking.off:
        return ()
    try:
        return await told_functions(reader, query, where)
    except AtlasError:
        return ()


def _asks_bodies(reader: Reader, query: Query) -> bool:
    return "bodies" not in reader.ranking.off and asks_how(query)


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


CHANNELS: tuple[SearchStep[Callable[[Reader, Query, Filter], Awaitable[Ranking]]], ...] = (
    SearchStep("name", by_name, "the question writes the name of a symbol or file"),
    SearchStep("place", by_place, "the question writes a path with or without a line", switch="places"),
    SearchStep(
        "exact", by_exact_text, "a line on disk has the quoted text, or builds the message", switch="exact_text"
    ),
    SearchStep("graph", by_graph, "callers and callees of a named symbol are its context"),
    SearchStep("phrase", by_phrase, "a quoted text or message stands in the source"),
    SearchStep("words", by_words, "code and documents have the words of the question"),
    SearchStep("meaning", by_meaning, "code and documents say it in other words"),
    SearchStep("prose", by_prose, "notes say it in other words"),
    SearchStep("quality", by_quality, "a sentence transformer, if the user has one, compares meanings better"),
    SearchStep("file_meaning", by_file_meaning, "the start of a file says what it is about"),
)
"""What looks for candidates, all at once; their order is that of the notes and reasons."""


async def _channels(reader: Reader, query: Query, where: Filter) -> list[Ranking]:
    on = [channel for channel in CHANNELS if reader.ranking.has(channel)]
    return await gather(*((channel.name, channel.run(reader, query, where)) for channel in on))


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
        usual = STATED_WORDS_WEIGHT if describes_one(query) else WORDS_WEIGHT
        words_weight = REPORT_WORDS_WEIGHT if query.reports else usual
        totals = text_scores(words, meaning, hits.get("quality", ()), words_weight)
    for uid, share in prose_scores(hits.get("prose", ()), words).items():
        totals[uid] = totals.get(uid, 0.0) + share
    name_weight = NAME_WEIGHT * query.focus**FOCUS_POWER
    weights = {
        "name": name_weight,
        "place": PLACE_WEIGHT,
        "exact": PLACE_WEIGHT,
        "phrase": 0.0 if hits.get("exact") else PHRASE_WEIGHT,  # its test has a message as it is, its source does not
        "written": WRITTEN_WEIGHT,
        "graph": NEIGHBOUR_WEIGHT,
    }
    for channel, weight in weights.items():
        for uid, score in hits.get(channel, ()):
            totals[uid] = totals.get(uid, 0.0) + weight * score
    return order(totals)
