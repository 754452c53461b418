"""`find` on a Bolt server: candidates by index; names are compared and ordered here as in every store."""

from __future__ import annotations

from typing import NamedTuple

from atlas.adapters.stores.bolt.connection import Transaction
from atlas.adapters.stores.bolt.reading.filters import check_filter, condition
from atlas.adapters.stores.bolt.reading.read import symbols
from atlas.adapters.stores.bolt.rows import CANDIDATE, project_of, span_of, unit_key
from atlas.adapters.stores.shared import names
from atlas.adapters.stores.shared.statements import cypher_statements
from atlas.core.edit_distance import fold, squeeze, tolerance
from atlas.core.model import Filter, Match, Node

_ALL = 1_000_000
"""All candidates: names with several parts are compared here."""


class _Candidate(NamedTuple):
    """A node with its sort key."""

    uid: str
    is_test: bool
    name: str
    qualified_name: str
    span: int


async def find(transaction: Transaction, text: str, match: Match, where: Filter, limit: int) -> list[Node]:
    """See `Store.find`. An empty text matches nothing, except as a path, where it means the structure unit."""
    found: list[_Candidate] = []
    if limit > 0 and (text or match is Match.PATH):
        found = await _Finder(transaction, *condition(where)).candidates(text, match, limit)
    if not found:
        await check_filter(transaction, where)
    return await symbols(transaction, [candidate.uid for candidate in found[:limit]])


class _Finder:
    def __init__(self, transaction: Transaction, limits: str, parameters: dict[str, object]) -> None:
        self._transaction, self._limits, self._parameters = transaction, limits, parameters

    async def candidates(self, text: str, match: Match, limit: int) -> list[_Candidate]:
        """Return the matching nodes in order: at least `limit` of them if that many exist."""
        if match is Match.PATH:
            return await self._in_file(text)
        if match is Match.NEAR:
            return await self._near(text)
        if match is Match.UID:
            found = await self._select("by_uid", text=text)
        elif match is Match.EXACT:
            found = await self._select("by_qualified_name", text=text)
        elif match is Match.PREFIX:
            found = await self._select("by_prefix", text=fold(text), limit=limit)
        elif match is Match.SUFFIX:
            found = await self._named(text, limit)
        else:
            found = await self._folded(fold(text), limit)
        return sorted(found, key=_order)

    async def _named(self, text: str, limit: int) -> list[_Candidate]:
        tails, parts = names.tails(text), names.segments(text)
        matches = names.suffix_matcher(text)
        rows = await self._select(
            "by_name",
            names=[{"name": tail, "folded": fold(tail)} for tail in tails],
            text=text,
            parts=list(parts),
            limit=limit if len(tails) == 1 else _ALL,
        )
        return [row for row in rows if matches(row.name, row.qualified_name)]

    async def _folded(self, text: str, limit: int) -> list[_Candidate]:
        tails = names.tails(text)
        # Non-ASCII characters keep their case here, but not on the server.
        parts = [part for part in names.segments(text) if part.isascii()]
        matches = names.suffix_matcher(text)
        rows = await self._select(
            "by_folded", names=tails, text=text, parts=parts, limit=limit if len(tails) == 1 else _ALL
        )
        return [row for row in rows if matches(fold(row.name), fold(row.qualified_name))]

    async def _in_file(self, path: str) -> list[_Candidate]:
        projects = await self._transaction.rows(cypher_statements("read")["projects"])
        ordinals = {row[0]: row[4] for row in projects}
        found = await self._select("by_path", units=[unit_key(project, path) for project in ordinals])

        def order(row: _Candidate) -> tuple[int, int, int, str, str]:
            start, end = span_of(row.span)
            return (ordinals[project_of(row.uid)], start, -end, row.qualified_name, row.uid)

        return sorted(found, key=order)

    async def _near(self, text: str) -> list[_Candidate]:
        qualifier, wanted = names.wanted_name(text)
        if not wanted:
            return []
        edits = await self._similar(wanted)
        found = await self._select("by_folded", names=list(edits), text="", parts=[], limit=_ALL)
        distances = {
            row: edits[fold(row.name)] + names.qualifier_distance(qualifier, row.qualified_name) for row in found
        }
        return sorted(found, key=lambda row: (distances[row], _order(row)))

    async def _similar(self, wanted: str) -> dict[str, int]:
        """Return similar folded names with their distance."""
        squeezed = squeeze(wanted)
        limit = tolerance(squeezed)
        ((similar,),) = await self._transaction.rows(
            cypher_statements("find")["names_from"],
            starts=list(names.starts(squeezed)),
            shortest=len(squeezed) - limit,
            longest=len(squeezed) + limit,
        )
        found: dict[str, int] = {}
        for name in (*names.front_variants(wanted), *similar):
            edits = names.similar(wanted, name)
            if edits is not None:
                found[name] = edits
        return found

    async def _select(self, name: str, **parameters: object) -> list[_Candidate]:
        text = cypher_statements("find")[name].replace("%where%", self._limits).replace("%candidate%", CANDIDATE)
        ((rows,),) = await self._transaction.rows(text, **self._parameters, **parameters)
        return [_Candidate._make(row) for row in rows]


def _order(row: _Candidate) -> tuple[bool, int, str, str]:
    """Return the sort key of a node, equal to that of `names.order_key`."""
    return (row.is_test, len(row.qualified_name), row.qualified_name, row.uid)
