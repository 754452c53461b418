"""Several processes behind one address: sockets for them, and a parent that starts, replaces and ends them.

Any of them can answer any request, for none keeps anything between two. Must not know what they serve.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO, NoReturn

from atlas.errors import Unavailable
from atlas.web.serve import SIGNALS, listen

logger = logging.getLogger("atlas.http")

SHORT_LIFE_SECONDS = 5.0
"""A process that ends by itself is replaced, one that was younger than this only after a pause."""
PAUSE_SECONDS = 1.0

Serve = Callable[[socket.socket, Callable[[], None]], None]
"""(socket, ready) -> None: serves until SIGTERM; calls `ready` in its event loop when requests are taken."""


def listen_many(host: str, port: int, count: int) -> list[socket.socket]:
    """Return a socket per process, all of one address. Raises as `listen`.

    Linux deals new connections out over sockets that share a port. Elsewhere it is one socket, and whoever is first
    takes the connection.
    """
    first = listen(host, port)
    if count == 1:
        return [first]
    if sys.platform != "linux":
        return [first, *(first.dup() for _ in range(count - 1))]
    # only a socket that does not share its port finds out that somebody else listens there
    port = first.getsockname()[1]
    first.close()
    return [listen(host, port, shared=True) for _ in range(count)]


def serve_many(sockets: Sequence[socket.socket], serve: Serve, ready: Callable[[], None]) -> None:
    """Serve each socket in a process of its own until a signal; `ready` is called when all take requests.

    The first SIGINT or SIGTERM lets the processes end in order, the second at once. When this process goes, so do they.
    Raises Unavailable when one cannot start. Runs in the main thread of a process that has no other.
    """
    _Parent(sockets, serve).run(ready)


class _Parent:
    def __init__(self, sockets: Sequence[socket.socket], serve: Serve) -> None:
        self._sockets, self._serve = sockets, serve
        self._children: dict[int, tuple[int, float]] = {}
        """Process id -> which socket it serves, since when."""
        self._ending = False
        self._alive, self._held = os.pipe()
        """Nothing is ever written: the children see the end of it when this process has gone."""

    def run(self, ready: Callable[[], None]) -> None:
        before = {kind: signal.signal(kind, self._asked) for kind in SIGNALS}
        try:
            started = [self._start(place) for place in range(len(self._sockets))]
            for pipe in started:
                with pipe as said:
                    if not said.read(1) and not self._ending:
                        raise Unavailable("a process of the server ended before it served", "Its log says why.")
            if not self._ending:
                ready()
            self._watch()
        finally:
            self._end()
            for kind, handler in before.items():
                signal.signal(kind, handler)

    def _start(self, place: int) -> IO[bytes]:
        """Start a process; return a pipe that gives a byte when it serves, and its end when it has gone before."""
        read, write = os.pipe()
        with _signals_held():
            process = 0 if self._ending else os.fork()
            if not (process or self._ending):
                # Ctrl-C reaches every process of a terminal; only the parent passes it on, as one wish to end
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
            elif process:
                self._children[process] = (place, time.monotonic())
        if not (process or self._ending):
            os.close(read)
            self._live(place, write)
        os.close(write)
        return os.fdopen(read, "rb")

    def _live(self, place: int, write: int) -> NoReturn:
        """Be a child: serve one of the sockets, then leave without running what belongs to the parent."""
        code = 1
        try:
            os.close(self._held)
            for other, listening in enumerate(self._sockets):
                if other != place:
                    listening.close()

            def ready() -> None:
                asyncio.get_running_loop().add_reader(self._alive, self._orphaned)
                with os.fdopen(write, "wb", 0) as pipe, suppress(BrokenPipeError):  # nobody waits for a replacement
                    pipe.write(b"1")

            self._serve(self._sockets[place], ready)
            code = 0
        except BaseException:  # whatever it is, the parent's frames below must not see it
            logger.exception("a process of the server failed")
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _orphaned(self) -> None:
        asyncio.get_running_loop().remove_reader(self._alive)
        os.kill(os.getpid(), signal.SIGTERM)

    def _watch(self) -> None:
        while self._children:
            process, status = os.wait()
            place, since = self._children.pop(process)
            if self._ending:
                continue
            logger.error("a process of the server ended by %s; it is replaced", _how(status))
            if time.monotonic() - since < SHORT_LIFE_SECONDS:
                time.sleep(PAUSE_SECONDS)
            if not self._ending:
                self._start(place).close()

    def _asked(self, number: int, frame: FrameType | None) -> None:
        self._ending = True
        for listening in self._sockets:
            listening.close()
        self._tell(signal.SIGTERM)

    def _tell(self, kind: signal.Signals) -> None:
        for process in self._children:
            with suppress(ProcessLookupError):
                os.kill(process, kind)

    def _end(self) -> None:
        self._ending = True
        for listening in self._sockets:
            listening.close()
        self._tell(signal.SIGKILL)
        while self._children:
            self._children.pop(os.wait()[0], None)
        os.close(self._alive)
        os.close(self._held)


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
