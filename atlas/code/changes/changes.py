"""Answer questions about changes from the version history: commits, differences, last changes, co-changes."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from atlas.code.changes.change_impact import diff_symbols, read_diff, uncommitted
from atlas.code.changes.changed_symbols import ChangedSymbol
from atlas.code.graph.targets import Targets, find_targets
from atlas.code.question.change_questions import LAST_TAG, ChangeAspect, ChangeQuestion, change_question
from atlas.code.question.names import dotted
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.reader import Reader
from atlas.code.retrieve.written_files import find_files, relative
from atlas.core.errors import AtlasError, NotFound
from atlas.core.history import WORK_TREE, ChangeKind, CoChanges, Commit, Diff, FileChange, LastChange, Log
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match, Node

_FILES = (Label.MODULE, Label.PACKAGE, Label.FILE, Label.DOC_FILE)
_CHANGE_WORD = lazy_regex(
    r"\b(?:who|when|since|chang\w*|modif\w*|touch\w*|commit\w*|blame|git|edit\w*)\b", re.IGNORECASE
)
"""Words without which a question with an English word for a name is not a question about changes."""
MAX_OLDER = 10
"""Commits of the old path of a file that was renamed."""
MAX_NODES = 3
"""Symbols of one name whose last change is looked for."""


@dataclass(frozen=True, slots=True)
class SymbolChange:
    """The last change of a symbol or file."""

    node: Node | None
    """None for a file that is not indexed."""
    path: str
    found: LastChange


@dataclass(frozen=True, slots=True)
class ChangeAnswer:
    """The answer to a question about changes; one of the fields besides the question is filled."""

    question: ChangeQuestion
    targets: Targets | None = None
    """The symbols that are asked about, or near names where there is none."""
    log: Log | None = None
    base: Commit | None = None
    """The commit that a difference starts from."""
    diff: Diff | None = None
    symbols: tuple[ChangedSymbol, ...] = ()
    last: tuple[SymbolChange, ...] = ()
    together: CoChanges | None = None
    path: str = ""
    """The file that `together` and a history are about."""
    problem: str = ""
    """Why the history could not answer."""
    hint: str = ""
    tag: str = ""
    """The tag that `the last release` of the question stands for."""


def asks_history(intent: RelationIntent, text: str) -> bool:
    """Return whether a question is one to the history: `user history` and the word `changes` are searched as text."""
    if intent.kind != Kind.CHANGES or len(text.split()) < 2:
        return False
    return not intent.name or intent.certain or bool(_CHANGE_WORD.search(text))


async def answer_changes(reader: Reader, intent: RelationIntent, text: str, where: Filter) -> ChangeAnswer:
    """Answer a question about changes; a history that cannot be read is an answer, too. Raises store errors."""
    question = change_question(text, intent.name, intent.within, int(time.time()))
    if reader.history is None or where.project not in ("", reader.project):
        return ChangeAnswer(
            question, problem="git history is read only for the project of this session: ask from its folder"
        )
    try:
        tag = ""
        if question.old == LAST_TAG:
            tag = await reader.history.last_tag()
            question = replace(question, old=f"tags/{tag}")
        return replace(await _answer(reader, question, where), tag=tag)
    except AtlasError as error:
        near = f"; near: {', '.join(near)}" if (near := getattr(error, "near", ())) else ""
        return ChangeAnswer(question, problem=f"{error.message}{near}", hint=error.hint)


async def _answer(reader: Reader, question: ChangeQuestion, where: Filter) -> ChangeAnswer:
    assert reader.history is not None
    match question.asks:
        case ChangeAspect.COMMITS if question.scope:
            return await _of_scope(reader, question, where)
        case ChangeAspect.COMMITS:
            log = await reader.history.log(question.limit, after=question.after, until=question.until)
            notes = () if question.until else await uncommitted(reader)
            return ChangeAnswer(question, log=replace(log, notes=(*log.notes, *notes)))
        case ChangeAspect.DIFF:
            diff = await read_diff(reader, reader.project, question.old, question.new)
            if question.scope:
                paths = await _paths(reader, question.scope, where)
                diff = replace(diff, changes=tuple(each for each in diff.changes if _is_below(each, paths)))
            log = None
            if question.new == WORK_TREE and question.old != "HEAD" and ".." not in question.old:
                log = await reader.history.log(question.limit, since=question.old, paths=0)
            symbols, notes = await diff_symbols(reader, diff)
            diff = replace(diff, notes=(*diff.notes, *notes))
            return ChangeAnswer(question, base=diff.old, diff=diff, symbols=tuple(symbols), log=log)
        case _:
            return await _of_name(reader, question, where)


async def _of_scope(reader: Reader, question: ChangeQuestion, where: Filter) -> ChangeAnswer:
    """Return the commits of a file or folder; for one that neither index nor history know, an answer without any."""
    asked = replace(question, asks=ChangeAspect.HISTORY, name=question.scope)
    known: ChangeAnswer | None = None
    for path in await _paths(reader, question.scope, where):
        answer = await _of_path(reader, asked, None, path)
        if answer.log is not None and (answer.log.commits or answer.log.notes):
            return answer
        known = known or (answer if await reader.store.records(where.project, [path]) else None)
    return known or ChangeAnswer(asked, Targets(question.scope, ()))


async def _of_name(reader: Reader, question: ChangeQuestion, where: Filter) -> ChangeAnswer:
    intent = RelationIntent(Kind.CHANGES, question.name)
    targets = await find_targets(reader, question.name, intent, where.project)
    known = [target.node.row.path for target in targets.targets[:1] if target.node.row.path]
    paths = known or await _paths(reader, question.name.strip("`'\""), where)
    if not paths:
        return ChangeAnswer(question, targets)
    # without any: neither a symbol nor a file that git knows, near names
    answer = ChangeAnswer(question, targets)
    for path in paths:
        try:
            answer = await _of_path(reader, question, targets, path)
        except NotFound:
            if targets.targets:
                raise
            continue
        if answer.log is None or answer.log.commits or answer.log.notes:
            break
    return answer


async def _paths(reader: Reader, written: str, where: Filter) -> list[str]:
    """Return the paths that a written one may mean: files of the index, then as it is written, below the project."""
    where = Filter(project=where.project)
    path = relative(reader, written).strip("/")
    inner = path.partition(f"{reader.root.name}/")[2] if f"{reader.root.name}/" in f"{path}/" else ""
    nodes = await find_files(reader, path, where)
    found = [each[0].row.path for each in nodes if each]
    if not found:
        held = await reader.store.find(dotted(path.replace("/", ".")), Match.SUFFIX, replace(where, labels=_FILES), 1)
        found = [node.row.path for node in held if node.row.path]
    skipped = [each.path for each in await reader.store.skipped(where.project) if f"/{each.path}".endswith(f"/{path}")]
    folders = [path] if "." not in path.rpartition("/")[2] else []
    gone = await _gone(reader, path) if not (found or skipped) else []
    return list(dict.fromkeys(each for each in (*folders, *found, *skipped, path, inner, *gone) if each))


async def _gone(reader: Reader, path: str) -> list[str]:
    """Return the files that the last commit has under a path and the working tree has not."""
    try:
        diff = await read_diff(reader, reader.project, "HEAD")
    except AtlasError:
        return []
    return [each.old_path for each in diff.changes if f"/{each.old_path}".endswith(f"/{path}")]


def _is_below(change: FileChange, paths: Sequence[str]) -> bool:
    return any(f"{each}/".startswith(f"{path}/") for path in paths for each in (change.path, change.old_path))


async def _of_path(reader: Reader, question: ChangeQuestion, targets: Targets | None, path: str) -> ChangeAnswer:
    assert reader.history is not None
    if question.asks == ChangeAspect.TOGETHER:
        return ChangeAnswer(question, targets, together=await reader.history.changed_with(path), path=path)
    if question.asks == ChangeAspect.HISTORY:
        log = await reader.history.log(
            question.limit, since=question.old, after=question.after, until=question.until, paths=0, path=path
        )
        log = await _explained(reader, log, path)
        if log.commits and not question.until:
            log = replace(log, notes=(*log.notes, *await uncommitted(reader, [path])))
        return ChangeAnswer(question, targets, log=log, path=path)
    found = targets.targets if targets is not None else ()
    nodes = [target.node for target in found[:MAX_NODES] if target.node.row.path]
    if not nodes:
        return ChangeAnswer(question, targets, last=(SymbolChange(None, path, await reader.history.last_change(path)),))
    last: list[SymbolChange] = []
    for node in nodes:
        row = node.row
        span = (0, 0) if row.label in _FILES else (row.start_line, row.end_line)
        last.append(SymbolChange(node, row.path, await reader.history.last_change(row.path, *span)))
    return ChangeAnswer(question, targets, last=tuple(last))


async def _explained(reader: Reader, log: Log, path: str) -> Log:
    """Add to a history without commits, or with one, what else there is: the file is not committed, or was moved."""
    assert reader.history is not None
    if len(log.commits) > 1 or log.more:
        return log
    try:
        diff = await read_diff(reader, reader.project, "HEAD")
    except AtlasError:
        return log
    change = next((each for each in diff.changes if each.path == path), None)
    if change is None:
        return log
    if change.kind == ChangeKind.RENAMED:
        older = await reader.history.log(MAX_OLDER, paths=0, path=change.old_path)
        note = f"renamed from {change.old_path} in the working tree: the commits are those of the old path"
        return replace(older, notes=(*older.notes, note))
    return log if log.commits else replace(log, notes=(*log.notes, f"{path} is not committed"))
