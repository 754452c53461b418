"""The answer to a question about a relation, as values: the symbols found, each with its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from atlas.code.graph.absence.name_lines import NameLines
from atlas.code.graph.targets import Targets
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.core.model import Label, Node


@dataclass(frozen=True, slots=True)
class RelatedSymbol:
    """A symbol at the far end of a relation with the evidence for it."""

    node: Node
    path: str
    """File of the evidence."""
    lines: tuple[int, ...]
    """Lines of the evidence in that file, sorted; () for structure."""
    strategy: str = ""
    confidence: float = 0.0
    depth: int = 1
    """Number of edges from the named symbol."""
    through: str = ""
    """Qualified name of the symbol one step closer, if `depth` is above 1; for dispatched calls, of the base method."""
    of: str = ""
    """Qualified name of the target, where a name has several."""
    quoted: tuple[str, ...] = ()
    """The source of the first lines, where the question asks what they pass."""
    parts: tuple[Node, ...] = ()
    """Its further parts, in other files or reopened: they are no further symbols."""


@dataclass(frozen=True, slots=True)
class EdgeAnswer:
    """The answer to a question about a relation."""

    intent: RelationIntent
    targets: Targets
    others: Targets | None = None
    """The end of a path."""
    related: tuple[RelatedSymbol, ...] = ()
    notes: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    """Edges of each target, where they are too many to be followed."""
    scope: str = ""
    """What limits the answer, as the question says it: `in helpers.py`, `in tests`; "" for no limit."""
    unscoped: int = 0
    """Symbols without that limit."""
    text: NameLines | None = None
    """Lines that have the name and no edge, where the graph knows little of such names."""
    is_unknown: bool = False
    """Nothing is related, and that is not proven to be none: a note says why."""
    ignored: tuple[str, ...] = ()
    """Words of the question that limit nothing here."""
    further: tuple[Self, ...] = ()
    """The answers to what else the question asks: `where is X defined and who uses it`."""
    is_in_order: bool = False
    """The related symbols are callees in the order of the lines that call them; these are their lines."""
    title: str = ""
    """The first line of an answer that is not about one symbol: `unused functions in Y: ...`."""
    routes: tuple[str, ...] = ()
    """Uids of the routes that the answer is about."""

    @property
    def outcome(self) -> str:
        """`found`, `ambiguous` (more than one target) or `not_found`."""
        if self.title:
            return "found"
        ends = [end for end in (self.targets, self.others) if end is not None]
        if any(not end.targets for end in ends):
            return "not_found"
        return "ambiguous" if any(end.total > 1 for end in ends) else "found"

    @property
    def missing_end(self) -> Targets | None:
        """The end of a path that no symbol is named like; None for other relations, and if both ends are known."""
        if self.intent.kind != Kind.PATH:
            return None
        return next((each for each in (self.targets, self.others) if each is not None and not each.targets), None)


def joined_parts(found: Sequence[RelatedSymbol]) -> list[RelatedSymbol]:
    """Return each class once, by its longest part; the others are its `parts`.

    Classes of one name without a namespace, or of tests, may as well be several.
    """
    groups: dict[str, list[RelatedSymbol]] = {}
    for each in found:
        row = each.node.row
        is_class = row.label == Label.CLASS and row.path and "." in row.qualified_name and not row.is_test
        groups.setdefault(f"{each.node.project}:{row.qualified_name}" if is_class else row.uid, []).append(each)
    joined: list[RelatedSymbol] = []
    for group in groups.values():
        longest = max(group, key=lambda each: each.node.row.end_line - each.node.row.start_line)
        parts = {each.node.row.uid: each.node for each in group if each.node.row.uid != longest.node.row.uid}
        joined += [replace(longest, parts=tuple(parts.values()))] if parts else group
    return joined
