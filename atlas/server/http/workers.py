"""Several worker processes behind one address: the parent starts, replaces and stops them and balances connections.

Requests are independent, so any worker can answer any of them. This module does not know what the workers serve. ADR
0022 compares it with the process managers of uvicorn and granian.
"""

from __future__ import annotations

import logging
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from atlas.core.errors import Unavailable
from atlas.server.http.balancer import READY, Channel, HandoffSocket, assign
from atlas.server.http.server import SIGNALS

logger = logging.getLogger("atlas.http")

SHORT_LIFE_SECONDS = 5.0
"""A worker that ended earlier than this after its start is replaced after a pause, others at once."""
PAUSE_SECONDS = 1.0
SELECT_SECONDS = 1.0
"""A signal that arrives just before waiting is handled after this at the latest."""

Serve = Callable[[socket.socket, Callable[[], None]], None]
"""(socket, ready) -> None: serves until SIGTERM; calls `ready` in its event loop when it accepts requests."""


def serve_many(listening: socket.socket, count: int, serve: Serve, ready: Callable[[], None]) -> None:
    """Serve in `count` worker processes until a signal; `ready` is called when all accept requests. Closes the socket.

    The first SIGINT or SIGTERM stops the workers gracefully, the second one at once. Workers also stop when this
    process dies. Raises Unavailable when a worker cannot start. Call from the main thread of a single-threaded process.
    """
    Supervisor(listening, count, serve).run(ready)


class Supervisor:
    """Starts the worker processes, hands connections to them, and restarts those that die."""

    def __init__(self, listening: socket.socket, count: int, serve: Serve) -> None:
        self._listening, self._count, self._serve = listening, count, serve
        self._children: dict[Channel, tuple[int, float]] = {}
        """Process id and start time of each worker."""
        self._selector = selectors.DefaultSelector()
        self._ending = False

    def run(self, ready: Callable[[], None]) -> None:
        """Serve until a signal asks to stop; `ready` is called once every worker accepts connections."""
        before = {kind: signal.signal(kind, self._stop) for kind in SIGNALS}
        try:
            for _ in range(self._count):
                self._start()
            while not self._ending and not all(channel.is_ready for channel in self._children):
                if self._poll():
                    raise Unavailable("a worker process ended before it accepted requests", "See the log above.")
            if not self._ending:
                ready()
            self._watch()
        finally:
            self._end()
            for kind, handler in before.items():
                signal.signal(kind, handler)

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        channel = Channel(ours)
        with _signals_blocked():
            process = 0 if self._ending else os.fork()
            if not (process or self._ending):
                # Ctrl-C reaches every process of a terminal; the parent turns it into one SIGTERM for each worker
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
            elif process:
                self._children[channel] = (process, time.monotonic())
        if not (process or self._ending):
            channel.close()
            self._run_worker(theirs)
        theirs.close()
        if process:
            self._selector.register(channel, selectors.EVENT_READ)
        else:
            channel.close()

    def _run_worker(self, end: socket.socket) -> NoReturn:
        """Serve in the child process, then exit without running the parent's cleanup."""
        code = 1
        try:
            self._listening.close()
            for other in self._children:
                other.close()
            handoff = HandoffSocket(end)
            self._serve(handoff, lambda: handoff.report(READY))
            code = 0
        except BaseException:  # no exception may reach the frames of the parent that the fork copied
            logger.exception("a worker process failed")
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _watch(self) -> None:
        """Balance connections and replace workers that end, until all have ended."""
        is_accepting = False
        while self._children:
            # while no worker can take a connection, connections wait in the kernel's queue
            wanted = not self._ending and any(channel.can_take for channel in self._children)
            if wanted and not is_accepting:
                self._selector.register(self._listening, selectors.EVENT_READ)
            if is_accepting and not wanted:
                self._selector.unregister(self._listening)
            is_accepting = wanted
            if self._ending and not any(channel.is_ready for channel in self._children):
                # closed only after every worker got the first signal, because the next signal stops them at once
                self._listening.close()
            for since, status in self._poll():
                if self._ending:
                    continue
                logger.error("a worker process ended by %s; starting a new one", _how(status))
                if time.monotonic() - since < SHORT_LIFE_SECONDS:
                    time.sleep(PAUSE_SECONDS)
                self._start()

    def _poll(self) -> list[tuple[float, int]]:
        """Wait for events and handle them; return the start time and exit status of each worker that ended."""
        ended: list[tuple[float, int]] = []
        for key, _ in self._selector.select(SELECT_SECONDS):
            if key.fileobj is self._listening:
                self._accept()
                continue
            channel = key.fileobj
            assert isinstance(channel, Channel)
            if channel.poll():
                continue
            self._selector.unregister(channel)
            process, since = self._children[channel]
            ended.append((since, os.waitpid(process, 0)[1]))
            del self._children[channel]
            channel.close()
        return ended

    def _accept(self) -> None:
        if self._ending:
            return
        try:
            connection, _ = self._listening.accept()
        except (BlockingIOError, ConnectionError):
            return
        except OSError as error:
            if not self._ending:
                logger.error("a connection could not be accepted: %s", error.strerror)
                time.sleep(PAUSE_SECONDS)
            return
        assign(connection, self._children)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._ending = True
        self._signal_workers(signal.SIGTERM)

    def _signal_workers(self, kind: signal.Signals) -> None:
        for process, _ in self._children.values():
            with suppress(ProcessLookupError):
                os.kill(process, kind)

    def _end(self) -> None:
        self._ending = True
        self._listening.close()
        self._signal_workers(signal.SIGKILL)
        for channel, (process, _) in self._children.items():
            os.waitpid(process, 0)
            channel.close()
        self._children.clear()
        self._selector.close()


@contextmanager
def _signals_blocked() -> Generator[None]:
    """Block signals: a signal between a fork and its registration would miss the new worker."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _how(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"signal {-code}" if code < 0 else f"exit code {code}"
