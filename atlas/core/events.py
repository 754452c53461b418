"""The values of the bus: events, their deliveries, the state of streams, and dead letters. All are frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Event(NamedTuple):
    """A hint on a stream: something about `key` in `project` may have changed."""

    project: str
    key: str
    """Path of a file or folder, or a uid; "" = anything in the project."""


class Delivery(NamedTuple):
    """An event as delivered to a consumer."""

    id: str
    event: Event
    attempt: int
    """1 for the first delivery."""


@dataclass(frozen=True, slots=True)
class StreamState:
    """The position of one consumer group in a stream."""

    stream: str
    group: str
    length: int
    """Entries in the stream, including pending ones."""
    waiting: int
    """Entries not yet delivered to the group (lag)."""
    pending: int
    """Entries delivered and not yet acknowledged."""
    dead: int
    """Dead letters of this group."""


class DeadLetter(NamedTuple):
    """An event that failed permanently."""

    id: str
    stream: str
    group: str
    event: Event
    attempts: int
    reason: str
    at: float
    """Unix time in seconds."""
