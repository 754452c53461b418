"""What the code had once: a name that a class no longer uses, or one that the index lacks altogether.

`BlockingCache used a ReentrantLock in older versions` names what is gone from a file, `a helper X once` what is gone
from the project: the commits that brought it and took it out answer. Reads the index and the version history.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from atlas.code.changes.commit_history import HistorySubject, subjects_of
from atlas.code.changes.commit_rows import commit_row
from atlas.code.changes.history_words import asks_for_commits
from atlas.code.changes.told_topics import MOST_REASONS, release_rows, releases_of
from atlas.code.lines.line_report import LineReport, TextLine
from atlas.code.question.names import dotted, is_code_shaped
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.errors import AtlasError
from atlas.core.history import NameChanges
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Match
from atlas.core.wording import counted

MIN_NAME = 3
_FORMER = lazy_regex(
    r"\b(?:used (?:an?|the|to)|had (?:an?|the)|was using|were using|relied on|depended on"
    r"|in (?:older|earlier|previous|old|former) (?:versions?|releases?|times|days)|formerly|previously|once|earlier"
    r"|no longer|(?:do|did|does|is|are|was|has)(?: not|n't) .{0,40}\bany ?more|stop(?:ped|s)? (?:using|to use)"
    r"|(?:removed|dropped|deleted|taken out|thrown out|kicked out|gone|ripped out|vanished|disappeared)"
    r"|loses?|lost"
    r"|removes?|drops?|deletes?|replaced|instead of|what (?:happened|became)|got rid of|existed|used to)\b",
    re.IGNORECASE,
)
_ASKS = lazy_regex(r"\b(?:who|when|why|which (?:commit|release|version|pr)|what (?:happened|became)|since)\b", re.I)
_USED = lazy_regex(
    r"\b(?:used to (?:use|have|call|be)|used|had|has|was using|uses?|using|relied on|depended on|call(?:ed|ing)?)"
    r" (?:an? |the |its |our )?[`'\"]?(?P<thing>[A-Za-z_][\w.]{2,80})"
    r"|\b(?:remove[ds]?|drop(?:s|ped)?|delete[ds]?|replace[ds]?|take[ns]?) (?:the )?[`'\"]?"
    r"(?P<gone>[A-Za-z_][\w.]{2,80})",
    re.IGNORECASE,
)
_WHY = lazy_regex(r"\b(?:why|reasons?|what for|motivation)\b", re.IGNORECASE)
_JOINED = lazy_regex(r"[a-z][A-Z]|\w_\w")
"""In a name that is no word of English."""
_KIND = lazy_regex(
    r"\b(?:class|function|method|module|helper|interface|struct|trait|constant|file|type|enum|package)s?"
    r" (?:class |function |called |named )?[`'\"]?(?P<name>[A-Za-z_]\w{2,80})",
    re.IGNORECASE,
)


async def answer_former_name(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer which commits took out what the code had once; None for other questions."""
    text = query.text
    if reader.history is None or where.project not in ("", reader.project) or query.reports:
        return None
    if _FORMER.search(text) is None or _ASKS.search(text) is None:
        return None
    names = _names(query)
    try:
        if (found := await _gone_from_file(reader, query, names, where)) is not None:
            return found
        if not asks_for_commits(query):
            return None
        kinds = {match["name"] for match in _KIND.finditer(text)}
        for name in (name for name in names if _JOINED.search(name) or (name in kinds and is_code_shaped(name))):
            if not await _is_known(reader, name, where):
                return await _gone(reader, name, text, where)
    except AtlasError:
        return None
    return None


def _names(query: Query) -> list[str]:
    """Return the names of a question that may be gone: written as code, or as what something used."""
    quoted = re.findall(r"`([^`\s]+)`", query.text)
    used = [match["thing"] or match["gone"] for match in _USED.finditer(query.text)]
    kinds = [match["name"] for match in _KIND.finditer(query.text)]
    every = (dotted(each).rpartition(".")[2] for each in (*quoted, *query.names, *used, *kinds))
    kept = (each for each in every if each.isidentifier() and each.lower() not in STOP_WORDS and len(each) >= MIN_NAME)
    return list(dict.fromkeys(kept))


async def _is_known(reader: Reader, name: str, where: Filter) -> bool:
    nodes = await reader.store.find(name, Match.FOLDED, Filter(project=where.project or reader.project), 5)
    return any(node.row.path for node in nodes)


async def _gone_from_file(reader: Reader, query: Query, names: Sequence[str], where: Filter) -> LineReport | None:
    """Return the commits that took a name out of the file of the subject; None where it has it, or never had."""
    assert reader.history is not None
    subjects = await subjects_of(reader, query, where)
    if len(subjects) != 1 or not names:
        return None
    subject = subjects[0]
    project = where.project or reader.project
    text = (await reader.store.content(project, [subject.path])).get(subject.path)
    if text is None:
        return None
    held = text.decode("utf-8", "replace")
    for name in names:
        if name in (subject.name, subject.path) or re.search(rf"(?<!\w){re.escape(name)}(?!\w)", held):
            continue
        if not is_code_shaped(name) and f"`{name}`" not in query.text and name.islower() and not query.paths:
            continue  # a word of English
        found = await reader.history.name_changes(name, subject.path)
        if found.changes:
            return await _report(reader, f"`{name}` is no longer in {_title(subject)}", found, query.text, where)
    return None


def _title(subject: HistorySubject) -> str:
    return f"the file of {subject.title}" if subject.node is not None else subject.path


async def _gone(reader: Reader, name: str, text: str, where: Filter) -> LineReport | None:
    assert reader.history is not None
    found = await reader.history.name_changes(name)
    title = f"no symbol or file is called `{name}` any more"
    return await _report(reader, title, found, text, where) if found.changes else None


async def _report(reader: Reader, title: str, found: NameChanges, text: str, where: Filter) -> LineReport:
    assert reader.history is not None
    commits = list({each.commit.id: each.commit for each in found.changes}.values())
    releases = await releases_of(reader.history, commits)
    rows: dict[tuple[str, str], TextLine] = {}
    for each in sorted(found.changes, key=lambda each: each.is_added):
        group = "added" if each.is_added else "removed"
        row = commit_row(replace(each.commit, paths=(each.path,)), releases.get(each.commit.id, ""))
        rows.setdefault((group, each.commit.id), TextLine(group, row.place, row.text))
    said = await reader.history.messages([each.id for each in commits[:2]])
    lines = [*rows.values()]
    lines += [TextLine("messages", key[:10], " ".join(said[key].split())[:MOST_REASONS]) for key in said]
    if _WHY.search(text):
        lines += await release_rows(reader, text, commits[:1], releases, where)
    gone, came = (sum(each.group == group for each in rows.values()) for group in ("removed", "added"))
    counts = ", ".join(
        f"{what} by {counted(count, 'commit')}" for what, count in (("taken out", gone), ("brought in", came)) if count
    )
    return LineReport("changes", f"{title}: {counts}", tuple(lines), found.notes)
