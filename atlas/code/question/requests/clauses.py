"""Split a text into clauses that each ask something, and what is stated before them. Pure.

`I plan to change X. Which types use it, and what tests cover it?` states one thing and asks two. Words decide, in the
order of the text: a clause begins where a question word or an inverted verb follows the end of a sentence, a
conjunction, or a comma of a list of clauses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from atlas.code.question.grammar import find_relation
from atlas.code.question.names import is_code_shaped
from atlas.code.question.requests.verbs import is_third_person

MIN_WORDS = 3
"""Words of a clause: `and where`, `and how often` are answered by the places and numbers of the first."""
_WH = frozenset("who whom whose what which where when why how what's who's where's how's".split())  # noqa: SIM905
_BEFORE_WH = frozenset(("at", "by", "for", "from", "in", "of", "on", "to", "under", "with"))
_BEFORE_NAME = frozenset((*_BEFORE_WH, "through", "via", "into", "using", "is", "are", "does", "do"))
_AUXILIARY = frozenset(
    """
    is are was were do does did can could should will would has have isn't aren't doesn't don't can't must
    """.split()  # noqa: SIM905
)
_SUBJECT = frozenset(
    """
    there it they this that these those the a an any anything anyone anybody i we you one my our its their each all
    every some something someone
    """.split()  # noqa: SIM905
)
_IMPERATIVE = frozenset(("show", "list", "find", "give", "tell", "explain", "describe", "name"))
_JOINS = frozenset(("and", "or", "but", "then", "also", "plus", "so", "&"))
_FILLERS = _JOINS | frozenset(("please", "ok", "okay", "hi", "hey", "well", "now", "for", "example", "btw"))
_KNOWS = frozenset(
    """
    decide decides decided determine determines determined control controls know knows choose chooses check checks
    say says tell tells define defines specify specifies depend depends detect detects see sees figure figures out on
    """.split()  # noqa: SIM905
)
"""Verbs whose object may be a question: `what decides which class is used and how it is built` asks one thing."""
_SUBORDINATE = frozenset(
    "when if while after before once since because given as in with on during where whenever unless".split()  # noqa: SIM905
)
_CONDITIONS = frozenset(("if", "when", "suppose", "once", "after", "before", "while", "since", "because"))
"""Words that open a condition, which may hold a question word of its own: `If I change how X is read, what breaks?`."""
_ANSWERS_BEFORE = frozenset((("if", "not"), ("if", "so"), ("if", "yes"), ("if", "no"), ("otherwise",)))
"""What takes up the answer to the question before, and is about nothing itself."""
_MOST_OF_ELLIPSIS = 4
"""Words of a question without a verb: `and for which status codes`."""
_ABBREVIATED = frozenset(("e.g", "i.e", "etc", "vs", "cf", "approx", "resp"))
_EDGE = "`'\"“”,;:?!()[]{}.…"
_PERSONS = frozenset(("i", "i'm", "i'd", "i've", "i'll", "we", "we're", "we'd", "we've", "my", "our"))
_MOST_OF_EACH = 7
_WITHOUT_OBJECT = 2
"""Words of `what raises`."""
_LEADS = frozenset(("know", "tell", "see", "understand", "wonder", "wondering", "show", "explain", "find", "out", "me"))


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a text."""

    text: str
    asks: bool
    """It asks something; otherwise it states it."""
    is_context: bool = False
    """It is the condition of the questions behind it: `When a request fails, ...`."""


@dataclass(frozen=True, slots=True)
class _ClauseWord:
    raw: str
    low: str
    is_inert: bool
    """It stands within quotes."""

    @property
    def ends_sentence(self) -> bool:
        bare = self.raw.rstrip("\"')`")
        return not self.is_inert and (
            bare.endswith(("?", "!", ";"))
            or (bare.endswith(".") and self.low not in _ABBREVIATED and len(self.low) > 1)
        )

    @property
    def ends_part(self) -> bool:
        return not self.is_inert and (self.raw.endswith((",", ":")) or self.raw in ("-", "--", "–", "—"))


def split_clauses(text: str) -> list[Clause]:
    """Return the clauses of a text in order."""
    clauses = (clause for sentence in _sentences(_words(text)) for clause in _of_sentence(sentence))
    return [clause for clause in clauses if clause.text]


def opens_question(words: Sequence[str]) -> bool:
    """Return whether words begin with a question word or an inverted verb."""
    return _opens([_ClauseWord(each, each.strip(_EDGE).lower(), False) for each in words], 0)


def other_name(words: Sequence[str]) -> str:
    """Return the name of a clause without a verb, which is that of the clause before: `and who B.y`; "" for others."""
    low = [each.strip(_EDGE).lower() for each in words]
    if not 2 <= len(low) <= MIN_WORDS or low[0] not in _WH or (len(low) == MIN_WORDS and low[1] not in _BEFORE_NAME):
        return ""
    name = words[-1].strip(_EDGE)
    return name if is_code_shaped(name) or words[-1].startswith("`") else ""


def _words(text: str) -> list[_ClauseWord]:
    found: list[_ClauseWord] = []
    mark = ""
    for raw in text.split():
        was = mark
        for letter in raw:
            if letter in '"`' and mark in ("", letter):
                mark = "" if mark else letter
        found.append(_ClauseWord(raw, raw.strip(_EDGE).lower(), bool(mark) or (bool(was) and not raw.startswith(was))))
    return found if not mark else [_ClauseWord(each.raw, each.low, False) for each in found]


def _sentences(words: Sequence[_ClauseWord]) -> Iterator[Sequence[_ClauseWord]]:
    start = 0
    for number, word in enumerate(words, 1):
        if word.ends_sentence or number == len(words):
            yield words[start:number]
            start = number


def _of_sentence(words: Sequence[_ClauseWord]) -> Iterator[Clause]:
    start = _after_fillers(words, 0)
    lead = _first_question(words, start)
    is_question = words[-1].raw.rstrip("\"')`").endswith("?")
    if lead == len(words):
        yield Clause(_text(words[start:]), asks=is_question)
        return
    before = words[start:lead]
    if tuple(each.low for each in before) in _ANSWERS_BEFORE:
        start, before = lead, words[lead:lead]
    is_subordinate = bool(before) and before[0].low in _SUBORDINATE and before[-1].ends_part
    if before and not is_subordinate:
        before_ends = before[-1].ends_part or before[-1].low in _JOINS
        is_lead = not before_ends and any(each.low in _LEADS for each in before)
        if not (is_question or is_lead or before_ends):
            yield Clause(_text(words[start:]), asks=False)
            return
        if before_ends:
            said = _text(words[start : _before_joins(words, lead, start)])
            yield Clause(said, asks=before[0].low not in _PERSONS and find_relation(said) is not None)
        start = lead if before_ends else _after_statement(words, start, lead)
        cuts = _cuts(words, start, lead + 1)
    else:
        if before:
            yield Clause(_text(before), asks=False, is_context=True)
        cuts = _cuts(words, lead, lead + 1)
    parts = [
        words[first : _before_joins(words, end, first)]
        for at, end in zip(cuts, [*cuts[1:], len(words)], strict=True)
        for first in (_after_fillers(words, at),)
    ]
    for number, part in enumerate(parts):
        following = parts[number + 1] if number + 1 < len(parts) else ()
        yield Clause(_text((*part, *_shared_object(part, following))), asks=True)


def _shared_object(part: Sequence[_ClauseWord], following: Sequence[_ClauseWord]) -> Sequence[_ClauseWord]:
    """Return the object that a clause shares with the next one: `what raises and what catches X`."""
    is_open = len(part) == _WITHOUT_OBJECT and part[0].low in ("who", "what") and not part[1].ends_part
    if not is_open or len(following) <= _WITHOUT_OBJECT or following[0].low != part[0].low:
        return ()
    return following[_WITHOUT_OBJECT:] if is_third_person(part[1].low) and is_third_person(following[1].low) else ()


def _after_statement(words: Sequence[_ClauseWord], start: int, lead: int) -> int:
    """Return where a sentence begins whose question follows a statement: `I move it and need to know who ...`."""
    joins = [at for at in range(start, lead) if words[at].low in _JOINS]
    return joins[-1] + 1 if joins and joins[-1] - start >= MIN_WORDS else start


def _first_question(words: Sequence[_ClauseWord], start: int) -> int:
    """Return where the first question of a sentence begins, behind `When a request fails,`; its length for none."""
    found = [at for at in range(start, len(words)) if _opens(words, at, is_first=at == start)]
    if found and found[0] == start and words[start].low in _SUBORDINATE and not _is_inverted(words, start):
        return next((at for at in found[1:] if words[at - 1].ends_part), start)
    is_condition = words[start].low in _CONDITIONS and not _is_inverted(words, start)
    if found and is_condition and not words[found[0] - 1].ends_part:
        return next((at for at in found[1:] if words[at - 1].ends_part), found[0])
    return found[0] if found else len(words)


def _cuts(words: Sequence[_ClauseWord], start: int, first: int) -> list[int]:
    """Return where the clauses of a sentence begin, the first of them at `start`."""
    cuts = [start]
    for at in range(first, len(words)):
        if at - cuts[-1] < MIN_WORDS or not _opens(words, at, is_first=False):
            continue
        if not _is_joined(words, at) or _is_object(words[cuts[-1] : at], words, at):
            continue
        rest = words[at:]
        is_whole = len(rest) >= MIN_WORDS and not _is_ellipsis(rest) and not _is_of_each(rest)
        if is_whole or other_name([each.raw for each in rest]):
            cuts.append(at)
    return cuts


def _is_ellipsis(words: Sequence[_ClauseWord]) -> bool:
    """Return whether the rest of a sentence asks for a detail of it: `and for which status codes`."""
    if words[0].low not in _BEFORE_WH or len(words) > _MOST_OF_ELLIPSIS:
        return False
    return not any(each.low in _AUXILIARY or each.low in ("it", "that", "them", "they") for each in words)


def _is_of_each(words: Sequence[_ClauseWord]) -> bool:
    """Return whether the rest of a sentence asks for something of each result: `and what runs in each`."""
    last = [each.low for each in words[:_MOST_OF_EACH]]
    is_short = len(words) <= _MOST_OF_EACH and "each" in last
    return is_short and (last[-1] == "each" or last[-3:] in (["each", "of", "them"], ["each", "of", "those"]))


def _is_joined(words: Sequence[_ClauseWord], at: int) -> bool:
    """Return whether a clause that begins at a word stands beside the one before, rather than within it."""
    previous = words[at - 1]
    if previous.is_inert:
        return False
    if previous.low in _JOINS:
        return not (previous.low == "or" and words[at].low in _AUXILIARY)  # `is it used or is it dead`
    if not previous.ends_part:
        return False
    question = words[at].low if words[at].low in _WH else words[at + 1].low if at + 1 < len(words) else ""
    if question in ("what", "how", "why") or (question in ("where", "when") and _is_inverted(words, at)):
        return True
    rest = range(at + 2, len(words))
    return any(words[number - 1].low in _JOINS and _opens(words, number, is_first=False) for number in rest)


def _is_object(left: Sequence[_ClauseWord], words: Sequence[_ClauseWord], at: int) -> bool:
    """Return whether a clause is a further object of a verb such as `decides`."""
    if _is_inverted(words, at) or left[0].low in _PERSONS:  # `I need to know who calls X and which tests cover it`
        return False
    return any(
        word.low in _KNOWS and following.low in (*_WH, "whether", "if") for word, following in pairwise(left[1:])
    )


def _is_inverted(words: Sequence[_ClauseWord], at: int) -> bool:
    """Return whether a verb stands before its subject: `how is it built`, not `how it is built`."""
    if words[at].low in _AUXILIARY or words[at].low.endswith("'s"):
        return True
    first, second = (each.low if each is not None else "" for each in (*words[at + 1 : at + 3], None, None)[:2])
    return first in _AUXILIARY or (second in _AUXILIARY and first not in _SUBJECT)


def _opens(words: Sequence[_ClauseWord], at: int, *, is_first: bool = True) -> bool:
    """Return whether a question can begin at a word."""
    word = words[at]
    following = words[at + 1] if at + 1 < len(words) else None
    if word.is_inert:
        return False
    if word.low in _WH:
        return following is None or following.low != "to"
    if word.low in _BEFORE_WH:
        return following is not None and following.low in ("whom", "what", "which", "where") and not is_first
    if following is None:
        return False
    if word.low in _AUXILIARY:
        is_name = is_code_shaped(following.raw.strip(_EDGE)) or following.raw.startswith(("--", "`"))
        return following.low in _SUBJECT or is_name or is_first
    is_told_of = [each.low for each in words[at + 1 : at + 3]] == ["used", "to"]  # `find used to match paths`
    if word.low not in _IMPERATIVE or is_told_of:
        return False
    is_told = words[0].low in _PERSONS and words[at - 1].ends_part  # `I want to change X, tell me what breaks`
    return is_first or words[at - 1].low in _JOINS or is_told


def _after_fillers(words: Sequence[_ClauseWord], start: int) -> int:
    at = start
    while at < len(words) - 1 and words[at].low in _FILLERS:
        at += 1
    return at


def _before_joins(words: Sequence[_ClauseWord], end: int, start: int) -> int:
    while end > start + 1 and end < len(words) and words[end - 1].low in _JOINS:
        end -= 1
    return end


def _text(words: Sequence[_ClauseWord]) -> str:
    return " ".join(word.raw for word in words).strip(" ,;:")
