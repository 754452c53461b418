"""What a value was before: `was it different earlier`, `what did the limit use to be`.

The commits of the value's line are compared with their parents. A value that a commit introduced may have stood in the
code before: the lines that use it since then are compared, too. Reads the version history.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from atlas.code.changes.commit_history import HistorySubject, subjects_of
from atlas.code.changes.commit_rows import commit_row, day_of
from atlas.code.changes.told_topics import MOST_REASONS, releases_of
from atlas.code.lines.line_report import LineReport, TextLine, shown
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.errors import AtlasError
from atlas.core.history import Commit, History
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label

MOST_COMMITS = 8
MOST_PATHS = 12
"""Files of the commit that introduced a value in which its uses are looked for."""
MAX_LINES = 6_000
MOST_REPLACED = 4
MOST_MESSAGES = 2
MOST_SPAN = 8
"""Lines of a definition that is a value."""
MIN_ALIKE = 0.5
_BEFORE = lazy_regex(
    r"\b(?:was|were) (?:it|this|that|they|the value|the default)\b.{0,40}"
    r"\b(?:different|other|another|higher|lower|larger|smaller|bigger|longer|shorter|before|previously|earlier)\b"
    r"|\b(?:used to be|did .{1,60} use to be)\b|\b(?:old|previous|former|earlier|original) (?:value|default|setting)\b"
    r"|\b(?:what|which|how \w+) (?:was|were) .{1,80}\b(?:before|previously|earlier|formerly|originally)\b"
    r"|\b(?:has|have) .{1,60}\balways been\b"
    r"|\b(?:was|were|been|got|did|who|which (?:commit|change|release|version|pr))\b.{0,80}"
    r"\b(?:raised?|lowered|increased?|decreased?|reduced?|doubled?|halved|bumped?|shortened|lengthened|tightened"
    r"|relaxed|enlarged)\b"
    r"|\b(?:went|changed?|raised|lowered|increased|reduced|bumped|moved|switched) (?:\S+ ){0,4}from \S{1,40} to \S",
    re.IGNORECASE,
)


async def answer_value_history(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer what the one value that a question names was before; None for other questions."""
    if _BEFORE.search(query.text) is None or reader.history is None or where.project not in ("", reader.project):
        return None
    subject = await _one_value(reader, await subjects_of(reader, query, where))
    if subject is None:
        return None
    try:
        return await _told(reader.history, subject)
    except AtlasError:
        return None


async def _one_value(reader: Reader, subjects: Sequence[HistorySubject]) -> HistorySubject | None:
    """Return the one definition of a value among symbols of a name: a field that has none is only called like it."""
    if any(each.node is None or each.node.row.label != Label.VALUE for each in subjects):
        return None
    if len(subjects) > 1:
        texts = await reader.store.content(reader.project, sorted({each.path for each in subjects}))
        lines = {path: text.decode("utf-8", "replace").splitlines() for path, text in texts.items()}
        subjects = [each for each in subjects if _is_set(lines.get(each.path, []), each)]
    if len(subjects) != 1 or subjects[0].lines[1] - subjects[0].lines[0] >= MOST_SPAN:
        return None
    return subjects[0]


def _is_set(lines: Sequence[str], subject: HistorySubject) -> bool:
    """Return whether a definition sets a value: not only a type, as a field does."""
    first, last = subject.lines
    name = re.compile(rf"(?<![\w.]){re.escape(subject.name)}\b[^=]{{0,100}}=(?!=)")
    return any(name.search(line[:400]) is not None for line in lines[first - 1 : last])


async def _told(history: History, subject: HistorySubject) -> LineReport | None:
    found = await history.line_log(subject.path, *subject.lines, name=subject.name, limit=MOST_COMMITS)
    if not found.commits:
        return None
    changes: list[TextLine] = []
    changed: list[str] = []
    added: Commit | None = None
    for commit in found.commits:
        path = commit.paths[0] if commit.paths else subject.path
        old, new = await _values(history, commit, path, subject.name)
        if old and new and old != new:
            changed.append(commit.id)
            changes.append(TextLine("changes", f"{day_of(commit)} {commit.id[:10]}", f"{old} -> {new}"))
        elif new and not old:
            added = commit
    lines = [*changes]
    if added is not None:
        lines += await _replaced(history, added, subject.name)
    releases = await releases_of(history, found.commits)
    lines += [commit_row(each, releases.get(each.id, "")) for each in found.commits]
    changed.extend(each.id for each in found.commits[:MOST_MESSAGES])
    said = await history.messages(list(dict.fromkeys(changed))[:MOST_MESSAGES])
    lines += [TextLine("messages", key[:10], " ".join(text.split())[:MOST_REASONS]) for key, text in said.items()]
    is_known = found.is_whole and len(found.commits) < MOST_COMMITS
    count = f"{len(changes)} {'change' if len(changes) == 1 else 'changes'} of its value"
    if not changes:
        is_same = is_known and added is not None
        count = "its value is the same since its line was added" if is_same else "no other value is known"
    since = f"; added {day_of(added)} {added.id[:10]}" if added is not None else ""
    if any(each.group == "replaced" for each in lines):
        since += ", where it replaced what stood in the code"
    if any(each.group == "moved_from" for each in lines):
        since += ", where it was moved from another file, in which it is not followed"
    return LineReport("changes", f"{subject.title}: {count}{since}", tuple(lines), found.notes)


async def _values(history: History, commit: Commit, path: str, name: str) -> tuple[str, str]:
    """Return the value before and after a commit; "" where it is not defined."""
    new = (await history.content(commit.id, [path])).get(path, b"")
    return await _before(history, commit, path, name), _value(new, name)


async def _before(history: History, commit: Commit, path: str, name: str) -> str:
    try:
        return _value((await history.content(f"{commit.id}^", [path])).get(path, b""), name)
    except AtlasError:
        return ""  # the first commit


def _value(data: bytes, name: str) -> str:
    pattern = re.compile(rf"(?<![\w.]){re.escape(name)}\s?(?::[^=\n]{{1,80}})?(?::?=(?!=)|:)\s?(?P<value>\S.*)")
    for line in data.decode("utf-8", "replace").splitlines()[:MAX_LINES]:
        if (match := pattern.search(line[:400])) is not None and not line.lstrip().startswith(("#", "//", "import ")):
            return shown(match["value"].rstrip(" ,;"))
    return ""


async def _replaced(history: History, commit: Commit, name: str) -> list[TextLine]:
    """Return the lines that use a name since a commit, with what they said before it."""
    log = await history.log(1, last=commit.id, paths=MOST_PATHS)
    paths = list(log.commits[0].paths) if log.commits and log.commits[0].id == commit.id else []
    new = await history.content(commit.id, paths)
    try:
        old = await history.content(f"{commit.id}^", paths)
    except AtlasError:
        return []
    rows = [
        TextLine("replaced", path, f"{shown(before)} -> {shown(after)}")
        for path in paths
        if path in old and path in new
        for before, after in _rewritten(_lines(old[path]), _lines(new[path]), name)
    ]
    moved = [
        TextLine("moved_from", path, f"{name}: {value}")
        for path in paths
        if path in old and (value := _value(old[path], name)) and not _value(new.get(path, b""), name)
    ]
    return [*moved[:1], *rows[:MOST_REPLACED]]


def _lines(data: bytes) -> list[str]:
    return [line[:400] for line in data.decode("utf-8", "replace").splitlines()[:MAX_LINES]]


def _rewritten(old: Sequence[str], new: Sequence[str], name: str) -> Iterator[tuple[str, str]]:
    """Yield the lines that a name came into in place of a number or text, before and after."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "replace":
            continue
        for after in (line for line in new[c:d] if word.search(line)):
            parts = [part for part in word.split(after.strip()) if len(part) > 1]
            for before in old[a:b]:
                alike = SequenceMatcher(None, before.strip(), after.strip()).ratio() >= MIN_ALIKE
                if alike and parts and all(part in before for part in parts) and not word.search(before):
                    yield before, after
                    break
