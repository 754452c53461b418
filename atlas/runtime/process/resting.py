"""A daemon at rest: a process of 5 MB that waits for a change of its trees or a client, and then is the daemon again.

The daemon replaces itself by this program, and this program itself by the daemon (`execve`): process id, locks, the
listening socket and the kernel's queues of the watched folders stay open throughout, so that nothing can happen
unnoticed in between. Nothing is read from a connection and no path of a queue is used: a daemon that starts scans its
trees. Imports as little as possible; see ADR 0088.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False  # `typing` is not imported for a process that only waits
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

CHECK_SECONDS = 5.0
"""Interval of the checks for which no event arrives: the folder of the data is gone, a tree was replaced."""
GONE_SECONDS = 3600.0
"""After this long without any of its roots the daemon ends: they are deleted, and their index may be pruned."""
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) if sys.platform != "win32" else ()
"""They end a daemon."""
BUFFER = 1 << 16
GONE = [0, 0]
HEADER = 16
"""Bytes of `struct inotify_event`: watch, mask, cookie, length of the name that follows."""


def become_resting(held: dict[str, Any]) -> NoReturn:
    """Replace this process by a resting one; raises OSError.

    `held`: `command` of the daemon; `lock` and `lock_path` of its instance; `ended`, what the lock file says after it;
    `serving` lock, `listening` socket, both -1 without one, and the socket's `path`; `leaves_at`, when it ends
    (monotonic, null for never); `trees`: their `root`, `device`, `inode`, `queue` (-1 for a root that is gone), and the
    names in the folders of `rules` that count and in those of `ignored` that do not, by watch.
    """
    words = [sys.executable, "-P", "-m", "atlas.runtime.process.resting", json.dumps(held)]
    _replace(words, _kept(held))


def take_signals(leave: Callable[[int, Any], object]) -> None:
    """Call a function for the signals that end a daemon, also for one that came while the program was replaced."""
    for kind in SIGNALS:
        signal.signal(kind, leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def _kept(held: dict[str, Any]) -> list[int]:
    return [held["lock"], held["serving"], held["listening"], *(tree["queue"] for tree in held["trees"])]


def _replace(words: list[str], kept: Sequence[int]) -> NoReturn:
    """Replace this process by another program that inherits these descriptors and no others but the standard ones."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    before = 3
    for descriptor in sorted(one for one in kept if one >= 0):
        os.closerange(before, descriptor)
        os.set_inheritable(descriptor, True)
        before = descriptor + 1
    os.closerange(before, os.sysconf("SC_OPEN_MAX"))
    os.execv(words[0], words)


class RestingDaemon:
    """Use once: `run`."""

    def __init__(self, held: dict[str, Any]) -> None:
        """`held`: see `become_resting`."""
        self._held = held
        self._trees = {tree["queue"]: tree for tree in held["trees"] if tree["queue"] >= 0}
        self._seen_at = time.monotonic()
        """When a root was last there."""

    def run(self) -> None:
        """Wait, then replace this process by the daemon; return when the daemon is to end. Raises OSError."""
        held, waiting = self._held, select.poll()
        for descriptor in (*self._trees, held["listening"]):
            if descriptor >= 0:
                waiting.register(descriptor, select.POLLIN)
        while self._is_valid() and time.monotonic() - self._seen_at <= GONE_SECONDS:
            rest = CHECK_SECONDS if held["leaves_at"] is None else held["leaves_at"] - time.monotonic()
            if rest <= 0:
                return
            ready = waiting.poll(min(rest, CHECK_SECONDS) * 1000)
            calls = [self._calls(descriptor, mask) for descriptor, mask in ready]
            if self._is_back() or any(calls):
                _replace(held["command"], [held["lock"], held["serving"], held["listening"]])

    def end(self) -> None:
        """Leave the lock file and the socket as a daemon does that ends in order."""
        held = self._held
        if held["listening"] >= 0:
            try:
                os.unlink(held["path"])
            except OSError:
                pass
        os.lseek(held["lock"], 0, os.SEEK_SET)
        os.write(held["lock"], held["ended"].encode().ljust(os.fstat(held["lock"]).st_size))

    def _is_valid(self) -> bool:
        """Return whether other processes still see the lock; otherwise another daemon may start."""
        try:
            return os.path.samestat(os.stat(self._held["lock_path"]), os.fstat(self._held["lock"]))
        except OSError:
            return False

    def _is_back(self) -> bool:
        """Return whether a root is another folder than before; one that is gone now is waited for."""
        for tree in self._held["trees"]:
            now, before = _identity(tree["root"]), [tree["device"], tree["inode"]]
            tree["device"], tree["inode"] = now
            if now != GONE:
                self._seen_at = time.monotonic()
            if now not in (GONE, before):
                return True
        return False

    def _calls(self, descriptor: int, mask: int) -> bool:
        """Return whether something has come for the daemon: a connection, or a change of a tree."""
        if descriptor == self._held["listening"] or mask & ~select.POLLIN:
            return True
        tree = self._trees[descriptor]
        if not any([_concerns(tree, watch, name) for watch, name in _events(descriptor)]):
            return False
        if _identity(tree["root"]) == GONE:
            tree["device"], tree["inode"] = GONE  # it may be back before the next check
            return False
        return True


def _identity(root: str) -> list[int]:
    """Return device and inode of a folder, `GONE` if it is gone or cannot be read."""
    try:
        status = os.stat(root)
    except OSError:
        return GONE
    return [status.st_dev, status.st_ino]


def _events(queue: int) -> list[tuple[str, str]]:
    """Return the events that wait: watch, "-1" for an overflow, and the name in its folder."""
    data, at = os.read(queue, BUFFER), 0
    found: list[tuple[str, str]] = []
    while at < len(data):
        length = int.from_bytes(data[at + 12 : at + HEADER], sys.byteorder)
        watch = int.from_bytes(data[at : at + 4], sys.byteorder, signed=True)
        at += HEADER + length
        found.append((str(watch), os.fsdecode(data[at - length : at].rstrip(b"\0"))))
    return found


def _concerns(tree: dict[str, Any], watch: str, name: str) -> bool:
    rules, ignored = tree["rules"], tree["ignored"]
    return name in rules[watch] if watch in rules and name else name not in ignored.get(watch, ())


def _leave(number: int, frame: object) -> NoReturn:
    raise SystemExit(0)


def main() -> None:
    """Wait as the only argument says."""
    resting = RestingDaemon(json.loads(sys.argv[1]))
    try:
        take_signals(_leave)
        resting.run()
    finally:
        resting.end()


if __name__ == "__main__":
    main()
