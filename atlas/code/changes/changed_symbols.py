"""Find the changed symbols of a file by comparing the definitions of both versions. Pure.

A symbol counts as changed when its signature, body or documentation does; layout and comments do not count. A class
counts when lines of its own changed, not for a change inside of a method, which counts itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from atlas.core.history import FileChange
from atlas.core.lazy_regex import lazy_regex
from atlas.core.line_diff import Hunk, diff_lines, lines_of
from atlas.core.model import Label, NodeRow

Rows = Callable[[str, bytes], Sequence[NodeRow]]
"""(path, text) -> rows of its definitions."""

CODE = (Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE)
_REDEFINITION = lazy_regex(r"#\d+$")


class How(StrEnum):
    """How a symbol changed."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    SIGNATURE = "signature"
    BODY = "body"
    DOCS = "docs"
    MODULE = "module code"
    """Lines of a file that belong to no symbol: imports and statements."""


@dataclass(frozen=True, slots=True)
class ChangedSymbol:
    """A symbol of a changed file."""

    path: str
    name: str
    """Name inside of the file, `Cart.total`; "" for the module."""
    kind: str
    label: str
    how: How
    line: int
    """Line of the name in the new version, of the old one for a removed symbol."""
    old_name: str = ""
    """The name before a renaming."""
    exported: bool = True


def changed_symbols(change: FileChange, outline: Rows) -> list[ChangedSymbol]:
    """Return the changed symbols of a file in the order of their lines; none where the texts are not known."""
    if not change.compared:
        return []
    old_rows = outline(change.old_path, change.old) if change.old is not None else ()
    new_rows = outline(change.path, change.new) if change.new is not None else ()
    old, new = local_names(old_rows), local_names(new_rows)
    hunks = diff_lines(lines_of(change.old or b""), lines_of(change.new or b""))
    found = [
        ChangedSymbol(change.path, name, row.kind, row.label, how, row.line, exported=row.exported)
        for name, row in new.items()
        if (how := _how(row, old.get(name), old, new, hunks)) is not None
    ]
    found += [
        ChangedSymbol(change.path, name, row.kind, row.label, How.REMOVED, row.line, exported=row.exported)
        for name, row in old.items()
        if name not in new
    ]
    found = _with_renames(found, old, new)
    if change.old is not None and change.new is not None and _changes_module(hunks, old_rows, new_rows, change):
        found.append(ChangedSymbol(change.path, "", "module", Label.MODULE, How.MODULE, 1))
    return sorted(found, key=lambda each: (each.how == How.REMOVED, each.line, each.name))


def local_names(rows: Iterable[NodeRow]) -> dict[str, NodeRow]:
    """Return the definitions of one file by their name inside of it: without the name of the module."""
    rows = list(rows)
    module = next((row.qualified_name for row in rows if row.label in (Label.MODULE, Label.PACKAGE)), "")
    prefix = f"{module}."
    return {row.qualified_name.removeprefix(prefix): row for row in rows if row.label in CODE}


def outermost(symbols: Iterable[ChangedSymbol]) -> list[ChangedSymbol]:
    """Return the symbols of one file that are not inside of another one with the same change."""
    symbols = list(symbols)
    names = {how: {each.name for each in symbols if each.how == how} for how in How}
    return [each for each in symbols if not _is_inside(each.name, names[each.how])]


def _is_inside(name: str, owners: Collection[str]) -> bool:
    owner = name.rpartition(".")[0]
    while owner and owner not in owners:
        owner = owner.rpartition(".")[0]
    return bool(owner)


def _how(
    row: NodeRow, before: NodeRow | None, old: Mapping[str, NodeRow], new: Mapping[str, NodeRow], hunks: Sequence[Hunk]
) -> How | None:
    if before is None:
        return How.ADDED
    if row.text_digest == before.text_digest:
        return None
    if row.signature_digest != before.signature_digest:
        return How.SIGNATURE
    if row.body_digest != before.body_digest:
        inner_new, inner_old = _inside(row, new.values()), _inside(before, old.values())
        if not (inner_new or inner_old):
            return How.BODY
        own = any(
            _has_own_lines(hunk.new_start, hunk.new_end, row, inner_new)
            or _has_own_lines(hunk.old_start, hunk.old_end, before, inner_old)
            for hunk in hunks
        )
        if own:
            return How.BODY
    return How.DOCS if row.docstring_digest != before.docstring_digest else None


def _inside(row: NodeRow, rows: Iterable[NodeRow]) -> list[NodeRow]:
    return [
        each
        for each in rows
        if each is not row
        and row.start_byte <= each.start_byte
        and each.end_byte <= row.end_byte
        and each.end_byte - each.start_byte < row.end_byte - row.start_byte
    ]


def _has_own_lines(start: int, end: int, row: NodeRow, inner: Sequence[NodeRow]) -> bool:
    """Return whether lines (0-based, end excluded) of a hunk belong to a symbol, but to none inside of it."""
    first, last = max(start + 1, row.start_line), min(end, row.end_line)
    return any(not any(each.start_line <= line <= each.end_line for each in inner) for line in range(first, last + 1))


def _changes_module(
    hunks: Sequence[Hunk], old_rows: Iterable[NodeRow], new_rows: Iterable[NodeRow], change: FileChange
) -> bool:
    """Return whether a line that holds something belongs to no symbol on either side."""
    sides = (
        (old_rows, lines_of(change.old or b""), [(hunk.old_start, hunk.old_end) for hunk in hunks]),
        (new_rows, lines_of(change.new or b""), [(hunk.new_start, hunk.new_end) for hunk in hunks]),
    )
    for rows, lines, spans in sides:
        symbols = [row for row in rows if row.label in CODE]
        if not symbols and not any(row.label in (Label.MODULE, Label.PACKAGE) for row in rows):
            continue
        covered: set[int] = set()
        for row in symbols:
            covered.update(range(row.start_line - 1, row.end_line))
        if any(position not in covered and lines[position].strip() for a, b in spans for position in range(a, b)):
            return True
    return False


def _with_renames(
    found: Iterable[ChangedSymbol], old: Mapping[str, NodeRow], new: Mapping[str, NodeRow]
) -> list[ChangedSymbol]:
    """Join a removed and an added symbol of the same owner with the same body."""
    found = list(found)
    removed = {(_owner(each.name), each.label, old[each.name].body_digest): each for each in found if _is_gone(each)}
    joined: set[str] = set()
    result: list[ChangedSymbol] = []
    for each in found:
        key = (_owner(each.name), each.label, new[each.name].body_digest) if each.how == How.ADDED else None
        before = removed.pop(key, None) if key is not None and key[2] else None
        if before is None:
            result.append(each)
        else:
            joined.add(before.name)
            result.append(replace(each, how=How.RENAMED, old_name=before.name))
    news = {each.name for each in result if each.old_name}
    return [
        each
        for each in result
        if not (_is_gone(each) and (each.name in joined or _is_inside(each.name, joined)))
        and not (each.how == How.ADDED and _is_inside(each.name, news))
    ]


def _is_gone(each: ChangedSymbol) -> bool:
    return each.how == How.REMOVED


def _owner(name: str) -> str:
    return _REDEFINITION.sub("", name).rpartition(".")[0]
