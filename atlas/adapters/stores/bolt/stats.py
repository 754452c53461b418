"""`stats` on a Bolt server: counts of projects."""

from __future__ import annotations

import json
from collections import Counter

from atlas.adapters.stores.bolt.connection import Transaction
from atlas.adapters.stores.bolt.reading.read import check_project, current_models, projects
from atlas.adapters.stores.bolt.rows import units_of
from atlas.adapters.stores.shared.spaces import SPACE_LABELS, SPACES
from atlas.adapters.stores.shared.statements import cypher_statements
from atlas.core.project_state import ProjectStats


async def stats(transaction: Transaction, project: str) -> list[ProjectStats]:
    """See `Store.stats`. The size on disk is unknown. Raises `NotFound` for an unknown project."""
    if project:
        await check_project(transaction, project)
    listed = [state.project for state in await projects(transaction)]
    return [await _stats(transaction, name) for name in listed if project in ("", name)]


async def _stats(transaction: Transaction, name: str) -> ProjectStats:
    read = cypher_statements("stats")
    models = await current_models(transaction)
    keys = {space: key for space, (key, _) in models.items()}
    made_by = {**SPACE_LABELS, **{f"model_of_{space}": keys.get(space, "") for space in SPACES}}
    ((root, generation, indexed_at, decisions, skipped),) = await transaction.rows(read["project"], project=name)
    units = await transaction.rows(read["files"], project=name)
    files = [row[1:] for row in units if not row[0]]
    nodes = await transaction.rows(read["nodes"], **units_of(name), **made_by)
    types: Counter[str] = Counter()
    strategies: Counter[str] = Counter()
    for edge_type, strategy, count in await transaction.rows(read["edges"], project=name):
        types[edge_type] += count
        strategies[strategy] += count
    return ProjectStats(
        project=name,
        root=root,
        generation=generation,
        indexed_at=indexed_at,
        files=sum(row[1] for row in files),
        nodes={row[0]: row[1] for row in nodes},
        edges=dict(types),
        languages={row[0]: row[1] for row in files},
        resolved=sum(row[3] for row in units),
        unresolved=sum(row[4] for row in units),
        chunks=sum(row[2] for row in nodes),
        vectors=sum(row[3] for row in nodes),
        quality_chunks=sum(row[4] for row in nodes),
        quality_vectors=sum(row[5] for row in nodes),
        skipped=Counter(row[1] for row in json.loads(skipped)),
        problems=sum(row[5] for row in units),
        bytes_on_disk=0,
        models=tuple(model for _, model in models.values()),
        strategies=dict(strategies),
        stale_files=sum(row[5] for row in files),
        decisions=json.loads(decisions),
    )
