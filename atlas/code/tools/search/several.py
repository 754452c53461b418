"""The answer to a text that asks for several things: each part by its own answerer or search, under its own line."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from atlas.answers.answer import Answer, AnswerOutcome
from atlas.answers.evidence import Evidence, StaleFile, Structure, without_empty
from atlas.code.answerers import ANSWERERS
from atlas.code.atlas import Atlas
from atlas.code.question.requests.several import AskedPart, SeveralRequests
from atlas.code.question.requests.subject import RESULT
from atlas.code.rank.likelihood import IS_SURE
from atlas.code.tools.envelope import Envelope, fit_aside, open_envelope
from atlas.code.tools.relation_answer import RelationAnswer
from atlas.code.tools.search.part_results import named_results, results_of
from atlas.code.tools.search.search_answer import SearchAnswer
from atlas.core.errors import AtlasError

MIN_SHARE = 150
"""Tokens that a part needs: less holds no answer."""
AROUND = 30
"""Tokens of the evidence of the whole and of a part's own line."""

_OF_RESULT = "found above"
_NO_RESULT = "it asks about what the part before finds, which names nothing of that kind"

Ask = Callable[[Atlas, str, int], Awaitable[Answer]]
"""Answers one question within a number of tokens."""


@dataclass(frozen=True, slots=True)
class AnsweredPart:
    """One request and its answer; without one, why it has none."""

    asked: str
    answer: Answer | None = None
    problem: str = ""
    remark: str = ""
    """What a pronoun of it was taken for."""
    is_said: bool = False
    """Whether an earlier part's answer is the answer to it, too."""

    def title(self) -> str:
        """Return what was asked, and what its pronoun was taken for."""
        return f"{self.asked} ({self.remark})" if self.remark else self.asked

    def lines(self) -> Iterator[str]:
        """Yield the lines of the answer with its notes and what it leaves out."""
        if self.is_said:
            yield "the answer above says it"
            return
        if self.answer is None:
            yield f"not answered: {self.problem}; ask that alone"
            return
        yield from self.answer.lines()
        yield from (f"note: {note}" for note in self.answer.evidence.notes)
        yield from (f"withheld: {each}" for each in self.answer.evidence.withheld)

    def content(self) -> Structure:
        """Return the content of the answer with its notes and what it leaves out."""
        if self.is_said:
            return {"asked": self.title(), "said_above": True}
        if self.answer is None:
            return {"asked": self.title(), "not_answered": f"{self.problem}; ask that alone"}
        evidence = self.answer.evidence
        said: Structure = {"notes": list(evidence.notes), "withheld": list(evidence.withheld)}
        return without_empty({"asked": self.title(), **self.answer.content(), **said})


@dataclass(frozen=True, slots=True)
class SeveralAnswers(Answer):
    """The answers to the parts of a question, in its order."""

    cites: ClassVar[bool] = True

    tool: str
    parts: tuple[AnsweredPart, ...]
    evidence: Evidence

    def lines(self) -> Iterator[str]:
        """Yield each part under a line that says what was asked."""
        for number, part in enumerate(self.parts, 1):
            yield f"{number}) {part.title()}"
            yield from part.lines()

    def content(self) -> Structure:
        """Return the parts with what was asked."""
        return {"parts": [part.content() for part in self.parts]}

    def emptied(self) -> Self:
        """Return no part."""
        return replace(self, parts=())

    def without_actions(self) -> Self:
        """Return the parts without proposed calls of tools."""
        return self._each(lambda answer: answer.without_actions())

    def offering(self, tools: Collection[str]) -> Self:
        """Return the parts without proposed calls of other tools than these."""
        return self._each(lambda answer: answer.offering(tools))

    def result(self) -> AnswerOutcome:
        """Return what came of the parts together: nothing is missing where one of them is answered."""
        results = [part.answer.result() for part in self.parts if part.answer is not None]
        return AnswerOutcome(
            is_empty=all(each.is_empty for each in results),
            has_no_definition=any(each.has_no_definition for each in results),
            is_missing=all(each.is_missing for each in results),
            asked=tuple(dict.fromkeys(name for each in results for name in each.asked)),
        )

    def _each(self, change: Callable[[Answer], Answer]) -> Self:
        parts = (replace(part, answer=change(part.answer)) if part.answer else part for part in self.parts)
        return replace(self, parts=tuple(parts))


async def answer_several(
    atlas: Atlas, ask: Ask, several: SeveralRequests, project: str, token_budget: int
) -> SeveralAnswers | None:
    """Return the answers to the requests within the budget, each with its share and what those before left of theirs.

    None where they are better asked as one question: alternatives that are no packages, a name that nothing has, or
    parts of which none has more than hits that may answer it.
    """
    envelope = await open_envelope(atlas, project, token_budget)
    alone = replace(atlas, draft=None)  # the tree is said once, of the whole
    left, parts = token_budget - AROUND, list[AnsweredPart]()
    for behind, request in zip(reversed(range(len(several.requests))), several.requests, strict=True):
        asked = await _asked(alone, request, parts[-1] if parts else None, envelope.state.project)
        for later, (text, remark) in zip(reversed(range(behind, behind + len(asked))), asked, strict=True):
            if not text:
                parts.append(AnsweredPart(request.text, problem=remark))
                continue
            shares = (left // (later + 1) - AROUND, left - later * (MIN_SHARE + AROUND) - AROUND)
            part = await _answered(alone, ask, text, shares, parts)
            if part.answer is not None:
                if several.are_alternatives and isinstance(part.answer, SearchAnswer):
                    return None
                left -= part.answer.evidence.tokens + AROUND
            parts.append(replace(part, remark=remark))
    if all(part.answer is None or part.answer.result().is_missing for part in parts):
        return None
    if all(part.answer is not None and _is_uncertain(part.answer) for part in parts):
        return None  # hits of half a sentence miss what the other half says of the same code
    return await _fitted(atlas, envelope, tuple(parts))


async def _asked(
    atlas: Atlas, request: AskedPart, before: AnsweredPart | None, project: str
) -> Sequence[tuple[str, str]]:
    """Return what to ask for a request, each with a remark: about what the part before found, or as it stands.

    An empty text says that there is nothing that its pronoun may mean.
    """
    alone = ((request.text, ""),)
    if before is not None and request.is_among:
        names = named_results(before.answer) if before.answer is not None else ()
        return ((request.of_result.replace(RESULT, ", ".join(names)), ""),) if names else alone
    if before is None or not request.of_result or request.result is None:
        return alone
    answer = before.answer
    if not request.is_certain and isinstance(answer, RelationAnswer) and answer.has_callable:
        return alone
    found = await results_of(atlas, answer, request.result, project) if answer is not None else None
    if found is None:
        return (("", _NO_RESULT),) if request.is_certain else alone
    remark = f"{_OF_RESULT}, {said}" if (said := found.said()) else _OF_RESULT
    names = (name if "/" in name else f"`{name}`" for name in found.names)
    return [(request.of_result.replace(RESULT, name), remark) for name in names]


async def _answered(
    atlas: Atlas, ask: Ask, request: str, shares: tuple[int, int], parts: Sequence[AnsweredPart]
) -> AnsweredPart:
    """Return a part within its share of the tokens, or within the most that it may have where it needs that."""
    too_small = AnsweredPart(request, problem="the token budget is too small for it")
    for share in shares:
        if share < MIN_SHARE:
            return too_small
        try:
            answer = await ask(atlas, request, share)
            same = [part for part in parts if _says_the_same(answer, part)]
            if (same and _names_subject(request, answer)) or any(_has_same_lines(answer, part) for part in parts):
                return AnsweredPart(request, is_said=True)
            if same:
                answer = await ask(_searching(atlas), request, share)  # what answered it knows only some of its words
        except AtlasError as error:
            return AnsweredPart(request, problem=error.message)
        if not answer.evidence.below_floor:
            return AnsweredPart(request, _without_repetition(answer, parts))
    return too_small


def _is_uncertain(answer: Answer) -> bool:
    """Return whether an answer has nothing, or only hits by words and meaning that are not sure."""
    if not isinstance(answer, SearchAnswer):
        return answer.result().is_missing
    return not answer.card and not answer.nowhere and all(hit.sure != IS_SURE for hit in answer.hits)


def _says_the_same(answer: Answer, part: AnsweredPart) -> bool:
    """Return whether an answer is that to an earlier part: the first line says what it is about."""
    if part.answer is None or isinstance(answer, SearchAnswer) or isinstance(part.answer, SearchAnswer):
        return False
    return next(iter(answer.lines()), "") == next(iter(part.answer.lines()), "")


def _has_same_lines(answer: Answer, part: AnsweredPart) -> bool:
    """Return whether an answer about a symbol has the very lines of an earlier part, whatever relation it asks for."""
    if not isinstance(answer, RelationAnswer) or not isinstance(part.answer, RelationAnswer):
        return False
    lines = [*answer.lines()][1:]
    return bool(lines) and lines == [*part.answer.lines()][1:]


def _names_subject(request: str, answer: Answer) -> bool:
    """Return whether the first line of an answer begins with a name in quotes that a request has: it is about that."""
    name = re.match(r"`([^`]{1,200})`", next(iter(answer.lines()), ""))
    return name is not None and re.search(rf"(?<![\w-]){re.escape(name[1])}(?![\w-])", request) is not None


def _searching(atlas: Atlas) -> Atlas:
    """Return the interface without answerers: each question is searched as text."""
    reader = atlas.reader
    off = reader.ranking.off | {each.switched_by for each in ANSWERERS}
    return replace(atlas, reader=replace(reader, ranking=replace(reader.ranking, off=off)))


def _without_repetition(answer: Answer, parts: Sequence[AnsweredPart]) -> Answer:
    """Return the answer of a part: without a further page and what earlier parts say; of their hits the headlines."""
    answer = replace(answer, evidence=replace(answer.evidence, cursor=""))
    if not isinstance(answer, SearchAnswer):
        return answer
    earlier = [part.answer for part in parts if isinstance(part.answer, SearchAnswer)]
    shown = {hit.symbol.uid for each in earlier for hit in each.hits}
    short = (
        replace(hit, symbol=replace(hit.symbol, summary=""), lines=(), same_file=(), near=())
        if hit.symbol.uid in shown
        else hit
        for hit in answer.hits
    )
    said = {line for each in earlier for line in each.card}
    return replace(answer, hits=tuple(short), card=() if said.issuperset(answer.card) else answer.card)


async def _fitted(atlas: Atlas, envelope: Envelope, parts: tuple[AnsweredPart, ...]) -> SeveralAnswers:
    stale: dict[str, StaleFile] = {}
    cites = False
    for part in parts:
        if part.answer is not None:
            stale |= {each.path: each for each in part.answer.evidence.stale}
            cites = cites or bool(part.answer.evidence.freshness)

    def build(count: int) -> SeveralAnswers:
        evidence = envelope.evidence(paths=(*stale, *(("?",) if cites else ())), stale=tuple(stale.values()))
        cut = (
            replace(part, answer=None, is_said=False, problem="the token budget is too small for it")
            for part in parts[count:]
        )
        return SeveralAnswers("hybrid_search", (*parts[:count], *cut), evidence)

    return await fit_aside(atlas, envelope.token_budget, build, len(parts), 1)
