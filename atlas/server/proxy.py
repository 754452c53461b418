"""`atlas mcp` over stdio: joins the client to the daemon of its data folder, and goes on in this process without one.

Nothing of the product is imported while a daemon serves the session, not even the settings: the daemon reads them, and
refuses a session that it would answer otherwise than a process of its own.
"""

from __future__ import annotations

import os
import sys
import time

from atlas.runtime.process import places, session_socket
from atlas.server.relay import DONE, LOST, Relay

TYPE_CHECKING = False  # `typing` is not imported for a session's proxy
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence
    from typing import Any

START_SECONDS = 20.0
"""A session waits this long for a daemon that is starting, which takes a second on an idle machine. Long, because the
machine is busy when it takes longer, and 64 sessions that serve themselves instead keep it busy for minutes."""
RESTART_SECONDS = 60.0
"""And this long for another daemon after one has served it."""
WELCOME_SECONDS = 20.0
"""And this long for its first line: many sessions may begin at once."""
POLL_SECONDS, LONGEST_PAUSE = 0.02, 0.1
"""Between two attempts to connect: first, and at most."""
MOST_LOSSES = 10
"""A request that was at work when so many daemons went away may be why: a process of its own answers it. Most such
requests have only waited for their turn."""
OPTIONS = {"--project": "project", "--data-dir": "data_dir", "--toolsets": "toolsets"}


class SessionOptions:
    """The options of `atlas mcp` that a session over stdio may have, "" = not given."""

    __slots__ = ("data_dir", "project", "toolsets")

    def __init__(self) -> None:
        self.project = self.data_dir = self.toolsets = ""


def session_options(words: Sequence[str]) -> SessionOptions | None:
    """Return the options of a command line that serves a session over stdio; None for any other one."""
    options, commands, rest = SessionOptions(), 0, iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "mcp":
            commands += 1
        elif name not in OPTIONS:
            return None
        else:
            value = value if equals else next(rest, "")
            if not value or (not equals and value.startswith("-")):
                return None
            setattr(options, OPTIONS[name], value)
    return options if commands == 1 and words[-1:] != ["--"] else None


def serve(options: SessionOptions, in_process: Callable[[], int], warn: Callable[[list[str]], None]) -> int:
    """Serve one client on stdin and stdout until it closes stdin; return the exit code.

    `in_process` serves it on the descriptors 0 and 1 without a daemon, `warn` tells of ignored settings.
    """
    daemon = DaemonOfSession(options, warn)
    link = daemon.join(starts=True)
    if link is None:
        return in_process()
    relay = Relay(0, 1)
    while True:
        relay.once = daemon.once
        try:
            if relay.run(link) == DONE:
                return 0
            link.close()
            relay.lose()
            if not relay.hear():
                return 0
        except BrokenPipeError:
            return 1
        if any(request.losses >= MOST_LOSSES for request in relay.waiting.values()):
            try:
                _aside(relay, in_process, daemon.lock)
            except BrokenPipeError:
                return 1
        link = daemon.join(starts=not relay.is_closing)
        if link is None:
            return _go_on(relay, in_process)
        relay.greet()


def _aside(relay: Relay, in_process: Callable[[], int], lock_of_daemon: str) -> None:
    """Have the waiting requests answered by another process, which ends with them; not while one does so.

    One at a time for all sessions of the data folder: it imports what the daemon shares, a second and 200 MB.
    """
    import socket

    lock = session_socket.take_lock(f"{lock_of_daemon}.aside")
    if lock < 0:
        return
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        try:
            for descriptor in (0, 1):
                os.dup2(theirs.fileno(), descriptor)
            ours.close()
            theirs.close()
            os._exit(in_process())
        finally:
            os._exit(1)
    theirs.close()
    try:
        relay.greet()
        outcome = relay.run(ours, while_waiting=True)
        relay.lose()
        if outcome == LOST:
            relay.give_up(MOST_LOSSES)
    finally:
        ours.close()
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(lock)


def _go_on(relay: Relay, in_process: Callable[[], int]) -> int:
    """Serve a session that has begun in this process: the relay, in a thread, stands between it and the client."""
    import contextlib
    import socket
    import threading

    ours, theirs = socket.socketpair()
    relay.stdin, relay.stdout = os.dup(0), os.dup(1)
    for descriptor in (0, 1):
        os.dup2(theirs.fileno(), descriptor)
    relay.greet()

    def pass_on() -> None:
        with contextlib.suppress(BrokenPipeError):
            relay.run(ours)
        ours.close()

    passing = threading.Thread(target=pass_on, daemon=True)
    passing.start()
    try:
        return in_process()
    finally:
        theirs.shutdown(socket.SHUT_RDWR)
        passing.join()


class DaemonOfSession:
    """The daemon of the data folder that a session's options, variables and current folder name."""

    def __init__(self, options: SessionOptions, warn: Callable[[list[str]], None]) -> None:
        self._warn, self._has_warned, self._was_served = warn, False, False
        self.once: frozenset[str] = frozenset()
        """Tools whose call must not be repeated."""
        self._options = options
        self._socket = self.lock = ""
        """Paths of the socket and of the lock beside it; "" without a current folder."""
        try:
            self._here = os.getcwd()
        except FileNotFoundError:  # in the process, which says so
            return
        project = options.project or os.environ.get("ATLAS_PROJECT", "")
        data_dir = options.data_dir or os.environ.get("ATLAS_DATA_DIR", "")
        folder = places.data_folder_of(project, data_dir, self._here)
        self._socket, self.lock = (places.run_path(folder, ending) for ending in ("sock", "lock"))

    def join(self, *, starts: bool) -> socket.socket | None:
        """Return a connection on which the daemon serves this session, None if it does not.

        `starts`: start one if none runs, as the settings say.
        """
        if not self._socket:
            return None
        starts = starts and not _is_off(os.environ.get("ATLAS_MCP_START_DAEMON", ""))
        end = time.monotonic() + (RESTART_SECONDS if self._was_served else START_SECONDS)
        while True:
            try:
                link = self._connect() or (self._start(end) if starts else None)
                if link is None:
                    return self._without("none runs")
                answer = self._greet(link)
                break
            except ConnectionError as error:  # it has just been killed
                if not starts or time.monotonic() > end:
                    return self._without(str(error))
            except (OSError, ValueError) as error:
                return self._without(str(error))
        if not answer.get("accepted"):
            link.close()
            return self._without(str(answer.get("why")))
        self._was_served = True
        self.once = frozenset(answer["once"])
        if answer["ignored"] and not self._has_warned:
            self._has_warned = True
            self._warn(answer["ignored"])
        return link

    def _without(self, why: str) -> None:
        """Say on stderr why there is no daemon for this session, for who looks for it."""
        if os.environ.get("ATLAS_DEBUG", "0") not in ("", "0"):
            sys.stderr.write(f"no daemon for this session: {why}\n")

    def _connect(self) -> socket.socket | None:
        try:
            return session_socket.connect(self._socket)
        except (FileNotFoundError, ConnectionRefusedError):
            return None

    def _start(self, end: float) -> socket.socket | None:
        """Return a connection to a daemon that this or another session starts now; None if none comes up in time."""
        session_socket.open_run_folder()
        lock = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            has_launched, pause = False, POLL_SECONDS
            while time.monotonic() < end:
                if (link := self._connect()) is not None:
                    return link
                if session_socket.try_lock(lock):
                    if has_launched:
                        return None  # it has ended: the settings do not want one, or it cannot run
                    has_launched = True
                    _launch(self._options, lock)
                    # the daemon holds the lock now, as long as it lives
                    os.close(lock)
                    lock = os.open(self.lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
                time.sleep(pause)
                pause = min(pause * 1.2, LONGEST_PAUSE)
            return None
        finally:
            os.close(lock)

    def _greet(self, link: socket.socket) -> dict[str, Any]:
        """Say what the session needs; return the daemon's answer. Raises OSError and ValueError."""
        options = self._options
        hello = session_socket.hello("session", options.project, options.data_dir, options.toolsets, self._here)
        return session_socket.exchange(link, hello, RESTART_SECONDS if self._was_served else WELCOME_SECONDS)


def _is_off(value: str) -> bool:
    return value.lower() in ("false", "0")


def _launch(options: SessionOptions, lock: int) -> None:
    """Start the daemon as a process of its own, which inherits the lock; a child decides whether the settings want it.

    The daemon is no child of this process, which need not wait for its end.
    """
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        from atlas.app.daemon_process import become_daemon

        become_daemon(options.project, options.data_dir, lock)
    finally:
        os._exit(1)
