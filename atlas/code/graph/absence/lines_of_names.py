"""Add to an answer about a name what its lines tell: lines without an edge, and which lines set the name.

The graph has few edges of values, and an edge does not say whether its line writes or reads. Reads the index only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from atlas.code.graph.absence.name_lines import NameLine, NameLines, find_name_lines, with_symbols
from atlas.code.graph.absence.occurrences import is_comment
from atlas.code.graph.answer_scope import read_scope
from atlas.code.graph.cards import MOST_LINES
from atlas.code.graph.mentions import BY_TEXT, TEXT_CONFIDENCE, used_through_members
from atlas.code.graph.relation import EdgeAnswer, RelatedSymbol
from atlas.code.question.cues import asks_for_values
from atlas.code.question.relation_kinds import Kind
from atlas.code.reader import Reader
from atlas.core.model import Filter, Label, Match

_BY_TEXT = frozenset((Kind.USAGES, Kind.CALLERS, Kind.TESTS, Kind.DEPENDENTS, Kind.INSTANTIATIONS))
"""Relations to which each line that has the name may belong."""
_VALUES = frozenset((Label.VALUE,))
_NAMED_IN_TEXT = frozenset((Label.VALUE, Label.CLASS, Label.MODULE, Label.PACKAGE))
"""Symbols of which not all uses have an edge: a module that a qualified call names, a class in a table."""


async def with_lines_of_name(reader: Reader, found: EdgeAnswer, text: str, where: Filter) -> EdgeAnswer:
    """Return an answer with the lines that have the name of its symbol; `text` is the question. Raises store errors."""
    targets = found.targets.targets
    if not targets and found.intent.kind == Kind.USAGES:
        return await _of_attribute(reader, found, text, where.project)
    if found.intent.kind not in _BY_TEXT or not targets or found.counts:
        return found
    rows = [target.node.row for target in targets]
    wanted = _VALUES if found.intent.kind != Kind.USAGES or len(rows) > 1 else _NAMED_IN_TEXT
    is_value = all(row.label in _VALUES for row in rows)
    if any(row.label not in wanted for row in rows) or (found.scope and not is_value):
        return found
    project = targets[0].node.project
    known = {(row.path, row.line) for row in rows}
    of_edges = {(each.path, line) for each in found.related for line in each.lines}
    near = {path for path, _ in of_edges}
    every = await find_name_lines(reader, rows[0].name, project, known, prose=False, near=near)
    lines = replace(every, lines=tuple(each for each in every.lines if (each.path, each.line) not in of_edges))
    if found.intent.kind == Kind.USAGES and len(rows) == 1 and rows[0].label == Label.CLASS:
        known_uids = {each.node.row.uid for each in found.related}
        more = await used_through_members(reader, targets[0].node, lines.lines)
        more = [each for each in more if each.node.row.uid not in known_uids]
        used = {(each.path, line) for each in more for line in each.lines}
        lines = replace(lines, lines=tuple(each for each in lines.lines if (each.path, each.line) not in used))
        related = (*found.related, *sorted(more, key=lambda each: each.node.row.is_test))
        found = replace(found, related=related, unscoped=len(related)) if more else found
    if found.scope:
        lines = await _within(reader, found, lines, where)
    asks_values = asks_for_values(text.lower())
    ordered = sorted(lines.lines, key=lambda each: not (each.sets or each.may_change)) if asks_values else lines.lines
    shown = await with_symbols(reader, ordered[:MOST_LINES], project)
    found = _called_by_text(found, shown) if found.intent.kind == Kind.CALLERS and not found.related else found
    if shown and found.is_unknown:
        found = replace(found, notes=tuple(map(_without_places, found.notes)))
    if is_value and found.intent.kind == Kind.USAGES:
        found = _told_apart(found, every.lines)
    return replace(found, text=replace(lines, lines=(*shown, *ordered[MOST_LINES:])))


async def _of_attribute(reader: Reader, found: EdgeAnswer, text: str, project: str) -> EdgeAnswer:
    """Return an answer about `Class.attribute`, where the class has no such node, with the lines that have the name."""
    owner, _, name = found.targets.name.rpartition(".")
    classes = Filter(project=project, labels=(Label.CLASS,))
    owners = await reader.store.find(owner, Match.SUFFIX, classes, 1) if owner and name.isidentifier() else []
    if not owners:
        return found
    paths = {node.row.path for node in owners}
    lines = await find_name_lines(reader, name, project, prose=False)
    asks_values = asks_for_values(text.lower())
    ordered = sorted(
        lines.lines,
        key=lambda each: (each.path not in paths, asks_values and not (each.sets or each.may_change)),
    )
    shown = await with_symbols(reader, ordered[:MOST_LINES], project)
    return replace(found, text=replace(lines, lines=(*shown, *ordered[MOST_LINES:])))


async def _within(reader: Reader, found: EdgeAnswer, lines: NameLines, where: Filter) -> NameLines:
    """Return the lines that lie within what limits the answer."""
    scope = await read_scope(reader, found.intent, found.targets, where)
    inner = await with_symbols(reader, lines.lines, found.targets.targets[0].node.project)
    kept: list[NameLine] = []
    for line, each in zip(lines.lines, inner, strict=True):
        of_file = await reader.store.find(line.path, Match.PATH, Filter(where.project), 1) if not each.inside else ()
        node = each.inside or next(iter(of_file), None)
        if node is not None and scope.has(node):
            kept.append(line)
    return replace(lines, lines=tuple(kept))


def _told_apart(found: EdgeAnswer, lines: Sequence[NameLine]) -> EdgeAnswer:
    """Return an answer whose symbols say at which of their lines they set the name, or may change what it holds."""
    sets = {(each.path, each.line) for each in lines if each.sets}
    may = {(each.path, each.line) for each in lines if each.may_change}
    related: list[RelatedSymbol] = []
    for each in found.related:
        acts = [
            f"{act} {','.join(map(str, at))}"
            for act, places in (("sets", sets), ("may change", may))
            if (at := [line for line in each.lines if (each.path, line) in places])
        ]
        related.append(replace(each, quoted=(*each.quoted, *acts)) if acts else each)
    return replace(found, related=tuple(related))


def _without_places(note: str) -> str:
    """Return a note without the places in brackets at its end, which the lines of the answer have as well."""
    said, _, places = note.rpartition(" (")
    return said if places.endswith(")") and ":" in places else note


def _called_by_text(found: EdgeAnswer, lines: Sequence[NameLine]) -> EdgeAnswer:
    """Return an answer about the callers of a value with the lines that call what it holds: `onClose.invoke()`."""
    name = re.escape(found.targets.targets[0].node.row.name)
    call = re.compile(rf"(?<![\w$]){name}(?:\??\.(?:invoke|call|apply)|\?\.|!)?\s*\(")
    calls = [
        RelatedSymbol(each.inside, each.path, (each.line,), BY_TEXT, TEXT_CONFIDENCE)
        for each in lines
        if each.inside is not None and call.search(each.text) and not is_comment(each.text)
    ]
    return replace(found, related=tuple(calls), is_unknown=False, notes=()) if calls else found
