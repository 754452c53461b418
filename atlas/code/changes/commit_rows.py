"""Commits as lines of answers, and the words for the span that they are limited to. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from atlas.code.lines.line_report import LineReport, TextLine
from atlas.code.question.change_questions import ChangeQuestion
from atlas.core.history import WORK_TREE, Commit
from atlas.core.wording import counted

PAGE = 10
"""Commits of the first page."""
FEW_MORE = 3


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
