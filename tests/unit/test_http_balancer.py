"""Connections dealt out to processes: evenly, back to the one that has the fewest, and none lost when one goes."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from types import FrameType

import pytest

from atlas.server.http.balancer import READY, Channel, HandoffSocket, assign


class Desk:
    """A listening socket whose connections are dealt to ends in this very process."""

    def __init__(self, held: ExitStack, ends: int) -> None:
        self._held = held
        self._listening = held.enter_context(socket.create_server(("127.0.0.1", 0)))
        pairs = [socket.socketpair() for _ in range(ends)]
        self.channels = [Channel(ours) for ours, _ in pairs]
        self.ends = [held.enter_context(HandoffSocket(theirs)) for _, theirs in pairs]
        for end in self.ends:
            end.setblocking(False)
            held.callback(end.leave)
        held.callback(lambda: [channel.close() for channel in self.channels])

    def connect(self) -> socket.socket:
        client = self._held.enter_context(socket.create_connection(self._listening.getsockname()))
        assign(self._listening.accept()[0], self.channels)
        client.settimeout(5)
        return client

    def taken(self, place: int) -> list[socket.socket]:
        connections: list[socket.socket] = []
        with suppress(BlockingIOError):
            while True:
                connections.append(self._held.enter_context(self.ends[place].accept()[0]))
        return connections

    def poll(self) -> list[bool]:
        return [channel.poll() for channel in self.channels]


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_64_connections_are_dealt_out_evenly_and_closed_ones_make_room(held: ExitStack) -> None:
    desk = Desk(held, 2)
    for end in desk.ends:
        end.report(READY)
    desk.poll()
    clients = [desk.connect() for _ in range(64)]
    first, second = desk.taken(0), desk.taken(1)
    assert (len(first), len(second)) == (32, 32)
    for connection in (*first, *second):
        connection.sendall(b"here")
    assert {client.recv(4) for client in clients} == {b"here"}
    for connection in second[:10]:
        connection.close()
        connection.close()
    desk.poll()
    assert [channel.open for channel in desk.channels] == [32, 22]
    for _ in range(10):
        desk.connect()
    assert (len(desk.taken(0)), len(desk.taken(1))) == (0, 10)


def test_only_a_process_that_is_ready_gets_connections(held: ExitStack) -> None:
    desk = Desk(held, 2)
    desk.ends[1].report(READY)
    desk.poll()
    for _ in range(3):
        desk.connect()
    assert (desk.taken(0), len(desk.taken(1))) == ([], 3)


def test_a_process_that_has_gone_gets_none_and_its_untaken_ones_are_closed(held: ExitStack) -> None:
    desk = Desk(held, 2)
    for end in desk.ends:
        end.report(READY)
    desk.poll()
    waiting = desk.connect()
    gone = desk.ends[0]
    gone.close()
    gone.leave()
    assert [desk.poll(), desk.poll()] == [[True, True], [False, True]]  # it says that it stops, then it ends
    desk.channels.pop(0).close()
    with suppress(ConnectionError):
        assert waiting.recv(1) == b""
    desk.connect()
    assert len(desk.taken(1)) == 1


def test_nobody_takes_it_and_the_client_learns_so(held: ExitStack) -> None:
    assert Desk(held, 1).connect().recv(1) == b""


def test_when_the_parent_has_gone_the_process_is_asked_to_end_once(held: ExitStack) -> None:
    asked: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    before = signal.signal(signal.SIGTERM, note)
    held.callback(signal.signal, signal.SIGTERM, before)
    desk = Desk(held, 1)
    desk.channels[0].close()
    assert desk.taken(0) == desk.taken(0) == []
    assert asked == [signal.SIGTERM]
