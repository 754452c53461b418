"""Any sequence of verbs has the same effect on every bus as on a model of twenty lines."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.buses.retry_policy import RetryPolicy
from atlas.adapters.buses.valkey.bus import ValkeyBus
from atlas.adapters.buses.valkey.server import ManagedServer
from atlas.core.contracts import Bus
from atlas.core.events import Event, StreamState

S = "stream"
CAPACITY, ATTEMPTS = 6, 2
RULE = RetryPolicy(after=3600, attempts=ATTEMPTS, first_delay=0)
GROUPS = ("one", "two")
GROUP = st.sampled_from(("one", "one", "one", "two"))
CHOSEN = st.sets(st.integers(0, 2), min_size=1)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), st.lists(st.sampled_from("abcde"), max_size=6)),
        st.tuples(st.just("take"), GROUP, st.integers(1, 3)),
        st.tuples(st.just("take"), GROUP, st.integers(1, 3)),
        st.tuples(st.sampled_from(("acknowledge", "nack", "extend_visibility")), GROUP, CHOSEN),
        st.tuples(st.just("nack"), GROUP, CHOSEN),
        st.tuples(st.just("reclaim"), GROUP),
        st.tuples(st.sampled_from(("retry", "drop")), CHOSEN),
    ),
    min_size=15,
    max_size=60,
)
"""What is done: the verb and its arguments; chosen are positions in the list of pending ones or of letters."""
Answer = TypeVar("Answer")


@dataclass
class Entry:
    key: str
    taken: bool = False


@dataclass
class Pending:
    attempt: int = 1
    due: bool = False
    id: str = ""


@dataclass
class Group:
    next: int = 0
    pending: dict[int, Pending] = field(default_factory=dict[int, Pending])
    """By number of the entry, in order of arrival."""


class Model:
    """Streams as lists: entries get numbers and are looked at one by one."""

    def __init__(self) -> None:
        self.entries: dict[int, Entry] = {}
        self.count = 0
        self.groups = {name: Group() for name in GROUPS}
        self.letters: list[tuple[str, str, int, str]] = []

    def publish(self, keys: list[str]) -> int:
        refused = 0
        for key in dict.fromkeys(keys):
            if any(entry.key == key and not entry.taken for entry in self.entries.values()):
                continue
            if len(self.entries) < CAPACITY:
                self.entries[self.count] = Entry(key)
                self.count += 1
            else:
                refused += 1
        return refused

    def take(self, name: str, limit: int) -> list[tuple[int, str, int]]:
        group = self.groups[name]
        taken: list[int] = []
        for number in sorted(number for number, pending in group.pending.items() if pending.due):
            pending = group.pending[number]
            if len(taken) == limit:
                break
            if pending.attempt >= ATTEMPTS:
                self.bury(name, number, f"delivered {ATTEMPTS} times without an answer")
            else:
                pending.attempt, pending.due = pending.attempt + 1, False
                taken.append(number)
        for number in [number for number in self.entries if number >= group.next][: limit - len(taken)]:
            group.pending[number] = Pending()
            group.next = number + 1
            taken.append(number)
        for number in taken:
            self.entries[number].taken = True
        return [(number, self.entries[number].key, group.pending[number].attempt) for number in taken]

    def bury(self, name: str, number: int, reason: str) -> None:
        pending = self.groups[name].pending[number]
        self.letters.append((name, self.entries[number].key, pending.attempt, reason))
        self.forget(name, number)

    def forget(self, name: str, number: int) -> None:
        del self.groups[name].pending[number]
        if not any(number in group.pending or number >= group.next for group in self.groups.values()):
            del self.entries[number]


class Twins:
    """A bus beside the model."""

    def __init__(self, bus: Bus, runner: asyncio.Runner) -> None:
        self.runner = runner
        self.bus = bus
        self.model = Model()
        for group in GROUPS:
            assert self.run(self.bus.take(S, group, 1, 0)) == []

    def run(self, verb: Coroutine[Any, Any, Answer]) -> Answer:
        return self.runner.run(verb)

    def publish(self, keys: list[str]) -> None:
        assert self.run(self.bus.publish(S, [Event("p", key) for key in keys])) == self.model.publish(keys)

    def take(self, group: str, limit: int) -> None:
        taken = self.run(self.bus.take(S, group, limit, 0))
        expected = self.model.take(group, limit)
        assert [(delivery.event.key, delivery.attempt) for delivery in taken] == [row[1:] for row in expected]
        for delivery, (number, _, _) in zip(taken, expected, strict=True):
            pending = self.model.groups[group].pending[number]
            assert pending.id in ("", delivery.id)
            pending.id = delivery.id

    def acknowledge(self, group: str, chosen: set[int]) -> None:
        numbers = self.choose(group, chosen)
        self.run(self.bus.acknowledge(S, group, self.ids(group, numbers)))
        for number in numbers:
            self.model.forget(group, number)

    def nack(self, group: str, chosen: set[int]) -> None:
        numbers = self.choose(group, chosen)
        self.run(self.bus.nack(S, group, self.ids(group, numbers), "failed"))
        for number in numbers:
            pending = self.model.groups[group].pending[number]
            if pending.attempt >= ATTEMPTS:
                self.model.bury(group, number, "failed")
            else:
                pending.due = True

    def extend_visibility(self, group: str, chosen: set[int]) -> None:
        numbers = self.choose(group, chosen)
        self.run(self.bus.extend_visibility(S, group, self.ids(group, numbers)))
        for number in numbers:
            self.model.groups[group].pending[number].due = False

    def reclaim(self, group: str) -> None:
        pending = self.model.groups[group].pending
        assert self.run(self.bus.reclaim(S, group)) == len(pending)
        for one in pending.values():
            one.due = True

    def retry(self, chosen: set[int]) -> None:
        letters = self.run(self.bus.dead_letters())
        done = [index for index in sorted(chosen) if index < len(letters)]
        kept = [index for index in done if self.model.publish([self.model.letters[index][1]]) == 1]
        assert self.run(self.bus.retry([letters[index].id for index in done])) == len(done) - len(kept)
        self.model.letters = [
            letter for index, letter in enumerate(self.model.letters) if index not in done or index in kept
        ]

    def drop(self, chosen: set[int]) -> None:
        letters = self.run(self.bus.dead_letters())
        gone = [index for index in chosen if index < len(letters)]
        assert self.run(self.bus.drop([letters[index].id for index in gone])) == len(gone)
        self.model.letters = [letter for index, letter in enumerate(self.model.letters) if index not in gone]

    def compare(self) -> None:
        model = self.model
        assert self.run(self.bus.states()) == [
            StreamState(
                S,
                name,
                length=len(model.entries),
                waiting=sum(number >= group.next for number in model.entries),
                pending=len(group.pending),
                dead=sum(letter[0] == name for letter in model.letters),
            )
            for name, group in sorted(model.groups.items())
        ]
        letters = self.run(self.bus.dead_letters())
        assert [(each.group, each.event.key, each.attempts, each.reason) for each in letters] == model.letters

    def choose(self, group: str, chosen: set[int]) -> list[int]:
        pending = list(self.model.groups[group].pending)
        return [pending[index] for index in sorted(chosen) if index < len(pending)]

    def ids(self, group: str, numbers: list[int]) -> list[str]:
        return [self.model.groups[group].pending[number].id for number in numbers]


@pytest.mark.parametrize("kind, examples", [("memory", 150), ("valkey", 40)])
def test_every_bus_does_what_the_model_does(kind: str, examples: int, bus_server: ManagedServer) -> None:
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(steps=STEPS)
    def check(steps: list[tuple[Any, ...]]) -> None:
        bus: Bus = MemoryBus(CAPACITY, RULE)
        if kind == "valkey":
            bus = ValkeyBus.open(
                bus_server.url, prefix=f"{secrets.token_hex(6)}:", capacity=CAPACITY, retry_policy=RULE
            )
        with asyncio.Runner() as runner:
            try:
                twins = Twins(bus, runner)
                for verb, *arguments in steps:
                    getattr(twins, verb)(*arguments)
                    twins.compare()
            finally:
                runner.run(bus.aclose())

    check()
