"""The answers of cypher_query and schema_info: a table, and the vocabulary of queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from atlas.answers.answer import Answer, AnswerOutcome
from atlas.answers.cells import cell, cell_value
from atlas.answers.evidence import Evidence, Structure, without_empty
from atlas.core.wording import counted


@dataclass(frozen=True, slots=True)
class TableAnswer(Answer):
    """Answer of cypher_query: rows of plain values."""

    cites: ClassVar[bool] = True

    tool: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    truncated: bool
    """The store has more rows than it returned."""
    evidence: Evidence

    def lines(self) -> Iterator[str]:
        """Yield a header and one line per row, cells separated by ` | `."""
        yield " | ".join(self.columns)
        for row in self.rows:
            yield " | ".join(cell(value) for value in row)
        yield counted(len(self.rows), "row") if self.rows else "no rows"

    def content(self) -> Structure:
        """Return columns and rows."""
        return without_empty(
            {
                "columns": list(self.columns),
                "rows": [[cell_value(value) for value in row] for row in self.rows],
                "truncated": self.truncated or None,
            }
        )

    def emptied(self) -> Self:
        """Return the columns."""
        return replace(self, rows=())

    def result(self) -> AnswerOutcome:
        """Return whether there are rows."""
        is_empty = not self.rows
        return AnswerOutcome(is_empty, has_no_definition=is_empty)


@dataclass(frozen=True, slots=True)
class SchemaEntry:
    """A label, edge type, property, language, strategy or example, with its count (-1: not counted)."""

    name: str
    description: str = ""
    count: int = -1


@dataclass(frozen=True, slots=True)
class SchemaAnswer(Answer):
    """Answer of schema_info: the vocabulary of Cypher queries and search filters."""

    tool: str
    labels: tuple[SchemaEntry, ...]
    edge_types: tuple[SchemaEntry, ...]
    node_properties: tuple[SchemaEntry, ...]
    edge_properties: tuple[SchemaEntry, ...]
    strategies: tuple[SchemaEntry, ...]
    languages: tuple[SchemaEntry, ...]
    examples: tuple[SchemaEntry, ...]
    evidence: Evidence

    def lines(self) -> Iterator[str]:
        """Yield labels, edge types, properties, strategies, languages and examples."""
        for title, entries in schema_groups(self):
            yield f"{title}:"
            yield from (f"  {described(entry)}" for entry in entries)

    def content(self) -> Structure:
        """Return the lines of each group."""
        return without_empty(
            {
                "labels": _described(self.labels),
                "edge_types": _described(self.edge_types),
                "node_properties": _described(self.node_properties),
                "edge_properties": _described(self.edge_properties),
                "strategies": _described(self.strategies),
                "languages": _described(self.languages),
                "examples": _described(self.examples),
            }
        )

    def emptied(self) -> Self:
        """Return the answer without labels and relationship types."""
        return replace(self, labels=(), edge_types=())


def schema_groups(answer: SchemaAnswer) -> Iterator[tuple[str, tuple[SchemaEntry, ...]]]:
    """Yield each group of the schema that has entries, with its title."""
    for title, entries in (
        ("labels", answer.labels),
        ("relationship types", answer.edge_types),
        ("node properties", answer.node_properties),
        ("relationship properties", answer.edge_properties),
        ("strategies", answer.strategies),
        ("languages", answer.languages),
        ("examples", answer.examples),
    ):
        if entries:
            yield title, entries


def described(entry: SchemaEntry) -> str:
    """Return `name count: description`."""
    count = f" {entry.count}" if entry.count >= 0 else ""
    description = f": {entry.description}" if entry.description else ""
    return f"{entry.name}{count}{description}"


def _described(entries: Iterable[SchemaEntry]) -> list[str]:
    return [described(entry) for entry in entries]
