"""The commits of the code that a search finds for a question about the history which no message of a commit tells.

`since when does the scheduler refuse requests` names no symbol; what its first hit has to do with it is a guess, and
said to be one. Reads the version history.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from atlas.code.changes.commit_rows import day_of
from atlas.code.changes.history_words import asks_for_commits
from atlas.code.changes.told_topics import releases_of
from atlas.code.question.parse_question import Query
from atlas.code.rank.rank import Candidate
from atlas.code.reader import Reader
from atlas.core.errors import AtlasError
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label

MOST_COMMITS = 200
_ASKS_MADE = lazy_regex(
    r"\b(?:which|what) (?:commit|change|pr|pull request|release|version)\b|\bsince when\b|^when (?:was|were|did)\b"
    r"|^who (?:\w+ )?(?:added|wrote|made|introduced|changed|fixed|removed)\b",
    re.IGNORECASE,
)
"""Not `where is the hook of a commit called`."""
_ABSENT = lazy_regex(r"`([\w-]{3,60})` (?:is defined nowhere: it )?occurs in no indexed (?:code|file)")
MOST_ABSENT, MOST_NAMING = 2, 6
_CODE = (Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE)


async def commits_of_hit(reader: Reader, query: Query, ranked: Sequence[Candidate], where: Filter) -> tuple[str, ...]:
    """Return a line with the first and the last commit of the first hit in code; () for other questions."""
    if (
        reader.history is None
        or where.project not in ("", reader.project)
        or not asks_for_commits(query)
        or not _ASKS_MADE.search(query.text)
    ):
        return ()
    rows = [each.node.row for each in ranked[:5] if each.node.row.label in _CODE and not each.node.row.is_test]
    if not rows:
        return ()
    row = rows[0]
    try:
        found = await reader.history.line_log(row.path, row.start_line, row.end_line, name=row.name, limit=MOST_COMMITS)
    except AtlasError:
        return ()
    if not found.commits:
        return ()
    first, last = found.commits[-1], found.commits[0]
    release = (await releases_of(reader.history, [first])).get(first.id, "")
    begun = "added" if found.is_whole else "at least as old as"
    said = f"{begun} {day_of(first)} {first.id[:10]} {first.author}: {first.subject}"
    said += f"; first in {release}" if release else ""
    if last.id != first.id:
        said += f"; last changed {day_of(last)} {last.id[:10]} {last.author}: {last.subject}"
    hit = f"{row.qualified_name} {row.path}:{row.line}"
    return (f"no message of a commit was found that tells it; of the best hit, a guess, {hit}: {said}",)


async def commits_of_absent(reader: Reader, said: Sequence[str], where: Filter) -> tuple[str, ...]:
    """Return a line with the commits whose message names a word that no code has; `said`: lines that say so."""
    words = [match[1].lower() for each in said if (match := _ABSENT.match(each)) is not None][:MOST_ABSENT]
    if reader.history is None or not words or where.project not in ("", reader.project):
        return ()
    lines: list[str] = []
    try:
        for word in words:
            about = await reader.history.commits_about((f"{word} ",), MOST_NAMING + 1)
            named = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
            commits = [each.commit for each in about.commits if named.search(each.commit.subject)]
            commits.sort(key=lambda each: -each.time)
            if 0 < len(commits) <= MOST_NAMING:
                told = "; ".join(f"{day_of(each)} {each.id[:10]} {each.author}: {each.subject}" for each in commits)
                lines.append(f"commits that name `{word}`: {told}")
    except AtlasError:
        return ()
    return tuple(lines)
