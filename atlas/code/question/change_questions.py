"""Parse a question about changes: does it ask for commits, a difference or a last change, and since when? Pure.

The grammar has found that a question is about changes, and of which name. Here the times and revisions in it are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from atlas.core.history import BRANCH_BASE, STAGED, WORK_TREE
from atlas.core.lazy_regex import lazy_regex

DEFAULT_COMMITS = 10
MAX_COMMITS = 50
_DAY = 86_400
_UNITS = {"hour": 3_600, "day": _DAY, "week": 7 * _DAY, "month": 30 * _DAY, "quarter": 91 * _DAY, "year": 365 * _DAY}
_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: number for number, word in enumerate(_NUMBER_WORDS)}
_NUMBER = rf"(?P<n>\d{{1,4}}|an?|{'|'.join(_NUMBERS)}|few|couple of)"
_LAST = lazy_regex(rf"\b(?:last|past|previous) (?:{_NUMBER} )?(?P<unit>hour|day|week|month|quarter|year)s?\b")
_AGO = lazy_regex(rf"\b{_NUMBER} (?P<unit>hour|day|week|month|quarter|year)s? ago\b")
_COMMITS = lazy_regex(rf"\b(?:last|latest|recent|newest) {_NUMBER} (?:commits|changes)\b")
_DATE = lazy_regex(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_BETWEEN = lazy_regex(r"\bbetween `?(\S+?)`? and `?(\S+?)`?(?=[ ?!,]|\.(?:\s|$)|$)")
_SINCE = lazy_regex(
    r"\b(?:since|after|against|compared (?:to|with)|relative to|from|diff (?:to|with|of)|versus|vs\.?) "
    r"(?:the )?(?:last )?(?:commit |revision |tag |branch |version |release )?[`'\"]?(?P<rev>[^\s`'\"?,!]+)"
)
_PLAIN_WORD = lazy_regex(
    r"against (?:the )?(?!(?:main|master|head|trunk|develop|dev|upstream|origin|production|staging|stable"
    r"|release)\b)[a-z]{3,}",
    re.IGNORECASE,
)
"""What is no revision unless its name says so or is quoted."""
_FROM_TO = lazy_regex(r"from \S{1,80} to \S", re.IGNORECASE)
_BECAME = lazy_regex(
    r"\b(?:chang|switch|mov|migrat|renam|rais|lower|reduc|increas|went|go|turn)[a-z]* $", re.IGNORECASE
)
"""Before the old and the new value of something: no revisions."""
_LAST_TAG = lazy_regex(
    r"\b(?:since|after|from|against|compared (?:to|with)) (?:the |our )?(?:very )?"
    r"(?:last|latest|newest|previous|most recent) (?:release|tag|version|tagged (?:release|version|commit))"
    r"(?=$|[ ?.!,]+(?:$|(?:in|under|of|to|for)\b))",
    re.IGNORECASE,
)
LAST_TAG = ":last-tag"
"""Revision of a question that means the newest tag; the history knows which one that is."""
_LAST_COMMIT = lazy_regex(
    r"\b(?:since|after|from|against|compared (?:to|with)|relative to) (?:the |my |our )?"
    r"(?:last|latest|newest|previous|most recent) commit(?=$|[ ?.!,]+(?:$|(?:in|under|of|to|for)\b))",
    re.IGNORECASE,
)
_BRANCH = lazy_regex(r"\b(?:this|my|the|our|current) (?:feature )?(?:branch|pr|pull request|merge request|mr)\b")
_UNCOMMITTED = lazy_regex(
    r"\b(?:uncommitted|unstaged|unsaved|local|pending|working (?:tree|copy|directory)|dirty|not (?:yet )?committed"
    r"|(?:did|have) (?:i|we) (?:just )?(?:chang|modif|edit|touch)\w*"
    r"|(?:i|we) (?:have )?(?:just )?(?:changed|modified|edited|touched))\b"
)
_WITH = lazy_regex(r"\b(?:together|co-?chang\w*|alongside|along with)\b|\bchang\w*(?: \w+){0,2} with\b")
_LAST_CHANGE = lazy_regex(r"\b(?:who|when|whom|last|latest|blame|author|authors|newest|most recent(?:ly)?)\b")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "yesterday", "today")
_WORDS_OF_TIME = frozenset((*_DAYS, "now", "last", "the", "this", "then", "when", "i", "we", "it"))
_OWN = lazy_regex(
    r"\b(?:my|our|these|this|current|uncommitted|staged|local|pending|the) (?:\w+ )?"
    r"(?:changes?|diff|edits?|modifications?|patch|branch|pr|pull request)\b"
)


class ChangeAspect(StrEnum):
    """The kind of answer that a question about changes asks for."""

    COMMITS = "commits"
    DIFF = "diff"
    LAST_CHANGE = "last change"
    TOGETHER = "changed together"
    HISTORY = "history"


@dataclass(frozen=True, slots=True)
class ChangeQuestion:
    """A question to the history."""

    asks: ChangeAspect
    name: str = ""
    """The symbol or file, where one is asked about; "" for the whole project."""
    old: str = ""
    """Revision from which a difference starts, or whose ancestors a list of commits leaves out."""
    new: str = WORK_TREE
    after: int = 0
    until: int = 0
    """Unix times that limit a list of commits."""
    limit: int = DEFAULT_COMMITS
    scope: str = ""
    """Path that the answer is limited to."""


def change_question(text: str, name: str, within: str, now: int) -> ChangeQuestion:
    """Return what a question about changes asks for; `name` and `within` are those of the grammar."""
    lowered = text.lower()
    after, until = _times(lowered, now)
    between = _BETWEEN.search(text)
    if between is not None:
        return ChangeQuestion(ChangeAspect.DIFF, "", between[1].strip("`'\""), between[2].strip("`'\""), scope=within)
    revision = _revision(text)
    is_time = name.lower() in (*_WORDS_OF_TIME, "release", "tag", "version") or _DATE.fullmatch(name)
    if name and name not in (revision, "git") and not is_time:
        if _WITH.search(lowered):
            return ChangeQuestion(ChangeAspect.TOGETHER, name)
        if revision or after:
            return ChangeQuestion(ChangeAspect.HISTORY, name, revision, after=after, until=until)
        if _LAST_CHANGE.search(lowered):
            return ChangeQuestion(ChangeAspect.LAST_CHANGE, name)
        return ChangeQuestion(ChangeAspect.HISTORY, name, limit=_commits(lowered))
    if "staged" in lowered and "unstaged" not in lowered:
        return ChangeQuestion(ChangeAspect.DIFF, "", "HEAD", STAGED, scope=within)
    if _UNCOMMITTED.search(lowered):
        return ChangeQuestion(ChangeAspect.DIFF, "", "HEAD", scope=within)
    if revision and not after:
        return ChangeQuestion(ChangeAspect.DIFF, "", revision, scope=within)
    if _BRANCH.search(lowered):
        return ChangeQuestion(ChangeAspect.DIFF, "", BRANCH_BASE, scope=within)
    return ChangeQuestion(ChangeAspect.COMMITS, after=after, until=until, limit=_commits(lowered), scope=within)


def asks_about_own_changes(text: str) -> bool:
    """Return whether a question about impact means the changes at hand: `impact of my changes`."""
    return bool(_OWN.search(text.lower()))


def _commits(text: str) -> int:
    match = _COMMITS.search(text)
    if match is not None:
        return min(max(_number(match["n"]), 1), MAX_COMMITS)
    return 1 if re.search(r"\b(?:last|latest|newest) commit\b", text) else DEFAULT_COMMITS


def _revision(text: str) -> str:
    """Return the revision behind `since`, `against` and the like; "" for a word of time or a date."""
    if _LAST_TAG.search(text):
        return LAST_TAG
    if _LAST_COMMIT.search(text):
        return "HEAD"
    for match in _SINCE.finditer(text):
        revision = match["rev"].rstrip(".;:)")
        if match[0].lower().startswith("against ") and _PLAIN_WORD.fullmatch(match[0]) is not None:
            continue  # `the protection against decompression bombs`
        if "::" in revision or (_FROM_TO.match(text[match.start() :]) and _BECAME.search(text[: match.start()])):
            continue  # `why did it change from io::Result to Infallible`
        is_time = revision.lower() in _WORDS_OF_TIME or _DATE.fullmatch(revision) or revision in _NUMBERS
        if not is_time and not re.match(r"\d{1,3}$", revision) and revision.lower().rstrip("s") not in _UNITS:
            return revision
    return ""


def _times(text: str, now: int) -> tuple[int, int]:
    """Return (after, until) of the first time in a question, zeros without one."""
    for pattern in (_LAST, _AGO):
        if (match := pattern.search(text)) is not None:
            return now - _number(match["n"] or "1") * _UNITS[match["unit"]], 0
    midnight = now - now % _DAY
    if (match := _DATE.search(text)) is not None:
        day = _day(int(match[1]), int(match[2]), int(match[3]))
        return (day, day + _DAY) if re.search(rf"\b(?:on|at) {match[0]}", text) else (day, 0)
    if "yesterday" in text:
        return midnight - _DAY, 0 if "since" in text else midnight
    if "today" in text:
        return midnight, 0
    if (match := re.search(r"\bthis (week|month|year)\b", text)) is not None:
        return now - _UNITS[match[1]], 0
    return 0, 0


def _day(year: int, month: int, day: int) -> int:
    """Return the Unix time at which a day begins (UTC), 0 for a date that does not exist."""
    try:
        return int(datetime(year, month, day, tzinfo=UTC).timestamp())
    except ValueError:
        return 0


def _number(word: str) -> int:
    if word.isdigit():
        return int(word)
    return {"an": 1, "a": 1, "few": 3, "couple of": 2}.get(word, _NUMBERS.get(word, 1))
