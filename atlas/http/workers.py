"""Several processes behind one address: a parent that starts, replaces and ends them and deals connections out.

Any of them can answer any request, for none keeps anything between two. Must not know what they serve.
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

from atlas.errors import Unavailable
from atlas.http.balancer import READY, Channel, HandoffSocket, assign
from atlas.http.server import SIGNALS

logger = logging.getLogger("atlas.http")

SHORT_LIFE_SECONDS = 5.0
"""A process that ends by itself is replaced, one that was younger than this only after a pause."""
PAUSE_SECONDS = 1.0
LOOK_SECONDS = 1.0
"""A signal that comes just before a wait is seen after this at the latest."""

Serve = Callable[[socket.socket, Callable[[], None]], None]
"""(socket, ready) -> None: serves until SIGTERM; calls `ready` in its event loop when requests are taken."""


def serve_many(listening: socket.socket, count: int, serve: Serve, ready: Callable[[], None]) -> None:
    """Serve in `count` processes until a signal; `ready` is called when all take requests. Closes the socket.

    This process takes the connections and gives each to the process that has fewest. The first SIGINT or SIGTERM lets
    the processes end in order, the second at once. When this process goes, so do they. Raises Unavailable when one
    cannot start. Runs in the main thread of a process that has no other.
    """
    Supervisor(listening, count, serve).run(ready)


class Supervisor:
    """Starts the worker processes, hands connections to them, and restarts those that die."""

    def __init__(self, listening: socket.socket, count: int, serve: Serve) -> None:
        self._listening, self._count, self._serve = listening, count, serve
        self._children: dict[Channel, tuple[int, float]] = {}
        """Its process id, since when."""
        self._selector = selectors.DefaultSelector()
        self._ending = False

    def run(self, ready: Callable[[], None]) -> None:
        """Serve until a signal asks to stop; `ready` is called once every process accepts connections."""
        before = {kind: signal.signal(kind, self._asked) for kind in SIGNALS}
        try:
            for _ in range(self._count):
                self._start()
            while not self._ending and not all(channel.is_ready for channel in self._children):
                if self._hear():
                    raise Unavailable("a process of the server ended before it served", "Its log says why.")
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
        with _signals_held():
            process = 0 if self._ending else os.fork()
            if not (process or self._ending):
                # Ctrl-C reaches every process of a terminal; only the parent passes it on, as one wish to end
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
            elif process:
                self._children[channel] = (process, time.monotonic())
        if not (process or self._ending):
            channel.close()
            self._live(theirs)
        theirs.close()
        if process:
            self._selector.register(channel, selectors.EVENT_READ)
        else:
            channel.close()

    def _live(self, end: socket.socket) -> NoReturn:
        """Be a child: serve what is dealt out, then leave without running what belongs to the parent."""
        code = 1
        try:
            self._listening.close()
            for other in self._children:
                other.close()
            dealt = HandoffSocket(end)
            self._serve(dealt, lambda: dealt.tell(READY))
            code = 0
        except BaseException:  # whatever it is, the parent's frames below must not see it
            logger.exception("a process of the server failed")
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _watch(self) -> None:
        """Deal connections out and replace processes that end, until all have ended."""
        is_dealing = False
        while self._children:
            # while no process can take any, connections wait where they are
            wanted = not self._ending and any(channel.can_take for channel in self._children)
            if wanted and not is_dealing:
                self._selector.register(self._listening, selectors.EVENT_READ)
            if is_dealing and not wanted:
                self._selector.unregister(self._listening)
            is_dealing = wanted
            if self._ending and not any(channel.is_ready for channel in self._children):
                # who sees that it is closed may send a second signal: by now the first has reached everyone
                self._listening.close()
            for since, status in self._hear():
                if self._ending:
                    continue
                logger.error("a process of the server ended by %s; it is replaced", _how(status))
                if time.monotonic() - since < SHORT_LIFE_SECONDS:
                    time.sleep(PAUSE_SECONDS)
                self._start()

    def _hear(self) -> list[tuple[float, int]]:
        """Wait for something and see to it; return of the processes that have ended since when they were, and how."""
        ended: list[tuple[float, int]] = []
        for key, _ in self._selector.select(LOOK_SECONDS):
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
                logger.error("a connection could not be taken: %s", error.strerror)
                time.sleep(PAUSE_SECONDS)
            return
        assign(connection, self._children)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        self._ending = True
        self._tell(signal.SIGTERM)

    def _tell(self, kind: signal.Signals) -> None:
        for process, _ in self._children.values():
            with suppress(ProcessLookupError):
                os.kill(process, kind)

    def _end(self) -> None:
        self._ending = True
        self._listening.close()
        self._tell(signal.SIGKILL)
        for channel, (process, _) in self._children.items():
            os.waitpid(process, 0)
            channel.close()
        self._children.clear()
        self._selector.close()


@contextmanager
def _signals_held() -> Generator[None]:
    """Let signals wait: between a fork and the note of it, a wish to end would miss the new process."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _how(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"signal {-code}" if code < 0 else f"exit code {code}"
