"""Answer questions about changes from the version history: commits, differences, last changes, co-changes."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace

from atlas.code.changes.change_impact import diff_symbols, read_diff
from atlas.code.changes.changed_symbols import ChangedSymbol
from atlas.code.graph.targets import Targets, find_targets
from atlas.code.question.change_questions import LAST_TAG, ChangeAspect, ChangeQuestion, change_question
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.reader import Reader
from atlas.code.retrieve.written_files import relative
from atlas.core.errors import AtlasError, NotFound
from atlas.core.history import WORK_TREE, CoChanges, Commit, Diff, LastChange, Log
from atlas.core.model import Filter, Label, Node

_FILES = (Label.MODULE, Label.PACKAGE, Label.FILE, Label.DOC_FILE)
_CHANGE_WORD = re.compile(
    r"\b(?:who|when|since|chang\w*|modif\w*|touch\w*|commit\w*|blame|git|edit\w*)\b", re.IGNORECASE
)
"""Words without which a question with an English word for a name is not a question about changes."""
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
        case ChangeAspect.COMMITS:
            log = await reader.history.log(question.limit, after=question.after, until=question.until)
            return ChangeAnswer(question, log=_below(log, question.scope))
        case ChangeAspect.DIFF:
            diff = await read_diff(reader, reader.project, question.old, question.new)
            diff = replace(diff, changes=tuple(each for each in diff.changes if each.path.startswith(question.scope)))
            log = None
            if question.new == WORK_TREE and question.old != "HEAD" and ".." not in question.old:
                log = await reader.history.log(question.limit, since=question.old, paths=0)
            symbols, notes = await diff_symbols(reader, diff)
            diff = replace(diff, notes=(*diff.notes, *notes))
            return ChangeAnswer(question, base=diff.old, diff=diff, symbols=tuple(symbols), log=log)
        case _:
            return await _of_name(reader, question, where)


async def _of_name(reader: Reader, question: ChangeQuestion, where: Filter) -> ChangeAnswer:
    assert reader.history is not None
    intent = RelationIntent(Kind.CHANGES, question.name)
    targets = await find_targets(reader, question.name, intent, where.project)
    path = targets.targets[0].node.row.path if targets.targets else relative(reader, question.name).strip("`'\"")
    if not path:
        return ChangeAnswer(question, targets)
    try:
        return await _of_path(reader, question, targets, path)
    except NotFound:
        if targets.targets:
            raise
        # neither a symbol nor a file that git knows: near names
        return ChangeAnswer(question, targets)


async def _of_path(reader: Reader, question: ChangeQuestion, targets: Targets, path: str) -> ChangeAnswer:
    assert reader.history is not None
    if question.asks == ChangeAspect.TOGETHER:
        return ChangeAnswer(question, targets, together=await reader.history.changed_with(path), path=path)
    if question.asks == ChangeAspect.HISTORY:
        log = await reader.history.log(
            question.limit, since=question.old, after=question.after, until=question.until, paths=0, path=path
        )
        return ChangeAnswer(question, targets, log=log, path=path)
    nodes = [target.node for target in targets.targets[:MAX_NODES] if target.node.row.path]
    if not nodes:
        return ChangeAnswer(question, targets, last=(SymbolChange(None, path, await reader.history.last_change(path)),))
    last: list[SymbolChange] = []
    for node in nodes:
        row = node.row
        span = (0, 0) if row.label in _FILES else (row.start_line, row.end_line)
        last.append(SymbolChange(node, row.path, await reader.history.last_change(row.path, *span)))
    return ChangeAnswer(question, targets, last=tuple(last))


def _below(log: Log, scope: str) -> Log:
    if not scope:
        return log
    kept = tuple(each for each in log.commits if any(path.startswith(scope) for path in each.paths))
    return replace(log, commits=kept)
