"""Variables of the environment as nodes: who reads and sets each, by the edges `READS_ENV` and `SETS_ENV`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atlas.code.reader import Reader
from atlas.code.retrieve.channels import keeps
from atlas.core.model import STRUCTURE_PATH, Direction, EdgeType, Filter, Label, Match, Node

MAX_VARIABLES = 5_000
MAX_PLACES = 20_000


@dataclass(frozen=True, slots=True)
class VariablePlace:
    """A line at which code or configuration reads or sets a variable."""

    name: str
    node: Node
    """The code or file around it."""
    line: int
    is_written: bool


async def read_places(reader: Reader, where: Filter, names: Sequence[str] = ()) -> list[VariablePlace]:
    """Return the places of all variables, or of those named, by path and line. Raises store errors."""
    scope = Filter(project=where.project, labels=(Label.ENV_VAR,))
    nodes = await reader.store.find(STRUCTURE_PATH, Match.PATH, scope, MAX_VARIABLES)
    by_uid = {node.row.uid: node.row.name for node in nodes if not names or node.row.name in names}
    types = (EdgeType.READS_ENV, EdgeType.SETS_ENV)
    edges = await reader.store.edges(list(by_uid), Direction.IN, types, MAX_PLACES) if by_uid else []
    found = [
        VariablePlace(by_uid[edge.row.target], edge.node, line, edge.row.type == EdgeType.SETS_ENV)
        for edge in edges
        if keeps(where, edge.node)
        for line in edge.row.lines
    ]
    return sorted(found, key=lambda each: (each.node.row.is_test, each.node.row.path, each.line, each.name))
