"""What became of files that commits about a topic added: the commits that deleted them, and how long they were there.

A message that says `Kill it` names nothing; the files that the adding commit brought lead to it. Reads the history.
"""

from __future__ import annotations

from collections.abc import Sequence

from atlas.code.changes.commit_rows import commit_row, day_of
from atlas.code.lines.line_report import TextLine
from atlas.core.errors import AtlasError
from atlas.core.history import ChangeKind, Commit, History
from atlas.core.wording import counted

MOST_COMMITS = 3
MOST_FILES = 2
_DAY, _MONTH = 86_400, 30.44


async def deleting_rows(history: History, commits: Sequence[Commit]) -> list[TextLine]:
    """Return the commits that deleted what the first of some commits added, each with how long that was there."""
    rows: dict[str, TextLine] = {}
    try:
        for commit in commits[:MOST_COMMITS]:
            held = await history.content("HEAD", commit.paths[:MOST_FILES])
            for path in (each for each in commit.paths[:MOST_FILES] if each not in held):
                if await _had(history, f"{commit.id}^", path):
                    continue  # it was there before
                log = await history.log(1, path=path, paths=0)
                if not log.commits or log.commits[0].id == commit.id:
                    continue
                last = log.commits[0]
                diff = await history.diff(f"{last.id}^", last.id)
                if any(each.kind == ChangeKind.DELETED and each.path == path for each in diff.changes):
                    row = commit_row(last)
                    span = f"deletes {path}, there since {day_of(commit)}: {_span(last.time - commit.time)}"
                    rows.setdefault(last.id, TextLine("deleted_by", row.place, f"{row.text} ({span})"))
    except AtlasError:
        return [*rows.values()]
    return [*rows.values()]


async def _had(history: History, revision: str, path: str) -> bool:
    try:
        return path in await history.content(revision, [path])
    except AtlasError:
        return False  # the first commit


def _span(seconds: int) -> str:
    """Return a length of time in years and months, or in days."""
    days = seconds / _DAY
    if days < 2 * _MONTH:
        return counted(round(days), "day")
    years, months = divmod(round(days / _MONTH), 12)
    parts = [counted(years, "year")] if years else []
    return " ".join([*parts, *([counted(months, "month")] if months else [])])
