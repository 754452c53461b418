"""The bus of several processes: streams and consumer groups of a Valkey server, the daemon's own or a shared one.

Each operation is one script that the server runs atomically, so a process may die between any two commands. The driver
is behind `valkey_connection`; the scripts are in `lua/`.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import secrets
import socket
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar, cast

from atlas.adapters.buses.retry_policy import MAX_DEAD_LETTERS, RetryPolicy
from atlas.adapters.buses.valkey.connection import Connection, MissingGroup, load_script
from atlas.core.errors import AtlasError, Unavailable
from atlas.core.events import DeadLetter, Delivery, Event, StreamState
from atlas.core.lazy_regex import lazy_regex

MAX_BATCH = 5_000
"""Events per script: it blocks the server for about 30 ms."""
LONGEST_SEARCH_PAUSE = 5.0
"""Seconds between two searches for unanswered deliveries; a blocked read ends as often."""

_Item = TypeVar("_Item")
_ID = lazy_regex(r"\d{1,19}-\d{1,19}", re.ASCII)


class ValkeyBus:
    """Implements `contracts.Bus`; one object is one consumer. It survives restarts of the server."""

    def __init__(
        self, connection: Connection, prefix: str = "", capacity: int = 100_000, retry_policy: RetryPolicy | None = None
    ) -> None:
        """Use `open`. `prefix` precedes every key; streams hold up to `capacity` events, pending ones included."""
        self._connection = connection
        self._prefix = prefix
        self._capacity = capacity
        self._retry_policy = retry_policy or RetryPolicy()
        self._pause = min(LONGEST_SEARCH_PAUSE, self._retry_policy.after / 4)
        self._consumer = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._readers: dict[tuple[str, str], _GroupReader] = {}

    @classmethod
    def open(
        cls, url: str, *, prefix: str = "", capacity: int = 100_000, retry_policy: RetryPolicy | None = None
    ) -> Self:
        """Return a bus at `valkey://[user:password@]host:port/db`, `valkeys://...` (TLS) or a unix socket's path.

        Sends nothing yet. On a cluster all keys must be in one slot: include a hash tag such as `{atlas}:` in `prefix`.
        Raises `ConfigError` for an invalid address.
        """
        return cls(Connection.open(url), prefix, capacity, retry_policy)

    async def publish(self, stream: str, events: Sequence[Event]) -> int:
        """Add events that are not queued yet; return the number for which there was no room."""
        refused = 0
        for part in _parts(list(dict.fromkeys(events))):
            refused += int(await self._run("publish", stream, {"events": part, "capacity": self._capacity}))
        return refused

    async def take(self, stream: str, group: str, limit: int, wait: float) -> list[Delivery]:
        """Return up to `limit` events (at most 5,000), due ones first; wait up to `wait` seconds for the first."""
        reader = self._reader(stream, group)
        limit = min(limit, MAX_BATCH)
        end = time.monotonic() + wait
        with reader.reading():
            taken = await self._take(reader, stream, group, limit)
            while not taken and (now := time.monotonic()) < end:
                pause = min(end, reader.search_at) - now
                got = await self._read_one(stream, group, pause) if pause > 0 else ""
                if got or time.monotonic() >= reader.search_at:
                    taken = await self._take(reader, stream, group, limit, got)
        reader.in_flight.update(delivery.id for delivery in taken)
        return taken

    async def extend_visibility(self, stream: str, group: str, ids: Sequence[str]) -> None:
        """Restart the redelivery timeout of these deliveries."""
        for part in _parts(_real(ids)):
            claim = ("XCLAIM", self._prefix + stream, group, self._consumer, 0, *part, "IDLE", 0, "JUSTID")
            with contextlib.suppress(MissingGroup):
                held = await self._connection.call(*claim)
                self._reader(stream, group).in_flight.update(cast(list[str], held))

    async def acknowledge(self, stream: str, group: str, ids: Sequence[str]) -> None:
        """Remove deliveries; unknown ids are ignored."""
        for part in _parts(_real(ids)):
            await self._run("acknowledge", stream, {"group": group, "ids": part})
            self._reader(stream, group).in_flight.difference_update(part)

    async def nack(self, stream: str, group: str, ids: Sequence[str], reason: str) -> None:
        """Redeliver after a growing delay, or create dead letters.

        A `take` that already waits may return them up to five seconds later.
        """
        reader = self._reader(stream, group)
        for part in _parts(_real(ids)):
            args = {"group": group, "ids": part, "reason": reason, **self._dead_letter_options(stream)}
            args |= {
                "first_delay": _ms(self._retry_policy.first_delay),
                "longest_delay": _ms(self._retry_policy.longest_delay),
            }
            with contextlib.suppress(MissingGroup):
                delay = float(await self._run("nack", stream, args))
                if delay >= 0:
                    reader.search_at = min(reader.search_at, time.monotonic() + delay / 1000)

    async def reclaim(self, stream: str, group: str, *, from_others: bool = False) -> int:
        """Make all pending events of the group due now; return how many. Others notice within five seconds."""
        args = {"group": group, "after": _ms(self._retry_policy.after), "but": self._consumer if from_others else ""}
        try:
            count = int(await self._run("reclaim", stream, args))
        except MissingGroup:
            return 0
        if count or not from_others:
            self._reader(stream, group).search_at = 0.0
        return count

    async def states(self, streams: Sequence[str] = ()) -> list[StreamState]:
        """Return the state of every group that has taken events."""
        known = streams or cast(list[str], await self._connection.call("SMEMBERS", self._key("streams")))
        dead = {(stream, group): count for stream, group, count in await self._run("dead_letter_count", "", {})}
        return [
            StreamState(stream, group, length, waiting, pending, dead.get((stream, group), 0))
            for stream in sorted(known)
            for group, length, waiting, pending in sorted(await self._run("state", stream, {}))
        ]

    async def dead_letters(self, limit: int = 1000) -> list[DeadLetter]:
        """Return the dead letters, oldest first."""
        return [_dead_letter_of(row) for row in await self._run("dead_letters", "", {"limit": limit})]

    async def retry(self, ids: Sequence[str]) -> int:
        """Publish the events of these letters again; letters whose stream is full stay."""
        done = 0
        for part in _parts(_real(ids)):
            letters = [_dead_letter_of(row) for row in await self._run("dead_letters", "", {"ids": part})]
            for stream in dict.fromkeys(letter.stream for letter in letters):
                done += await self._publish_again(stream, [letter for letter in letters if letter.stream == stream])
        return done

    async def drop(self, ids: Sequence[str]) -> int:
        """Remove dead letters; return how many."""
        dropped = 0
        for part in _parts(_real(ids)):
            dropped += cast(int, await self._connection.call("XDEL", self._key("dead"), *part))
        return dropped

    async def lease(self, name: str, holder: str, seconds: float) -> str:
        """Acquire or renew a lease; return its holder."""
        args = {"holder": holder, "ms": max(1, _ms(seconds))}
        return await self._connection.run(load_script("lease"), [self._key(f"lease:{name}")], args)

    async def release(self, name: str, holder: str) -> None:
        """Release a lease of this holder."""
        await self._connection.run(load_script("release"), [self._key(f"lease:{name}")], {"holder": holder})

    async def send_heartbeat(self, name: str, text: str, seconds: float) -> None:
        """Publish the state of `name`; it expires after `seconds` by the server's clock, also without this process."""
        keys = [self._key("reports"), self._key(f"note:{name}")]
        args = {"name": name, "text": text, "ms": max(1, _ms(seconds))}
        await self._connection.run(load_script("send_heartbeat"), keys, args)

    async def heartbeat(self, name: str) -> str:
        """Return the last state of `name`, "" if there is none or it has expired."""
        return cast("str | None", await self._connection.call("GET", self._key(f"note:{name}"))) or ""

    async def heartbeats(self) -> dict[str, str]:
        """Return all states that have not expired."""
        return dict(sorted(await self._connection.run(load_script("heartbeats"), [self._key("reports")], {})))

    async def aclose(self) -> None:
        """Leave the groups and close the connections; pending events stay pending."""
        readers, self._readers = self._readers, {}
        for (stream, group), reader in readers.items():
            try:
                if reader.suspect_until > time.monotonic():
                    await self._recover(reader, stream, group)
                await self._run("leave", stream, {"group": group, "consumer": self._consumer})
            except Unavailable:
                break  # without the server there is no group to leave
            except (AtlasError, MissingGroup):
                continue
        await self._connection.aclose()

    async def _take(self, reader: _GroupReader, stream: str, group: str, limit: int, got: str = "") -> list[Delivery]:
        """Take available events; search for unanswered deliveries when that is due."""
        now = time.monotonic()
        search = now >= reader.search_at
        if search:
            reader.search_at = now + self._pause  # before the search: a failure meanwhile may request an earlier one
        args = {"group": group, "consumer": self._consumer, "limit": limit, "got": got, "due": search}
        args |= self._dead_letter_options(stream)
        try:
            rows = await self._search_and_take(reader, stream, args)
        except MissingGroup:
            await self._run("join", stream, args)
            rows = await self._search_and_take(reader, stream, args)
        if search and len(rows) == limit:
            reader.search_at = now  # there may be more
        return [Delivery(id, Event(project, key), attempt) for id, project, key, attempt in rows]

    async def _search_and_take(self, reader: _GroupReader, stream: str, args: Mapping[str, Any]) -> list[Any]:
        if args["due"] and reader.suspect_until > time.monotonic() and reader.takers == 1:
            await self._recover(reader, stream, args["group"])
        return await self._run("take", stream, args)

    async def _recover(self, reader: _GroupReader, stream: str, group: str) -> None:
        """Make deliveries due that this consumer was given without receiving them."""
        args = {
            "group": group,
            "consumer": self._consumer,
            "after": _ms(self._retry_policy.after),
            "in_flight": list(reader.in_flight),
        }
        reader.in_flight = set(await self._run("recover", stream, args))

    async def _read_one(self, stream: str, group: str, seconds: float) -> str:
        """Wait for a new entry and return its id, "" if none arrives. One suffices: `take` fetches the others."""
        ms = max(1, math.ceil(seconds * 1000))  # 0 would wait without limit
        words = ("GROUP", group, self._consumer, "COUNT", 1, "BLOCK", ms, "STREAMS", self._prefix + stream, ">")
        try:
            reply = cast("list[list[list[list[str]]]] | None", await self._connection.call("XREADGROUP", *words))
        except MissingGroup:
            await self._run("join", stream, {"group": group, "stream": stream})
            return ""
        return reply[0][1][0][0] if reply else ""

    async def _publish_again(self, stream: str, letters: Sequence[DeadLetter]) -> int:
        if await self.publish(stream, [letter.event for letter in letters]) == 0:
            return await self.drop([letter.id for letter in letters])
        if len(letters) == 1:
            return 0
        return sum([await self._publish_again(stream, [letter]) for letter in letters])

    async def _run(self, script: str, stream: str, args: Mapping[str, Any]) -> Any:
        key = self._prefix + stream
        beside = key if "{" in key else f"{{{key}}}"  # the same slot of a cluster
        keys = (key, f"{beside}:untaken", self._key("dead"), self._key("streams"))
        return await self._connection.run(load_script(script), keys, args)

    def _reader(self, stream: str, group: str) -> _GroupReader:
        return self._readers.setdefault((stream, group), _GroupReader())

    def _key(self, name: str) -> str:
        return f"{self._prefix}atlas:{name}"

    def _dead_letter_options(self, stream: str) -> dict[str, Any]:
        """Return the options by which scripts create dead letters."""
        rule = self._retry_policy
        return {
            "stream": stream,
            "attempts": rule.attempts,
            "after": _ms(rule.after),
            "max_dead_letters": MAX_DEAD_LETTERS,
        }


@dataclass(slots=True)
class _GroupReader:
    """The state of this process in one group."""

    in_flight: set[str] = field(default_factory=set[str])
    """Ids that the caller has received and not acknowledged yet; other consumers may have reclaimed some."""
    search_at: float = 0.0
    """Monotonic time of the next search for unanswered deliveries."""
    suspect_until: float = 0.0
    """Until then the server may deliver entries to a read that this consumer has cancelled."""
    takers: int = 0

    @contextlib.contextmanager
    def reading(self) -> Generator[None]:
        """Remember a read that ends without its reply: its entries must be found again."""
        self.takers += 1
        try:
            yield
        except BaseException:  # usually a cancellation: no one may read the server's answer
            self.suspect_until = time.monotonic() + 2 * LONGEST_SEARCH_PAUSE
            self.search_at = 0.0
            raise
        finally:
            self.takers -= 1


def _parts(items: Sequence[_Item]) -> Iterable[Sequence[_Item]]:
    return (items[start : start + MAX_BATCH] for start in range(0, len(items), MAX_BATCH))


def _real(ids: Iterable[str]) -> list[str]:
    """Omit strings that are not entry ids."""
    return [id for id in dict.fromkeys(ids) if _ID.fullmatch(id)]


def _dead_letter_of(row: Sequence[Any]) -> DeadLetter:
    """Return the letter; its id contains the time at which the server wrote it."""
    id, stream, group, project, key, attempts, reason = row
    return DeadLetter(id, stream, group, Event(project, key), attempts, reason, int(id.partition("-")[0]) / 1000)


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
