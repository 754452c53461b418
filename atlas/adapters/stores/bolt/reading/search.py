"""Word and vector search on a Bolt server with a filter, as deep as needed.

Servers filter after they have selected, so the search asks for more until enough hits remain. Only uids and scores of
the remaining hits are transferred.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from atlas.adapters.stores.bolt.connection import Transaction
from atlas.adapters.stores.bolt.dialect import Dialect
from atlas.adapters.stores.bolt.reading.filters import check_filter, condition
from atlas.adapters.stores.bolt.reading.read import current_models
from atlas.adapters.stores.bolt.rows import unit_key, with_properties
from atlas.adapters.stores.shared.statements import cypher_statements
from atlas.core.errors import QueryError
from atlas.core.model import MAX_COUNTED, Filter, ModelInfo, Scored, WordCounts

_LEAST = 64
_NEAREST = 256
"""Minimum number of neighbours requested from an approximate index; it misses more of fewer."""
_DEEPEST = 100_000
"""Maximum number of hits that one search examines, however selective the filter is."""
_DEEPER = 8
_SPARE = 1.5
"""Safety factor on the number of hits that the observed pass rate suggests."""


@dataclass(frozen=True, slots=True)
class _ProbeResult:
    """The best `reach` hits of an index: those that pass the filter, and a bound on the rest."""

    hits: list[Scored]
    passed: int
    seen: int
    least: float
    """Score of the last hit, passing or not: no unseen hit has a better one."""

    def suffices(self, limit: int, reach: int) -> bool:
        """Return whether no unseen hit can be among the best `limit`; ties are broken by uid."""
        return self.seen < reach or (len(self.hits) >= limit and self.hits[limit - 1].score > self.least)

    def deeper(self, limit: int, reach: int) -> int:
        """Return the next number of hits to request, by the observed pass rate; that of unseen hits is unknown."""
        likely = _SPARE * limit * self.seen / max(self.passed, 1) if self.passed < limit else _DEEPER * reach
        return int(min(max(likely, 2 * reach), _DEEPER * reach, _DEEPEST))


async def search_text(
    transaction: Transaction, dialect: Dialect, words: Sequence[str], where: Filter, limit: int
) -> list[Scored]:
    """See `Store.search_text`."""
    limits, parameters = condition(where)
    query = dialect.text_query(words)
    hits: list[Scored] = []
    if query and limit > 0:
        call = dialect.text_call()
        hits = await _deep_enough(transaction, call, limits, {**parameters, "query": query}, limit)
    if not hits:
        await check_filter(transaction, where)
    return hits


async def count_words(transaction: Transaction, dialect: Dialect, words: Sequence[str], where: Filter) -> WordCounts:
    """See `Store.count_words`."""
    limits, parameters = condition(where)
    text = (
        cypher_statements("search")["count_in_files"].replace("%call%", dialect.text_call()).replace("%where%", limits)
    )
    found: dict[str, dict[str, int]] = {}
    for word in dict.fromkeys(words):
        query = dialect.text_query([word])
        if query:
            ((seen, rows),) = await transaction.rows(text, **parameters, query=query, reach=MAX_COUNTED + 1)
            if seen <= MAX_COUNTED:
                found[word] = {path: count for path, count in rows}
    paths = sorted({path for files in found.values() for path in files})
    units = [unit_key(where.project, path) for path in paths] if where.project else []
    ((lengths,),) = await transaction.rows(cypher_statements("search")["nodes_of_files"], units=units)
    if not found:
        await check_filter(transaction, where)
    known = {unit.partition(":")[2]: count for unit, count in lengths}
    return WordCounts({path: known.get(path, 1) for path in paths}, found)


async def search_vector(
    transaction: Transaction, dialect: Dialect, vector: bytes, where: Filter, limit: int, space: str
) -> list[Scored]:
    """See `Store.search_vector`. Approximate; if the filter leaves too few hits, exact where the server supports it."""
    model = (await current_models(transaction)).get(space)
    hits = await _nearest(transaction, dialect, model, vector, where, limit) if model and limit > 0 else []
    if not hits:
        await check_filter(transaction, where)
    return hits


async def _nearest(
    transaction: Transaction, dialect: Dialect, model: tuple[str, ModelInfo], vector: bytes, where: Filter, limit: int
) -> list[Scored]:
    key, info = model
    if len(vector) != 4 * info.dimension:
        raise QueryError(
            f"the query vector has {len(vector) // 4} dimensions, the index has {info.dimension}",
            "the embedder changed since the last index; run: atlas index",
        )
    query = list(struct.unpack(f"<{info.dimension}f", vector))
    if not any(query) or not all(map(math.isfinite, query)):
        return []
    limits, parameters = condition(where)
    asked = {**parameters, "vector": query}
    call = dialect.vector_call(key)
    if not dialect.exact:
        return await _deep_enough(transaction, call, limits, asked, limit)
    reach = max(_NEAREST, limit * (6 if limits else 2))
    look = await _look(transaction, call, limits, asked, limit, reach)
    if look.passed < limit and reach < look.deeper(limit, reach) <= _NEAREST * _DEEPER:
        look = await _look(transaction, call, limits, asked, limit, look.deeper(limit, reach))
    if look.passed >= limit:
        return look.hits
    # The graph of an approximate index need not reach every vector, however many are requested.
    text = cypher_statements("search")["nearest"].replace("%where%", limits)
    text = with_properties(text, info.space).replace("%cosine%", dialect.exact.replace("%property%", key))
    ((rows,),) = await transaction.rows(text, **asked, model=key, limit=limit)
    return _best(rows)


async def _deep_enough(
    transaction: Transaction, call: str, limits: str, parameters: dict[str, object], limit: int
) -> list[Scored]:
    """Request more hits until enough pass the filter and no tie is cut."""
    reach = max(_LEAST, limit * (4 if limits else 2))
    while True:
        look = await _look(transaction, call, limits, parameters, limit, reach)
        if reach >= _DEEPEST or look.suffices(limit, reach):
            return look.hits
        reach = look.deeper(limit, reach)


async def _look(
    transaction: Transaction, call: str, limits: str, parameters: dict[str, object], limit: int, reach: int
) -> _ProbeResult:
    text = cypher_statements("search")["pick"].replace("%call%", call).replace("%where%", limits)
    ((seen, least, passed, rows),) = await transaction.rows(text, **parameters, reach=reach, limit=limit)
    return _ProbeResult(_best(rows), passed, seen, least if least is not None else 0.0)


def _best(rows: Sequence[Sequence[Any]]) -> list[Scored]:
    """Return hits by score, ties by uid in the order of this process."""
    return sorted((Scored(uid, score) for uid, score in rows), key=lambda hit: (-hit.score, hit.uid))
