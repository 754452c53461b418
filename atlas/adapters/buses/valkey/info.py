"""The state of a Valkey server that matters to people: version, memory and its limit, and the log on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from atlas.adapters.buses.valkey.connection import Connection


@dataclass(frozen=True, slots=True)
class ValkeyInfo:
    """The state of a server that answered."""

    version: str
    used_bytes: int
    cap_bytes: int
    """Its memory limit; 0 = none."""
    logs: bool
    """Whether it writes an append-only log, so that a restart loses nothing."""
    log_problem: str
    """Why the last write or rewrite of the log failed; "" if it did not."""


async def server_info(url: str) -> ValkeyInfo:
    """Ask the server at a URL or a socket's path. Raises Unavailable, ConfigError and StoreError as the bus does."""
    connection = Connection.open(url)
    try:
        values = _parsed(str(await connection.call("INFO", "server", "memory", "persistence")))
    finally:
        await connection.aclose()
    failed = [name for name in ("aof_last_write_status", "aof_last_bgrewrite_status") if values.get(name, "ok") != "ok"]
    return ValkeyInfo(
        version=values.get("valkey_version", "") or values.get("redis_version", ""),
        used_bytes=_whole(values, "used_memory"),
        cap_bytes=_whole(values, "maxmemory"),
        logs=values.get("aof_enabled") == "1",
        log_problem=", ".join(f"{name} is {values[name]}" for name in failed),
    )


def _parsed(text: str) -> Mapping[str, str]:
    pairs = (line.partition(":") for line in text.splitlines())
    return {name: value for name, colon, value in pairs if colon}


def _whole(values: Mapping[str, str], name: str) -> int:
    text = values.get(name, "")
    return int(text) if text.isdigit() else 0
