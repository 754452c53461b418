"""The `find` verb on SQLite: every kind of match by an index, the order of results as the contract says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from atlas.ids import make_uid
from atlas.model import Filter, Match, Node
from atlas.stores import names
from atlas.stores.embedded_read import nodes_by_id
from atlas.stores.filters import Restriction, restriction
from atlas.stores.rows import Row, select
from atlas.stores.statements import statements

_LAST = "\U0010ffff"
_Candidate = tuple[int, int, str, str, str]
"""(node id, is test, qualified name, uid, name)"""


def find(connection: apsw.Connection, text: str, match: Match, where: Filter, limit: int) -> list[Node]:
    """See `Store.find`. An empty text finds nothing, but as a path it is the structure unit."""
    if limit <= 0 or (not text and match is not Match.PATH):
        return []
    limits = restriction(connection, where)
    if match is Match.UID:
        ids = _ids(connection, "by_uid", limits, {"text": text, "limit": limit})
    elif match is Match.PREFIX:
        ids = _ids(connection, "by_prefix", limits, {"text": text, "end": text + _LAST, "limit": limit})
    elif match is Match.PATH:
        in_file = Restriction("", limits.where, limits.bindings)
        ids = _ids(connection, "by_path", in_file, {"file_path": text, "limit": limit})
    elif match is Match.NEAR:
        ids = _near(connection, text, limits, limit)
    elif match is Match.SUFFIX and len(names.segments(text)) == 1 and names.tails(text) == [text]:
        ids = _ids(connection, "by_plain_name", limits, {"text": text, "limit": limit})
    else:
        ids = _checked(connection, text, match, limits, limit)
    return nodes_by_id(connection, ids)


def _ids(connection: apsw.Connection, name: str, limits: Restriction, bindings: dict[str, Any]) -> list[int]:
    return [row[0] for row in _select(connection, name, limits, bindings)]


def _select(connection: apsw.Connection, name: str, limits: Restriction, bindings: dict[str, Any]) -> Iterator[Row]:
    text = statements("find")[name].format(join=limits.join, where=limits.where)
    return select(connection, text, {**limits.bindings, **bindings})


def _checked(connection: apsw.Connection, text: str, match: Match, limits: Restriction, limit: int) -> list[int]:
    """Candidates by plain name (and by uid for EXACT), then the rest of the name compared here."""
    candidates: Iterable[_Candidate] = _select(
        connection, "by_name", limits, {"names": json.dumps(names.tails(text), ensure_ascii=False)}
    )
    if match is Match.EXACT:
        uids = [make_uid(project, text) for (project,) in select(connection, statements("find")["projects"])]
        by_uid = _select(connection, "by_qualified_name", limits, {"uids": json.dumps(uids, ensure_ascii=False)})
        found = {row for row in (*candidates, *by_uid) if row[2] == text}
    elif match is Match.FOLDED:
        folded = names.fold(text)
        found = {row for row in candidates if names.is_suffix(folded, names.fold(row[4]), names.fold(row[2]))}
    else:
        found = {row for row in candidates if names.is_suffix(text, row[4], row[2])}
    return [row[0] for row in sorted(found, key=_order)[:limit]]


def _near(connection: apsw.Connection, text: str, limits: Restriction, limit: int) -> list[int]:
    qualifier, wanted = names.wanted_name(text)
    if not wanted:
        return []
    edits = _similar_names(connection, wanted)
    candidates: Iterable[_Candidate] = _select(
        connection, "by_name", limits, {"names": json.dumps(list(edits), ensure_ascii=False)}
    )
    ranked = sorted(
        {
            (edits[names.fold(row[4])] + names.qualifier_distance(qualifier, row[2]), _order(row), row[0])
            for row in candidates
        }
    )
    return [node for _, _, node in ranked[:limit]]


def _similar_names(connection: apsw.Connection, wanted: str) -> dict[str, int]:
    """Return the folded names that are similar, with their distance."""
    folded = names.fold(wanted)
    limit = names.tolerance(folded)
    letters = set(folded)
    same_letter = select(
        connection,
        statements("find")["names_from"],
        {"first": folded[0], "end": folded[0] + _LAST, "shortest": len(folded) - limit, "longest": len(folded) + limit},
    )
    found: dict[str, int] = {}
    for (name,) in same_letter:
        lowered = names.fold(name)
        have = set(lowered)
        # an edit brings in and takes away at most one letter: the cheap test that spares most distances
        if len(letters - have) <= limit and len(have - letters) <= limit and lowered not in found:
            edits = names.distance(folded, lowered, limit)
            if edits <= limit:
                found[lowered] = edits
    variants = json.dumps(names.front_variants(folded), ensure_ascii=False)
    for (name,) in select(connection, statements("find")["names_among"], {"names": variants}):
        found.setdefault(names.fold(name), 1)
    return found


def _order(row: _Candidate) -> tuple[int, int, str, str]:
    return (row[1], len(row[2]), row[2], row[3])
