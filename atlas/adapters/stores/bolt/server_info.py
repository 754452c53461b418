"""Information about a Bolt server: its identity and the state of the required indexes."""

from __future__ import annotations

from dataclasses import dataclass

from atlas.adapters.stores.bolt.connection import Address, BoltConnection
from atlas.adapters.stores.bolt.dialect import dialect_of
from atlas.adapters.stores.bolt.reading.read import current_models
from atlas.adapters.stores.bolt.schema import check_version, indexes


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """State of a supported server that responds."""

    agent: str
    indexes: int
    """Number of required indexes that exist."""
    missing: tuple[str, ...]
    """Names of the missing indexes; all of them on an empty server."""


async def server_info(address: Address) -> ServerInfo:
    """Query a server. Raises as `BoltStore.open` for reading does."""
    link = BoltConnection(address)
    try:
        agent = await link.agent()
        dialect = dialect_of(agent)
        await check_version(link)
        needed = {(index.kind, index.name) for index, _ in dialect.schema()}
        needed |= {("vector", key) for key, _ in (await link.read(current_models)).values()}
        present = {(index.kind, index.name) for index in await indexes(link, dialect)}
    finally:
        await link.aclose()
    missing = tuple(f"{kind} {name}" for kind, name in sorted(needed - present))
    return ServerInfo(agent, len(needed) - len(missing), missing)
