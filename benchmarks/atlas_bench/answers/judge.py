"""Verdicts: a question and the claims of an answer in, right, partly or wrong out.

*Sets* (callers, tests, ...) are right with 80 % of the gold and at most 20 % other places. *Chains* (path, impact) need
their gold and may name more. A question for one place is right if the place is named. "None" is right where there is
nothing, and a wrong target where there is something.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from atlas_bench.answers.claims import Claim, plain_name
from atlas_bench.answers.questions import INSIDE, MISSING, SETS, Place, Question

ENOUGH = 0.8
"""Share of gold, and of claims that are gold, from which an answer is right."""
BY_NAME = ("callees", "path", "supertypes")
"""Kinds whose edges end at other symbols: an answer may cite the line of the call or that of the definition."""
PART = 0.4
"""Share of gold from which an answer is partly right."""


class Outcome(StrEnum):
    """How good an answer is."""

    RIGHT = "right"
    PARTLY = "partly"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one answer. `recall` and `precision` are shares between 0 and 1."""

    outcome: Outcome
    recall: float
    precision: float = 1.0
    wrong_target: bool = False
    """It asserts what is not so: a forbidden place, something where there is nothing, or nothing where there is."""
    absent: tuple[str, ...] = ()
    """Gold that the answer lacks."""
    surplus: tuple[str, ...] = ()
    """Places in it that are not gold."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as the judge sees it."""

    claims: Sequence[Claim]
    text: str
    asserts: bool = True
    """Everything named is meant as the answer, unlike the hits of a search or the lines of grep."""
    raw: bool = False
    """Lines of a command, of which a reader takes what fits: surplus costs tokens only."""
    unknown: bool = False
    """It says that the symbol in the question does not exist."""
    undecided: bool = False
    """It says that it does not know whether there is more: an empty answer asserts nothing."""


def judge(question: Question, reply: Reply) -> Verdict:
    """Return the verdict on an answer."""
    if question.says:
        said = re.search(question.says, reply.text, re.IGNORECASE | re.DOTALL) is not None
        return Verdict(Outcome.RIGHT if said else Outcome.WRONG, float(said))
    if question.none:
        return _judge_none(question, reply)
    if question.kind == "call-sites":
        question, reply = _by_line(question), replace(reply, claims=_each_line(reply.claims))
    verdict = _judge_place(question, reply) if question.kind in INSIDE else _judge_set(question, reply)
    forbidden = [place for place in question.forbidden if any(matches(place, each) for each in reply.claims)]
    if forbidden and reply.asserts:
        outcome = Outcome.PARTLY if verdict.outcome is Outcome.RIGHT else verdict.outcome
        return replace(verdict, outcome=outcome, wrong_target=True, surplus=tuple(map(str, forbidden)))
    says_none = not reply.claims and not reply.undecided
    return replace(verdict, wrong_target=verdict.wrong_target or says_none)


def matches(place: Place, claim: Claim) -> bool:
    """Return whether a claim names a place: its path, and one of its lines or its name if it has any."""
    if claim.path != place.path and not (place.path.endswith("/") and claim.path.startswith(place.path)):
        return False
    if not place.lines and not place.name:
        return True
    return bool(place.lines & claim.lines) or (bool(place.name) and plain_name(place.name) in claim.names)


def _same_name(place: Place, claim: Claim) -> bool:
    return matches(place, claim) or (bool(place.name) and plain_name(place.name) in claim.names)


def _judge_none(question: Question, reply: Reply) -> Verdict:
    others = [each for each in reply.claims if not any(matches(place, each) for place in question.allowed)]
    if others:
        return Verdict(Outcome.WRONG, 0.0, 0.0, reply.asserts, surplus=_places(others))
    if question.kind != MISSING:
        return Verdict(Outcome.WRONG if reply.unknown else Outcome.RIGHT, float(not reply.unknown), 1.0, reply.unknown)
    near = not question.near or reply.raw or any(name in reply.text for name in question.near)
    return Verdict(Outcome.RIGHT if near else Outcome.PARTLY, 1.0, absent=() if near else question.near)


def _judge_place(question: Question, reply: Reply) -> Verdict:
    if any(matches(place, each) for place in question.gold for each in reply.claims):
        return Verdict(Outcome.RIGHT, 1.0)
    paths = {each.path for each in reply.claims}
    outcome = Outcome.PARTLY if any(place.path in paths for place in question.gold) else Outcome.WRONG
    return Verdict(outcome, 0.0, absent=tuple(map(str, question.gold)))


def _judge_set(question: Question, reply: Reply) -> Verdict:
    # a line that grep finds names the supertypes, but not what a body calls
    by_name = question.kind == "supertypes" or (question.kind in BY_NAME and not reply.raw)
    same = _same_name if by_name else matches
    absent = [place for place in question.gold if not any(same(place, each) for each in reply.claims)]
    recall = 1 - len(absent) / len(question.gold)
    right = [each for each in reply.claims if any(same(place, each) for place in question.gold)]
    known = (*question.gold, *question.allowed)
    others = [each for each in reply.claims if not any(same(place, each) for place in known)]
    counted = len(right) + len(others)
    precision = len(right) / counted if counted and question.kind in SETS and not reply.raw else 1.0
    enough = recall >= ENOUGH if question.kind != "path" else not absent
    less = Outcome.PARTLY if recall >= PART else Outcome.WRONG
    outcome = Outcome.RIGHT if enough and precision >= ENOUGH else less
    wrong_target = reply.asserts and precision < 1 - ENOUGH
    surplus = _places(others) if question.kind in SETS else ()
    return Verdict(outcome, recall, precision, wrong_target, tuple(map(str, absent)), surplus)


def _by_line(question: Question) -> Question:
    gold = tuple(Place(place.path, frozenset((line,))) for place in question.gold for line in sorted(place.lines))
    return replace(question, gold=gold or question.gold)


def _each_line(claims: Sequence[Claim]) -> list[Claim]:
    return [Claim(each.path, frozenset((line,)), frozenset()) for each in claims for line in sorted(each.lines)]


def _places(claims: Sequence[Claim]) -> tuple[str, ...]:
    return tuple(str(Place(each.path, each.lines, max(each.names, key=len, default=""))) for each in claims)
