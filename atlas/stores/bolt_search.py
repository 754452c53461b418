"""Word and vector search on a Bolt server: an index's best, restricted by the filter here, as deep as is needed.

Servers filter after they have picked, so more is asked for until enough is left. Only uids and scores come back.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from atlas.errors import QueryError
from atlas.model import Filter, Scored
from atlas.stores.bolt_dialect import Dialect
from atlas.stores.bolt_filters import condition
from atlas.stores.bolt_link import Transaction
from atlas.stores.bolt_read import current_model

_LEAST = 64
_NEAREST = 256
"""Neighbours that an approximate index is asked for at least: of fewer it misses more."""
_DEEPER = 8
_DEEPEST = 100_000
"""Hits that one search looks at, however narrow the filter is."""


async def search_text(
    transaction: Transaction, dialect: Dialect, words: Sequence[str], where: Filter, limit: int
) -> list[Scored]:
    """See `Store.search_text`."""
    limits, parameters = await condition(transaction, where)
    query = dialect.text_query(words)
    if not query or limit <= 0:
        return []
    text = f"{dialect.text_call()} RETURN e.uid, score, (true{limits})"
    return await _deep_enough(transaction, text, {**parameters, "query": query}, limit)


async def search_vector(
    transaction: Transaction, dialect: Dialect, vector: bytes, where: Filter, limit: int
) -> list[Scored]:
    """See `Store.search_vector`. Approximate; where the filter leaves too few, exact if the server can compare."""
    limits, parameters = await condition(transaction, where)
    model = await current_model(transaction)
    if model is None or limit <= 0:
        return []
    key, info = model
    if len(vector) != 4 * info.dimension:
        raise QueryError(
            f"the query vector has {len(vector) // 4} dimensions, the index has {info.dimension}",
            "the embedder changed since the last index; run: atlas index",
        )
    query = list(struct.unpack(f"<{info.dimension}f", vector))
    if not any(query) or not all(map(math.isfinite, query)):
        return []
    asked = {**parameters, "vector": query}
    text = f"{dialect.vector_call(key)} RETURN e.uid, score, (true{limits})"
    if not dialect.exact:
        return await _deep_enough(transaction, text, asked, limit)
    hits: list[Scored] = []
    text = (
        f"{dialect.vector_call(key)} WHERE true{limits} "
        "RETURN e.uid, score, true ORDER BY score DESC, e.uid LIMIT $limit"
    )
    for reach in (nearest := max(_NEAREST, limit * 4), nearest * _DEEPER):
        hits, _ = await _hits(transaction, text, {**asked, "limit": limit}, reach)
        if len(hits) >= limit:
            break
    if len(hits) < limit:
        # the graph of an approximate index need not reach everything, however many are asked for
        score = dialect.exact.replace("%property%", key)
        text = (
            f"MATCH (e:AtlasEntry {{vector_model: $model}}) WHERE true{limits} "
            f"WITH e.uid AS uid, {score} AS score WHERE score IS NOT NULL "
            "RETURN uid, score, true ORDER BY score DESC, uid LIMIT $reach"
        )
        hits, _ = await _hits(transaction, text, {**asked, "model": key}, limit)
    return _best(hits, limit)


async def _deep_enough(transaction: Transaction, text: str, parameters: dict[str, object], limit: int) -> list[Scored]:
    """Ask for more until enough pass the filter and no tie is cut: which of equals is left out is decided by uid."""
    reach = max(_LEAST, limit * 4)
    while True:
        hits, exhausted = await _hits(transaction, text, parameters, reach)
        best = _best(hits, len(hits))
        if exhausted or reach >= _DEEPEST or (len(best) > limit and best[limit - 1].score != best[-1].score):
            return best[:limit]
        reach = min(reach * _DEEPER, _DEEPEST)


async def _hits(
    transaction: Transaction, text: str, parameters: dict[str, object], reach: int
) -> tuple[list[Scored], bool]:
    """Return what passes the filter, and whether the server had no more than that."""
    rows = await transaction.rows(text, **parameters, reach=reach)
    return [Scored(uid, score) for uid, score, passes in rows if passes], len(rows) < reach


def _best(hits: list[Scored], limit: int) -> list[Scored]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.uid))[:limit]
