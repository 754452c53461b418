"""What a Valkey server says of itself that matters to people: version, memory against its cap, and its log on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from atlas.buses.valkey_connection import Connection


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """The state of a server that answered."""

    version: str
    used_bytes: int
    cap_bytes: int
    """What it may use at most; 0 = all there is."""
    logs: bool
    """It writes an append-only log, so that a restart loses nothing."""
    log_problem: str
    """Why its last write or rewrite of the log failed; "" when it did not."""


async def server_facts(url: str) -> ServerInfo:
    """Ask the server at a URL or a socket's path. Raises Unavailable, ConfigError and StoreError as the bus does."""
    link = Connection.open(url)
    try:
        told = _parsed(str(await link.call("INFO", "server", "memory", "persistence")))
    finally:
        await link.aclose()
    failed = [name for name in ("aof_last_write_status", "aof_last_bgrewrite_status") if told.get(name, "ok") != "ok"]
    return ServerInfo(
        version=told.get("valkey_version", "") or told.get("redis_version", ""),
        used_bytes=_whole(told, "used_memory"),
        cap_bytes=_whole(told, "maxmemory"),
        logs=told.get("aof_enabled") == "1",
        log_problem=", ".join(f"{name} is {told[name]}" for name in failed),
    )


def _parsed(text: str) -> Mapping[str, str]:
    pairs = (line.partition(":") for line in text.splitlines())
    return {name: value for name, colon, value in pairs if colon}


def _whole(told: Mapping[str, str], name: str) -> int:
    text = told.get(name, "")
    return int(text) if text.isdigit() else 0
