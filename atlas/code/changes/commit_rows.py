"""Commits and their authors as lines of answers, and the words for the span that they are limited to.

Reads the version history only for authors that a question names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from atlas.code.lines.line_report import LineReport, TextLine
from atlas.code.question.change_questions import ChangeQuestion
from atlas.core.history import WORK_TREE, Author, Commit, History
from atlas.core.lazy_regex import lazy_regex
from atlas.core.wording import counted

PAGE = 10
"""Commits of the first page."""
FEW_MORE = 3
_OF_AUTHOR = lazy_regex(
    r"\b(?:by|from|author(?:ed)?|committed|commits|contribut\w+|did|has|have|of|made|wrote|work(?:ed)?)\b",
    re.IGNORECASE,
)


def last_of(question: ChangeQuestion) -> str:
    """Return the revision that the commits end with; "" for HEAD."""
    return "" if question.new == WORK_TREE else question.new


def page(lines: Sequence[TextLine]) -> int:
    """Return how many lines are shown first: all, where the rest is about as long as the words that it is withheld."""
    return len(lines) if len(lines) <= PAGE + FEW_MORE else PAGE


def since_words(question: ChangeQuestion) -> str:
    """Return the revisions and times that commits are limited to, as a title says them."""
    said = f" since {question.old.removeprefix('tags/')}" if question.old else ""
    if last_of(question):
        said = f" from {question.old} to {question.new}"
    if question.after:
        said += f" from {day(question.after)}"
    return said + (f" to {day(question.until)}" if question.until else "")


def commit_row(commit: Commit, release: str = "") -> TextLine:
    """Return a commit as a line: day and id, author, subject, paths, the first release."""
    more = f" +{commit.more_paths}" if commit.more_paths else ""
    paths = f" [{', '.join(commit.paths)}{more}]" if commit.paths else ""
    first = f"; first in {release}" if release else ""
    return TextLine("commits", f"{day_of(commit)} {commit.id[:10]}", f"{commit.author}: {commit.subject}{paths}{first}")


def day_of(commit: Commit) -> str:
    """Return the day of a commit, as `git log` shows it."""
    return commit.authored or day(commit.time)


def day(moment: int) -> str:
    """Return the day of a Unix time in UTC; "?" for a time that no calendar holds."""
    try:
        return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return "?"


def authors_of(title: str, commits: Sequence[Commit], notes: Sequence[str]) -> LineReport:
    """Return who made commits, with how many and the last day."""
    counts = Counter(each.author for each in commits)
    last = {each.author: day_of(each) for each in reversed(commits)}
    lines = tuple(
        TextLine("authors", name, f"{counted(count, 'commit')}, last {last[name]}")
        for name, count in counts.most_common()
    )
    return LineReport(
        "changes", f"authors of {title}: {len(counts)} in {counted(len(commits), 'commit')}", lines, tuple(notes)
    )


async def all_authors(history: History) -> LineReport:
    """Return who the authors of commits are, most commits first."""
    authors = await history.authors()
    lines = tuple(TextLine("authors", each.name, counted(each.commits, "commit")) for each in authors[:100])
    return LineReport("changes", f"authors of commits: {len(authors)}", lines, first=15)


async def commits_of_authors(history: History, text: str, question: ChangeQuestion) -> LineReport | None:
    """Answer for the commits of an author; None where the question names none."""
    names = await named_authors(history, text, required=True)
    if not names:
        return None
    commits: list[Commit] = []
    more, notes = False, list[str]()
    for name in sorted(names)[:3]:
        log = await history.log(
            200, since=question.old, after=question.after, until=question.until, paths=4, author=name
        )
        commits += log.commits
        more |= log.more
        notes += log.notes
    commits.sort(key=lambda each: -each.time)
    count = f"{len(commits)}{' or more' if more else ''}" if commits else "none"
    title = f"commits by {', '.join(sorted(names))}{since_words(question)}: {count}"
    lines = tuple(commit_row(each) for each in commits)
    return LineReport("changes", title, lines, tuple(notes), first=page(lines))


async def named_authors(history: History, text: str, *, required: bool) -> set[str]:
    """Return the authors of commits that a question names: in full, or by one capitalised part of the name."""
    if not _OF_AUTHOR.search(text) or (not required and not re.search(r"\b(?:by|from|did|has)\b", text)):
        return set()
    authors = await history.authors()
    lowered = text.lower()
    full = {each.name for each in authors if " " in each.name and each.name.lower() in lowered}
    if full:
        return full
    words = {word.strip("`'\".,?!:;()").removesuffix("'s") for word in text.split()[1:]}
    behind = {match.lower() for match in re.findall(r"\bby (?:@)?([\w-]+)", text)}
    parts = {word.lower() for word in words if len(word) > 2 and word[:1].isupper()} | behind
    return _by_part(authors, parts)


def _by_part(authors: Iterable[Author], parts: set[str]) -> set[str]:
    """Return the author with the most commits whose name has one of the words as a part."""
    found = [each for each in authors if parts & {*re.split(r"[\s.@-]+", each.name.lower()), each.name.lower()}]
    return {found[0].name} if found else set()
