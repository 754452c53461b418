"""Add to an answer of hybrid_search the lines with names and rare words of the question that it does not show."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from atlas.answers.answer import Answer
from atlas.answers.assemble import tokens_of
from atlas.code.atlas import Atlas
from atlas.code.freshness import stale_files
from atlas.code.question.behaviour import asks_for_thing, asks_how
from atlas.code.question.parse_question import Query, route
from atlas.code.tools.envelope import make_filter, open_envelope
from atlas.code.tools.relation_answer import RelationAnswer
from atlas.code.tools.reports import ReportAnswer
from atlas.code.tools.search.question_lines import QuestionLine, find_question_lines
from atlas.code.tools.search.search_answer import SearchAnswer
from atlas.code.tools.search.snippets import cut_line
from atlas.code.tools.symbol.constants import asks_for_value
from atlas.core.errors import AtlasError
from atlas.core.model import Filter

FURTHER_TOKENS = 150
"""Tokens of the lines that are added, about twelve lines."""
LEAST_TOKENS = 40
"""Fewer show no line that would be worth its heading."""
SHORT = 6
"""Words of a question that has one thing to ask: `which functions call X`."""
_OF_HISTORY = frozenset(("commits", "changed", "last_change", "changed_together"))
_Built = TypeVar("_Built", bound=Answer)


async def with_further_lines(atlas: Atlas, answer: _Built, query: str, project: str, budget: int) -> _Built:
    """Return the answer with lines of code that have the question's names and rare words, within the budget.

    A name alone, a quoted text and a question about commits are answered by what they ask for.
    """
    read = route(query, split_words=atlas.reader.split_words, languages=atlas.reader.languages)
    if answer.evidence.below_floor or read.focus >= 1 or read.phrases or read.reports or _is_whole(answer, read):
        return answer
    try:
        lines = await _found(atlas, read, answer, project)
    except AtlasError as error:  # the answer stands without them
        lines = [f"not read: {error.message}"]
    if not lines:
        return answer
    if atlas.draft is not None and atlas.draft.finish is not None:
        atlas.draft.finish = _again(atlas, atlas.draft.finish, lines, budget)
    return _fitted(atlas, answer, lines, budget)


def _is_whole(answer: Answer, read: Query) -> bool:
    """Return whether an answer is of commits, or all that a question about edges asks for."""
    if isinstance(answer, ReportAnswer) and (
        answer.report.outcome == "no_history" or any(each.name in _OF_HISTORY for each in answer.report.groups)
    ):
        return True
    if isinstance(answer, SearchAnswer) and _asks_behaviour(read):
        return True  # what is asked for in plain words is in other words than the code
    if not isinstance(answer, ReportAnswer | RelationAnswer) or answer.result().is_missing:
        return False
    return len(read.text.split()) <= SHORT or (isinstance(answer, RelationAnswer) and not answer.ignored)


def _asks_behaviour(read: Query) -> bool:
    """Return whether a question asks in plain words how something happens, not for a value or a setting."""
    return not read.names and asks_how(read) and not asks_for_value(read.text) and not asks_for_thing(read.text)


def _is_read(answer: Answer) -> bool:
    """Return whether all that was asked for was understood and found: lines with the same names say nothing more."""
    if isinstance(answer, RelationAnswer) and answer.ignored:
        return False
    return isinstance(answer, ReportAnswer | RelationAnswer) and not answer.result().is_missing


async def _found(atlas: Atlas, query: Query, answer: Answer, project: str) -> Sequence[str]:
    """Return the lines as text, by file; none of a file that has changed since."""
    envelope = await open_envelope(replace(atlas, draft=None), project, budget := answer.evidence.token_budget)
    state = envelope.state
    where: Filter = await make_filter(atlas, state.project)
    found = await find_question_lines(atlas.reader, query, where, answer.render(), only_unsaid=_is_read(answer))
    found = _affordable(atlas, found, min(FURTHER_TOKENS, budget))
    stale = await stale_files(atlas.reader, state.project, state.root, (each.path for each in found))
    changed = {each.path for each in stale or ()}
    return _said([each for each in found if each.path not in changed])


def _affordable(atlas: Atlas, found: Sequence[QuestionLine], tokens: int) -> Sequence[QuestionLine]:
    for count in range(len(found), 0, -1):
        if atlas.reader.counter.count("\n".join(_said(found[:count]))) <= tokens:
            return found[:count]
    return ()


def _said(found: Sequence[QuestionLine]) -> Sequence[str]:
    """Return each file with its lines, the file of the best line first."""
    by_path: dict[str, list[QuestionLine]] = {}
    for each in found:
        by_path.setdefault(each.path, []).append(each)
    lines: list[str] = []
    for path, own in by_path.items():
        own.sort(key=lambda each: each.line)
        lines.append(f"{path}:{own[0].line}: {cut_line(own[0].text)}")
        lines += (f"  {each.line}: {cut_line(each.text)}" for each in own[1:])
    return lines


def _again(
    atlas: Atlas, finish: Callable[[], Awaitable[Answer]], lines: Sequence[str], budget: int
) -> Callable[[], Awaitable[Answer]]:
    async def finished() -> Answer:
        return _fitted(atlas, await finish(), lines, budget)

    return finished


def _fitted(atlas: Atlas, answer: _Built, lines: Sequence[str], budget: int) -> _Built:
    """Return the answer with as many of the lines as fit into the budget; the first of a file names it."""
    if answer.evidence.below_floor or budget - answer.evidence.tokens < LEAST_TOKENS:
        return answer
    for count in range(len(lines), 0, -1):
        longer = replace(answer, evidence=replace(answer.evidence, lines=tuple(lines[:count])))
        if (tokens := tokens_of(atlas.reader.counter, longer)) <= budget:
            return replace(longer, evidence=replace(longer.evidence, tokens=tokens))
    return answer
