"""The revisions and times that a question about commits limits them to.

A word is a revision only where git knows it or it is written as one: `moved away from md5` names none. Reads the
version history.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

from atlas.code.changes.commit_topics import read_range
from atlas.code.question.change_questions import LAST_TAG, ChangeQuestion, change_question
from atlas.core.errors import AtlasError
from atlas.core.history import WORK_TREE, History
from atlas.core.lazy_regex import lazy_regex

_YEAR = lazy_regex(r"\b(?:in|during|of|since|before|until) ((?:19|20)\d\d)\b")
_VERSION = lazy_regex(r"[vV]?\d+\.\d.*")
_ID = lazy_regex(r"[0-9a-f]{7,40}")


async def with_times(history: History, text: str) -> ChangeQuestion:
    """Return what a question asks for, with the revisions that git knows and the times in it."""
    question = change_question(text, "x", "", int(time.time()))
    after, until, old = question.after, question.until, question.old
    if (match := _YEAR.search(text)) is not None and not after:
        year = int(match[1])
        first, last = (int(datetime(each, 1, 1, tzinfo=UTC).timestamp()) for each in (year, year + 1))
        word = match[0].split()[0]
        after, until = (0, first) if word in ("before", "until") else (first, 0 if word == "since" else last)
    if old == LAST_TAG:
        try:
            old = f"tags/{await history.last_tag()}"
        except AtlasError:
            old = ""
    old = "" if re.fullmatch(r"(?:19|20)\d\d", old) else old
    first, last = read_range(text)
    if re.fullmatch(r"\d{4}(?:-\d\d){0,2}", first) and re.fullmatch(r"\d{4}(?:-\d\d){0,2}", last):
        return ChangeQuestion(question.asks, after=_moment(first), until=_moment(last, end=True))
    if first and not (await _is_known(history, first) and await _is_known(history, last)):
        first = last = ""
    old = first or (old if await _is_known(history, old) else "")
    return ChangeQuestion(question.asks, old=old, new=last or WORK_TREE, after=after, until=until)


def _is_written_as_one(word: str) -> bool:
    """Return whether a word is a version, the id of a commit, `HEAD~2` or `origin/main`, whether git has it or not."""
    is_id = _ID.fullmatch(word) is not None and not (word.isdecimal() or word.isalpha())
    return is_id or _VERSION.fullmatch(word) is not None or not {*"~^/:"}.isdisjoint(word) or word == "HEAD"


async def _is_known(history: History, revision: str) -> bool:
    """Return whether git knows a revision, or a word is written as one: `from md5` names none."""
    if not revision or _is_written_as_one(revision):
        return True
    try:
        await history.log(1, last=revision, paths=0)
    except AtlasError:
        return False
    return True


def _moment(written: str, *, end: bool = False) -> int:
    """Return the Unix time at which a year, month or day begins, or ends (UTC); 0 for one that does not exist."""
    year, month, day, *_ = (*map(int, written.split("-")), 0, 0)
    try:
        begins = datetime(year, month or 1, day or 1, tzinfo=UTC)
        length = timedelta(days=1) if day else timedelta(days=31) if month else timedelta(days=365)
        return int((begins + length if end else begins).timestamp())
    except (ValueError, OverflowError):
        return 0
