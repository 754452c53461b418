"""The in-process bus of `atlas index` and tests. Events go in, deliveries come out; nothing outlives the process.

Optimised for bulk: publishing, taking and acknowledging cost a few dictionary operations per event, no tasks or timers.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Sequence
from itertools import repeat

from atlas.adapters.buses.retry_policy import MAX_DEAD_LETTERS, RetryPolicy
from atlas.core.events import DeadLetter, Delivery, Event, StreamState


class MemoryBus:
    """Implements `contracts.Bus` for one event loop; the first `take` of a group creates it."""

    def __init__(self, capacity: int = 1_000_000, retry_policy: RetryPolicy | None = None) -> None:
        """Create an empty bus whose streams hold up to `capacity` events each, pending ones included."""
        self._capacity = capacity
        self._retry_policy = retry_policy or RetryPolicy()
        self._streams: dict[str, _Stream] = {}
        self._letters: dict[str, DeadLetter] = {}
        self._last_letter = 0
        self._leases: dict[str, tuple[str, float]] = {}
        self._heartbeats: dict[str, tuple[str, float]] = {}

    async def publish(self, stream: str, events: Sequence[Event]) -> int:
        """Add events that are not queued yet; return the number for which there was no room."""
        return self._stream(stream).add(events, self._capacity)

    async def take(self, stream: str, group: str, limit: int, wait: float) -> list[Delivery]:
        """Return up to `limit` events, due ones first; wait at most `wait` seconds for the first."""
        entries = self._stream(stream)
        reader = entries.group(group)
        end = time.monotonic() + wait
        while True:
            now = time.monotonic()
            taken = self._take_due(stream, group, limit, now) if now >= reader.next_due else []
            if len(taken) < limit:
                taken += entries.take_new(reader, limit - len(taken), now + self._retry_policy.after)
            if taken or now >= end:
                return taken
            await _until(entries.changed, min(end, reader.next_due) - now)

    async def extend_visibility(self, stream: str, group: str, ids: Sequence[str]) -> None:
        """Restart the redelivery timeout of these deliveries."""
        _, reader = self._known(stream, group)
        due = time.monotonic() + self._retry_policy.after
        reader.due.update((key, due) for key in ids if key in reader.due)

    async def acknowledge(self, stream: str, group: str, ids: Sequence[str]) -> None:
        """Remove deliveries; unknown ids are ignored."""
        entries, reader = self._known(stream, group)
        entries.remove(reader, ids)

    async def nack(self, stream: str, group: str, ids: Sequence[str], reason: str) -> None:
        """Redeliver after a growing delay, or create dead letters."""
        entries, reader = self._known(stream, group)
        now = time.monotonic()
        for key in ids:
            delivery = reader.pending.get(key)
            if delivery is None:
                continue
            if delivery.attempt >= self._retry_policy.attempts:
                self._dead_letter(stream, group, delivery, reason)
            else:
                reader.due[key] = now + self._retry_policy.delay(delivery.attempt)
                reader.next_due = min(reader.next_due, reader.due[key])
        entries.notify()

    async def reclaim(self, stream: str, group: str, *, from_others: bool = False) -> int:
        """Make all pending events of the group due now; return how many. There are no other consumers."""
        if from_others:
            return 0
        entries, reader = self._known(stream, group)
        reader.next_due = time.monotonic()
        reader.due = dict.fromkeys(reader.pending, reader.next_due)
        entries.notify()
        return len(reader.pending)

    async def states(self, streams: Sequence[str] = ()) -> list[StreamState]:
        """Return the state of every group that has taken events."""
        dead: dict[tuple[str, str], int] = {}
        for letter in self._letters.values():
            dead[letter.stream, letter.group] = dead.get((letter.stream, letter.group), 0) + 1
        return [
            StreamState(
                stream=name,
                group=group,
                length=len(entries.events),
                waiting=len(reader.queue),
                pending=len(reader.pending),
                dead=dead.get((name, group), 0),
            )
            for name, entries in sorted(self._streams.items())
            if not streams or name in streams
            for group, reader in sorted(entries.groups.items())
        ]

    async def dead_letters(self, limit: int = 1000) -> list[DeadLetter]:
        """Return the dead letters, oldest first."""
        return list(self._letters.values())[:limit]

    async def retry(self, ids: Sequence[str]) -> int:
        """Publish the events of these letters again; letters whose stream is full stay."""
        done = 0
        for letter in [self._letters[key] for key in dict.fromkeys(ids) if key in self._letters]:
            if await self.publish(letter.stream, [letter.event]) == 0:
                del self._letters[letter.id]
                done += 1
        return done

    async def drop(self, ids: Sequence[str]) -> int:
        """Remove dead letters; return how many."""
        return sum(self._letters.pop(key, None) is not None for key in ids)

    async def lease(self, name: str, holder: str, seconds: float) -> str:
        """Acquire or renew a lease; return its holder."""
        now = time.monotonic()
        held, end = self._leases.get(name, ("", 0.0))
        if end <= now or held == holder:
            self._leases[name] = held, _ = (holder, now + seconds)
        return held

    async def release(self, name: str, holder: str) -> None:
        """Release a lease of this holder."""
        if self._leases.get(name, ("", 0.0))[0] == holder:
            del self._leases[name]

    async def send_heartbeat(self, name: str, text: str, seconds: float) -> None:
        """Publish the state of `name`; it expires after `seconds`."""
        self._heartbeats[name] = (text, time.monotonic() + seconds)

    async def heartbeat(self, name: str) -> str:
        """Return the last state of `name`, "" if there is none or it has expired."""
        return (await self.heartbeats()).get(name, "")

    async def heartbeats(self) -> dict[str, str]:
        """Return all states that have not expired."""
        now = time.monotonic()
        self._heartbeats = {name: sent for name, sent in sorted(self._heartbeats.items()) if sent[1] > now}
        return {name: text for name, (text, _) in self._heartbeats.items()}

    async def aclose(self) -> None:
        """Nothing to close."""

    def _stream(self, name: str) -> _Stream:
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = _Stream()
        return stream

    def _known(self, stream: str, group: str) -> tuple[_Stream, _ConsumerGroup]:
        """Return stream and group, or empty ones for a group that has taken nothing; creates neither."""
        entries = self._streams.get(stream) or _Stream()
        return entries, entries.groups.get(group) or _ConsumerGroup(deque())

    def _take_due(self, stream: str, group: str, limit: int, now: float) -> list[Delivery]:
        """Return pending deliveries that are due; those after their last attempt become dead letters."""
        reader = self._streams[stream].groups[group]
        taken: list[Delivery] = []
        for key in [key for key, due in reader.due.items() if due <= now]:
            if len(taken) == limit:
                break
            delivery = reader.pending[key]
            if delivery.attempt >= self._retry_policy.attempts:
                self._dead_letter(stream, group, delivery, self._retry_policy.no_answer_reason(delivery.attempt))
            else:
                again = delivery._replace(attempt=delivery.attempt + 1)
                reader.pending[key] = again
                reader.due[key] = now + self._retry_policy.after
                taken.append(again)
        reader.next_due = min(reader.due.values(), default=math.inf)
        return taken

    def _dead_letter(self, stream: str, group: str, delivery: Delivery, reason: str) -> None:
        entries = self._streams[stream]
        entries.remove(entries.groups[group], [delivery.id])
        self._last_letter += 1
        letter = DeadLetter(
            str(self._last_letter), stream, group, delivery.event, delivery.attempt, reason, time.time()
        )
        self._letters[letter.id] = letter
        if len(self._letters) > MAX_DEAD_LETTERS:
            del self._letters[next(iter(self._letters))]


class _ConsumerGroup:
    """The queued and pending deliveries of one group."""

    __slots__ = ("due", "last", "next_due", "pending", "queue")

    def __init__(self, queue: deque[Delivery]) -> None:
        self.queue = queue
        self.last = 0
        """Number of the last event that was delivered for the first time."""
        self.pending: dict[str, Delivery] = {}
        """In order of arrival: a redelivered entry keeps its place."""
        self.due: dict[str, float] = {}
        """Monotonic time at which each pending delivery is due again."""
        self.next_due = math.inf
        """No pending delivery is due before this time; saves checking each of them."""


class _Stream:
    """The events that some group still needs, by id (numbers from 1 in order of arrival)."""

    def __init__(self) -> None:
        self.events: dict[str, Delivery] = {}
        self.queued: dict[Event, str] = {}
        """Events that no group has taken yet, with their ids."""
        self.groups: dict[str, _ConsumerGroup] = {}
        self.last = 0
        self.changed = asyncio.Event()

    def add(self, events: Sequence[Event], capacity: int) -> int:
        queued = self.queued
        fresh = list(dict.fromkeys(events))
        if queued:
            fresh = [event for event in fresh if event not in queued]
        room = max(0, capacity - len(self.events))
        refused = max(0, len(fresh) - room)
        del fresh[room:]
        if fresh:
            ids = [str(number) for number in range(self.last + 1, self.last + len(fresh) + 1)]
            self.last += len(fresh)
            added = list(map(Delivery, ids, fresh, repeat(1)))
            self.events.update(zip(ids, added, strict=True))
            queued.update(zip(fresh, ids, strict=True))
            for group in self.groups.values():
                group.queue.extend(added)
            self.notify()
        return refused

    def group(self, name: str) -> _ConsumerGroup:
        group = self.groups.get(name)
        if group is None:
            group = self.groups[name] = _ConsumerGroup(deque(self.events.values()))
        return group

    def take_new(self, group: _ConsumerGroup, limit: int, due: float) -> list[Delivery]:
        queue = group.queue
        taken = [queue.popleft() for _ in range(min(limit, len(queue)))]
        if taken:
            ids = [delivery.id for delivery in taken]
            group.last = int(ids[-1])
            group.pending.update(zip(ids, taken, strict=True))
            group.due.update(dict.fromkeys(ids, due))
            group.next_due = min(group.next_due, due)
            if group.last == self.last:
                self.queued.clear()
            else:
                queued = self.queued
                for delivery in taken:
                    if queued.get(delivery.event) == delivery.id:
                        del queued[delivery.event]
        return taken

    def remove(self, group: _ConsumerGroup, ids: Sequence[str]) -> None:
        """Remove deliveries from the group, and events that no other group needs."""
        pending, due, events = group.pending, group.due, self.events
        others = [other for other in self.groups.values() if other is not group]
        for key in ids:
            if pending.pop(key, None) is not None:
                del due[key]
                if not others or not any(key in other.pending or int(key) > other.last for other in others):
                    del events[key]

    def notify(self) -> None:
        """Wake waiting consumers."""
        self.changed.set()
        self.changed = asyncio.Event()


async def _until(changed: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(min(seconds, 86_400.0)):
            await changed.wait()
    except TimeoutError:
        pass
