"""The channel of the sentence transformer: an addition, so that an answer is complete without it (ADR 0043)."""

from __future__ import annotations

from time import monotonic
from weakref import WeakKeyDictionary

from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import POOL, Ranking, nearest
from atlas.core.contracts import Embedder
from atlas.core.errors import Unavailable
from atlas.core.model import QUALITY, Filter

COVERED = 0.9
"""Share of the texts that must have a vector: texts with one would displace those that wait for theirs."""
KEPT_SECONDS = 60.0
"""For which a project counts as covered. Counting takes .1 s for 50,000 nodes, on a server more."""
RECOUNT_SECONDS = 5.0
"""After which an uncovered project is counted again."""

_covered: WeakKeyDictionary[Embedder, dict[str, tuple[float, bool]]] = WeakKeyDictionary()


async def by_quality(reader: Reader, query: Query, where: Filter, limit: int = POOL) -> Ranking:
    """Find the nearest neighbours by the sentence transformer; nothing as long as it has not embedded most texts."""
    embedder = reader.quality_embedder
    if embedder is None or "quality" in reader.ranking.off or not query.words:
        return Ranking("quality")
    if all(state.model(QUALITY) is None for state in await reader.store.projects()):
        return Ranking("quality")
    if not await _is_covered(reader, embedder, where.project or reader.project):
        return Ranking("quality")
    try:
        hits, note = await nearest(reader, embedder, query, where, limit)
    except Unavailable as error:
        return Ranking("quality", note=f"answered without the sentence transformer: {error.message}")
    return Ranking("quality", hits, note)


async def _is_covered(reader: Reader, embedder: Embedder, project: str) -> bool:
    """Return whether most texts of a project have a vector; counted from time to time."""
    known = _covered.setdefault(embedder, {})
    until, covered = known.get(project, (0.0, False))
    if monotonic() >= until:
        (stats,) = await reader.store.stats(project)
        covered = stats.quality_vectors >= COVERED * stats.quality_chunks > 0
        known[project] = (monotonic() + (KEPT_SECONDS if covered else RECOUNT_SECONDS), covered)
    return covered
