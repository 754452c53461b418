"""The `find` verb on SQLite: every kind of match uses an index; the order of results follows the contract."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from atlas.adapters.stores.shared import names
from atlas.adapters.stores.shared.filters import Restriction, restriction
from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.read import nodes_by_id
from atlas.adapters.stores.sqlite.rows import Row, select
from atlas.core.edit_distance import distance, fold, squeeze, tolerance
from atlas.core.ids import make_uid
from atlas.core.model import Filter, Match, Node

_LAST = "\U0010ffff"
_TIES = 64
"""Extra nodes to read: nodes of one qualified name differ by project and are ordered by uid, which no name index
contains."""

_Candidate = tuple[int, int, str, str]
"""(node id, is test, qualified name, name)."""


def find(connection: apsw.Connection, text: str, match: Match, where: Filter, limit: int) -> list[Node]:
    """See `Store.find`. An empty text finds nothing, except as a path, where it means the structure unit."""
    if limit <= 0 or (not text and match is not Match.PATH):
        return []
    limits = restriction(connection, where)
    if match is Match.PATH:
        in_file = Restriction("", limits.where, limits.bindings)
        return nodes_by_id(connection, _ids(connection, "by_path", in_file, {"file_path": text, "limit": limit}))
    if match is Match.NEAR:
        return _near(connection, text, limits, limit)
    most = limit + _TIES
    if match is Match.UID:
        ids = _ids(connection, "by_uid", limits, {"text": text, "limit": most})
    elif match is Match.PREFIX:
        ids = _ids(connection, "by_prefix", limits, {"text": text, "end": text + _LAST, "limit": most})
    elif match is Match.SUFFIX and names.tails(text) == [text]:
        ids = _ids(connection, "by_plain_name", limits, {"text": text, "limit": most})
    else:
        ids = _checked(connection, text, match, limits, most)
    return sorted(nodes_by_id(connection, ids), key=names.order_key)[:limit]


def _ids(connection: apsw.Connection, name: str, limits: Restriction, bindings: dict[str, Any]) -> list[int]:
    return [row[0] for row in _select(connection, name, limits, bindings)]


def _select(connection: apsw.Connection, name: str, limits: Restriction, bindings: dict[str, Any]) -> Iterator[Row]:
    text = statements("find")[name].format(join=limits.join, where=limits.where)
    return select(connection, text, {**limits.bindings, **bindings})


def _checked(connection: apsw.Connection, text: str, match: Match, limits: Restriction, most: int) -> list[int]:
    """Read candidates by plain name (and by uid for EXACT), then compare the rest of the name here."""
    candidates: Iterable[Row] = _select(
        connection, "by_name", limits, {"names": json.dumps(names.tails(text), ensure_ascii=False)}
    )
    if match is Match.EXACT:
        uids = [make_uid(project, text) for (project,) in select(connection, statements("find")["projects"])]
        by_uid = _select(connection, "by_qualified_name", limits, {"uids": json.dumps(uids, ensure_ascii=False)})
        found = {row for row in (*candidates, *by_uid) if row[2] == text}
    elif match is Match.FOLDED:
        matches = names.suffix_matcher(fold(text))
        found = {row for row in candidates if matches(fold(row[3]), fold(row[2]))}
    else:
        matches = names.suffix_matcher(text)
        found = {row for row in candidates if matches(row[3], row[2])}
    return [row[0] for row in sorted(found, key=_order)[:most]]


def _near(connection: apsw.Connection, text: str, limits: Restriction, limit: int) -> list[Node]:
    qualifier, wanted = names.wanted_name(text)
    if not wanted:
        return []
    edits = _similar_names(connection, wanted)
    bindings = {"names": json.dumps(list(edits), ensure_ascii=False)}
    distances = {
        row: edits[fold(row[3])] + names.qualifier_distance(qualifier, row[2])
        for row in _select(connection, "by_name", limits, bindings)
    }
    best = sorted(distances, key=lambda row: (distances[row], _order(row)))[: limit + _TIES]
    by_id = {row[0]: distances[row] for row in best}
    nodes = zip(by_id.values(), nodes_by_id(connection, list(by_id)), strict=True)
    return [node for _, node in sorted(nodes, key=lambda pair: (pair[0], names.order_key(pair[1])))[:limit]]


def _similar_names(connection: apsw.Connection, wanted: str) -> dict[str, int]:
    """Return similar case-folded names with their edit distance."""
    squeezed = squeeze(wanted)
    limit = tolerance(squeezed)
    letters = set(squeezed)
    found: dict[str, int] = {}
    for start in names.starts(squeezed):
        bindings = {
            "first": start,
            "end": start + _LAST,
            "shortest": len(squeezed) - limit,
            "longest": len(squeezed) + limit,
        }
        for (name,) in select(connection, statements("find")["names_from"], bindings):
            spelled = squeeze(name)
            # An edit adds and removes at most one letter: this cheap test avoids most distance computations.
            if len(letters.difference(spelled)) <= limit and len(set(spelled) - letters) <= limit:
                edits = distance(squeezed, spelled, limit)
                if edits <= limit:
                    found[fold(name)] = edits
    variants = json.dumps(names.front_variants(wanted), ensure_ascii=False)
    for (name,) in select(connection, statements("find")["names_among"], {"names": variants}):
        if (edits := names.similar(wanted, name)) is not None:
            found.setdefault(fold(name), edits)
    return found


def _order(row: Row | _Candidate) -> tuple[int, int, str]:
    return (row[1], len(row[2]), row[2])
