"""The table of connections: who is closed to make room, and who stays."""

from __future__ import annotations

from atlas.server.http.connections import GRACE_SECONDS, MAX_STALLED, SECONDS, Connections, Phase


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Open:
    """A connection."""

    def __init__(self) -> None:
        self.is_open = True

    def abort(self) -> None:
        assert self.is_open
        self.is_open = False


def table(limit: int) -> tuple[Connections, Clock]:
    clock = Clock()
    return Connections(limit, clock), clock


def several(connections: Connections, clock: Clock, count: int, phase: Phase) -> list[Open]:
    made = [Open() for _ in range(count)]
    for one in made:
        clock.now += 0.001
        connections.enter(one, phase)
    return made


def test_the_one_that_has_waited_longest_makes_room_whatever_it_waits_for() -> None:
    connections, clock = table(4)
    body, opening, stalled = (
        several(connections, clock, 1, phase)[0] for phase in (Phase.BODY, Phase.OPENING, Phase.STALLED)
    )
    idle = several(connections, clock, 1, Phase.IDLE)[0]
    clock.now += GRACE_SECONDS
    for gone in (body, opening, stalled, idle):
        assert gone.is_open
        assert connections.make_room()
        assert not gone.is_open
        several(connections, clock, 1, Phase.WORK)
    assert not connections.make_room(), "all are at work"
    assert len(connections) == 4


def test_new_ones_and_those_at_work_stay() -> None:
    connections, clock = table(3)
    idle, work, new = (several(connections, clock, 1, phase)[0] for phase in (Phase.IDLE, Phase.WORK, Phase.OPENING))
    assert connections.make_room()
    assert [idle.is_open, work.is_open, new.is_open] == [False, True, True]
    connections.enter(Open(), Phase.WORK)
    assert not connections.make_room()
    clock.now += GRACE_SECONDS
    assert connections.make_room()
    assert not new.is_open


def test_a_phase_has_an_end_and_more_of_the_same_does_not_prolong_it() -> None:
    connections, clock = table(10)
    for phase, seconds in SECONDS.items():
        one = several(connections, clock, 1, phase)[0]
        clock.now += seconds / 2
        connections.move(one, phase)
        connections.expire()
        assert one.is_open
        clock.now += seconds / 2 + 1
        connections.expire()
        assert not one.is_open
    kept = several(connections, clock, 1, Phase.IDLE)[0]
    clock.now += 1000
    connections.expire()
    assert kept.is_open
    assert len(connections) == 1


def test_few_answers_wait_to_be_read() -> None:
    connections, clock = table(1000)
    stalled = several(connections, clock, MAX_STALLED + 3, Phase.STALLED)
    assert [one.is_open for one in stalled] == [False] * 3 + [True] * MAX_STALLED


def test_who_was_closed_does_not_come_back() -> None:
    connections, clock = table(1)
    one = several(connections, clock, 1, Phase.IDLE)[0]
    assert connections.make_room()
    connections.move(one, Phase.WORK)
    connections.leave(one)
    assert len(connections) == 0
