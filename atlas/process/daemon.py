"""The daemon as a process seen from outside: is there one for a data folder, start one, stop it.

One daemon per data folder: the lock on `daemon.lock` is held for the daemon's life and taken back by the system however
it ends; what the file says is for messages. Must not know what a daemon does.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self, cast

from atlas import errors
from atlas.errors import AtlasError, ConfigError, Unavailable
from atlas.process.files import open_file

LOCK_FILE = "daemon.lock"

ENDED = "ended"

TAKE_SECONDS = 0.5
"""Somebody who only asks whether a daemon runs holds the lock for a moment, and so does one that is ending."""

POLL_SECONDS = 0.02

STOP_SECONDS = 45.0
"""A batch at work may take 30 of them."""

KILLED_SECONDS = 5.0

MAX_BYTES = 65_536
"""A lock file holds less; whatever else lies in its place is not read whole."""

Say = Callable[[str], None]
"""Told in words what is waited for."""


@dataclass(frozen=True, slots=True)
class RunningDaemon:
    """What a daemon wrote down about itself."""

    pid: int = 0
    since: float = 0.0
    """Unix time of its start."""
    roots: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    bus: str = ""
    """Address of the bus without its password; "" = a server of its own."""
    phase: str = "starting"
    """`waiting` for another writer, `starting`, `indexing`, `ready` (up to date and following changes), or `ended`."""
    detail: str = ""
    """What it waits for, or how much there is to do."""


class DaemonInstance:
    """The lock, held; made by `take`."""

    def __init__(self, path: Path, descriptor: int, running: RunningDaemon) -> None:
        self._path, self._descriptor, self._running = path, descriptor, running

    @classmethod
    def take(cls, data_dir: Path, running: RunningDaemon, seconds: float = TAKE_SECONDS) -> Self | None:
        """Return the lock of the data folder; None when a daemon holds it. Raises ConfigError."""
        path = data_dir / LOCK_FILE
        try:
            descriptor = open_file(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise ConfigError(f"cannot use {path}: {error.strerror}", "check the permissions of the folder") from error
        end = time.monotonic() + seconds
        while not _lock(descriptor):
            if time.monotonic() > end:
                os.close(descriptor)
                return None
            time.sleep(POLL_SECONDS)
        instance = cls(path, descriptor, running)
        instance._write()
        return instance

    def report_status(self, phase: str, detail: str = "") -> None:
        """Write down how far the daemon is."""
        if (phase, detail) != (self._running.phase, self._running.detail):
            self._running = replace(self._running, phase=phase, detail=detail)
            self._write()

    def is_valid(self) -> bool:
        """Return whether the lock file is still the one that others see: its folder may have been removed."""
        try:
            return os.path.samestat(self._path.stat(), os.fstat(self._descriptor))
        except OSError:
            return False

    def release(self) -> None:
        """Let the next daemon in; idempotent. The file stays: removing it would race.

        A process that is about to end tells `ended` instead and keeps the lock: who waits for it waits to the very end.
        """
        if self._descriptor >= 0:
            self.report_status(ENDED)
            os.close(self._descriptor)
            self._descriptor = -1

    def _write(self) -> None:
        text = json.dumps(asdict(self._running)).encode()
        # spaces instead of a shorter file: whoever reads meanwhile never finds it empty
        os.pwrite(self._descriptor, text.ljust(os.fstat(self._descriptor).st_size), 0)


def find_running(data_dir: Path) -> RunningDaemon | None:
    """Return the daemon of a data folder, None when none runs. Changes nothing."""
    try:
        descriptor = open_file(data_dir / LOCK_FILE, os.O_RDONLY)
    except OSError:
        return None
    try:
        end = time.monotonic() + TAKE_SECONDS
        while time.monotonic() < end:
            if _lock(descriptor, shared=True):
                return None
            running = _parsed(os.pread(descriptor, MAX_BYTES, 0))
            if running is not None and running.phase != ENDED:
                return running
            time.sleep(POLL_SECONDS)
    finally:
        os.close(descriptor)
    return RunningDaemon()


def last_running(data_dir: Path) -> RunningDaemon | None:
    """Return the daemon of a data folder, or the one that was killed there last; None when the last one ended well."""
    try:
        descriptor = open_file(data_dir / LOCK_FILE, os.O_RDONLY)
    except OSError:
        return None
    try:
        running = _parsed(os.pread(descriptor, MAX_BYTES, 0))
        return None if running is None or running.phase == ENDED else running
    finally:
        os.close(descriptor)


def spawn(
    command: Sequence[str], folder: Path, output: Path, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a process that outlives this one and its terminal; what it prints goes to `output`, which is emptied."""
    with os.fdopen(open_file(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )


def wait_until_working(
    data_dir: Path, process: subprocess.Popen[bytes], output: Path, seconds: float, settle: float, say: Say
) -> RunningDaemon:
    """Return the daemon as soon as it follows changes; for `settle` seconds after the call also until it is ready.

    Another daemon that was faster is returned as well. Raises what the process ended with, and Unavailable when it is
    not at work within `seconds`; it goes on then.
    """
    started = time.monotonic()
    told = ""
    while True:
        running, waited = find_running(data_dir), time.monotonic() - started
        if running is not None and (running.phase == "ready" or (running.phase == "indexing" and waited >= settle)):
            return running
        if running is None and process.poll() is not None:
            raise _failure(process.returncode, output)
        phase = f"{running.phase} {running.detail}".strip() if running is not None else "starting"
        if waited >= 1.0 and phase != told:
            told = phase
            say(phase)
        if waited > seconds:
            raise Unavailable(
                f"the daemon (process {process.pid}) is not at work after {seconds:g} seconds: {phase}",
                "it goes on trying; see `atlas daemon logs`, or end it with `atlas daemon stop`",
            )
        time.sleep(POLL_SECONDS)


def stop(data_dir: Path, say: Say, seconds: float = STOP_SECONDS) -> tuple[RunningDaemon, bool] | None:
    """End the daemon of a data folder; return it and whether it had to be killed, None when none ran.

    What a killed one wrote down is removed: whoever stops it knows of it. Raises AtlasError when the daemon belongs to
    somebody else or does not even end when it is killed.
    """
    running = find_running(data_dir)
    if running is None:
        _forget_killed(data_dir)
        return None
    for kind, patience in ((signal.SIGTERM, seconds), (signal.SIGKILL, KILLED_SECONDS)):
        if kind == signal.SIGKILL:
            say(f"process {running.pid} has not ended within {seconds:g} seconds: killing it")
        try:
            if running.pid > 1:
                os.kill(running.pid, kind)
        except ProcessLookupError:
            pass
        except PermissionError as error:
            raise AtlasError(f"process {running.pid} belongs to another user", "ask them to stop it") from error
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if (now := find_running(data_dir)) is None or now.pid != running.pid:
                _forget_killed(data_dir)
                return running, kind == signal.SIGKILL
            time.sleep(POLL_SECONDS)
    raise AtlasError(f"process {running.pid} does not end", "see `atlas daemon logs`")


def _forget_killed(data_dir: Path) -> None:
    """Empty the lock file unless a daemon holds it."""
    try:
        descriptor = open_file(data_dir / LOCK_FILE, os.O_RDWR)
    except OSError:
        return
    try:
        if _lock(descriptor):
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _failure(code: int, output: Path) -> AtlasError:
    """Return the error that a process ended with: the one it reported as JSON, or the end of what it printed."""
    text = output.read_bytes()[-MAX_BYTES:].decode("utf8", "replace")
    for line in reversed(text.splitlines()):
        with contextlib.suppress(ValueError, TypeError, KeyError):
            told = json.loads(line)["error"]
            kind = getattr(errors, told["kind"], AtlasError)
            return cast("AtlasError", kind(told["message"], told["hint"]))
    last = " | ".join(line.strip() for line in text.splitlines()[-3:] if line.strip())
    ended = f"by signal {-code}" if code < 0 else f"with code {code}"
    return AtlasError(f"the daemon ended {ended}{': ' if last else ''}{last}", f"see {output}")


def _parsed(data: bytes) -> RunningDaemon | None:
    try:
        told: Any = json.loads(data)
        return RunningDaemon(
            pid=int(told["pid"]),
            since=float(told["since"]),
            roots=tuple(map(str, told["roots"])),
            projects=tuple(map(str, told["projects"])),
            bus=str(told["bus"]),
            phase=str(told["phase"]),
            detail=str(told["detail"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _lock(descriptor: int, *, shared: bool = False) -> bool:
    if sys.platform == "win32":
        raise ConfigError("the daemon needs Linux or macOS", "Use `atlas index`.")
    import fcntl

    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        hint = "choose a folder on a local disk with --data-dir"
        raise ConfigError(f"the disk of the data folder cannot lock files: {error.strerror}", hint) from error
    return True
