"""Observations in the order in which they were made: a question in a conversation is answered by the next turn.

Ids of observations sort by time, so the next one of a project is the next id; an observation without an id of its own
is numbered within its file. Two observations belong to one conversation if they are close in time, or next to each
other in a file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime

from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import PROSE, Label, Node
from atlas.knowledge.retrieval.hits import properties_of

SESSION_SECONDS = 3600.0
"""Observations that are further apart belong to different conversations."""
_NUMBERED = lazy_regex(r"(.*\.)(\d{1,5})")


async def followers(reader: Reader, nodes: Sequence[Node]) -> dict[str, str]:
    """Return the uid of the observation after each observation, by uid; omits the last one and other notes."""
    asked = [node for node in nodes if node.row.label == Label.OBSERVATION]
    found = await asyncio.gather(*(_next(reader, node.row.uid) for node in asked))
    return {node.row.uid: uid for node, uid in zip(asked, found, strict=True) if uid}


async def _next(reader: Reader, uid: str) -> str:
    numbered = _NUMBERED.fullmatch(uid)
    if numbered is not None:
        return f"{numbered[1]}{int(numbered[2]) + 1}"
    rows = await reader.store.vectors(reader.project, 1, uid, PROSE)
    return next((row.uid for row in rows if row.uid.startswith(f"{reader.project}:o-")), "")


def continues(one: Node, other: Node) -> bool:
    """Return whether two observations that follow each other belong to one conversation."""
    times = [properties_of(node).get("created", "") for node in (one, other)]
    if all(times):
        return abs(seconds(times[1]) - seconds(times[0])) <= SESSION_SECONDS
    return one.row.path == other.row.path and other.row.start_line <= one.row.end_line + 1


def seconds(time: str) -> float:
    """Return Unix seconds of an RFC 3339 time, 0 for a text that is none."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0


def with_conversation(
    scores: Mapping[str, float], following: Mapping[str, str], shares: Mapping[str, float]
) -> dict[str, float]:
    """Return scores to which an observation adds a share of the score of the one before it, by the latter's uid."""
    shared = dict(scores)
    for uid, after in following.items():
        shared[after] = shared.get(after, 0.0) + shares.get(uid, 0.0) * scores.get(uid, 0.0)
    return shared
