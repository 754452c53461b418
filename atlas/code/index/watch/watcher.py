"""The watcher reports which paths of a project's tree may have changed. It reads no files and applies no scan rules.

The consumer scans the reported paths (`scan_project(only=...)`) and passes the folders that it found to `on_scanned`.
Without enough watches the watcher polls: it reports at intervals that anything may have changed. No change is lost
silently: events that may have been missed are reported as `everything`.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from atlas.code.index.watch.debounce import INDEX, ChangeBatch, Debounce, WatchedChanges
from atlas.code.index.watch.inotify import FolderWatch, HeldWatches, reason_of
from atlas.parsing.scanning import changes_rules

if TYPE_CHECKING:
    from atlas.code.index.watch.recursive import TreeWatch

__all__ = ["Debounce", "WatchedChanges", "Watcher"]

GONE: Final = "root is gone"
UNKNOWN: Final = ("", 0, 0)
GIT_RULES: Final = ("/.git", "/.git/index", "/.git/info/exclude")
SWAP_SECONDS: Final = 0.05
"""A root that disappears may be about to be replaced."""
SCAN_SHARE: Final = 20
"""Polling may use a twentieth of a core: an interval is at least this many times as long as a scan."""


class Watcher:
    """Watches one project's tree.

    Iterate over `changes` and call `on_scanned` after every scan. Use from the event loop's thread only.
    """

    def __init__(
        self,
        root: Path,
        *,
        folders: Sequence[str] = (),
        data: Path | None = None,
        debounce: Debounce | None = None,
        single_folders: bool = sys.platform == "linux",
        poll: str = "",
        on_change: Callable[[], None] | None = None,
        own_rules: str = "",
        poll_seconds: float = 2.0,
        retry_seconds: float = 300.0,
        root_seconds: float = 2.0,
    ) -> None:
        """Prepare the watcher; watching begins when `changes` is iterated over.

        `folders`: known folders from an earlier scan or from the store, so that the first scan finds few new ones.
        `own_rules`: file of the project's rules for routes and events, which is watched wherever it is in the root.
        `data`: a folder in the root whose changes are ignored because the index writes them; `.atlas` always is.
        `single_folders`: use one watch per folder instead of one for the tree. `poll`: a reason to poll only.
        `root_seconds`: interval for checking whether the root was replaced without an event. `on_change` is called at
        once for every change.
        """
        self.mode: Literal["watching", "polling"] = "polling"
        self.reason = poll or "not started"
        """Why the watcher polls; "" when watching."""
        self.overflows = 0
        """How often the kernel dropped events since the start; each time the whole tree was reported."""
        self._root = root.absolute()
        self._data = data.absolute() if data is not None else None
        self._own: tuple[str, ...] = ()
        self._own_rules = own_rules
        self._single_folders, self._poll = single_folders, poll
        self._poll_seconds, self._retry_seconds, self._root_seconds = poll_seconds, retry_seconds, root_seconds
        self._folders = list(folders)
        self._scan_seconds = 0.0
        self._batch = ChangeBatch(debounce or Debounce())
        self._source: FolderWatch | TreeWatch | None = None
        self._identity: tuple[str, int, int] | None = None
        self._wake, self._on_change = asyncio.Event(), on_change or _ignore
        self._next_poll = self._next_retry = self._next_root = math.inf
        self._noticed_at = -math.inf

    @property
    def watches(self) -> int:
        """Number of watches that are set."""
        return self._source.watches if self._source is not None else 0

    async def changes(self, stop: asyncio.Event) -> AsyncGenerator[WatchedChanges, None]:
        """Yield what may have changed until `stop` is set; the first report is everything ("watch started", "polling").

        Changes during the consumer's work are collected for the next report. The generator removes all watches when it
        ends: close it (`contextlib.aclosing`) when leaving early. A root that disappears is reported as everything,
        "root is gone"; it cannot be scanned until "root is back" or "root was replaced".
        """
        waker = asyncio.create_task(self._wake_on(stop))
        self._start("watch started")
        try:
            while not stop.is_set():
                self._wake.clear()
                self._run_due()
                now = self._now()
                changes = self._batch.take(now)
                if changes is not None:
                    yield changes
                    continue
                due = min(self._batch.due(), self._next_poll, self._next_retry, self._next_root)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), max(0.0, due - now))
        finally:
            waker.cancel()
            self._close()

    def on_scanned(self, only: Sequence[str] | None, folders: Sequence[str], seconds: float = 0.0) -> None:
        """Update the watches to the folders that a scan found at the paths `only` (None = the whole tree).

        `seconds` is the duration of a scan of the whole tree. New folders are watched and reported once more, because
        files may have been created in them before.
        """
        if only is None:
            self._folders, self._scan_seconds = list(folders), seconds
        if self._source is None:
            return
        try:
            for folder in self._source.on_scanned(only, folders):
                self.changed(folder)
        except OSError as error:
            self.failed(reason_of(error))

    def hold(self, seconds: float) -> HeldWatches | None:
        """Stop watching until `resume` if nothing has changed for `seconds`; return None otherwise.

        Also None where changes do not wait in a queue of the kernel: there is nothing that another process could take
        over. The caller closes the queue.
        """
        if self._batch.due() < math.inf or self._now() - self._noticed_at < seconds:
            return None
        if self._identity is None:
            return HeldWatches(str(self._root))
        if self.mode != "watching" or not isinstance(self._source, FolderWatch):
            return None
        try:
            held = self._source.hold((".atlas/", *self._own))
        except OSError:  # the root goes away just now
            self._source.resume()
            return None
        return held

    def resume(self) -> None:
        """Notice changes again, those since `hold` first."""
        if isinstance(self._source, FolderWatch):
            self._source.resume()

    # --- called by the sources ---

    def changed(self, path: str) -> None:
        """Record that something at this path, or below it for a folder, may have changed."""
        path = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if path == "":
            self.missed("root changed")
        elif f"/{path}".endswith("/.git/index"):
            self._note(INDEX)
        elif f"{self._own_rules}/".startswith(f"{path}/"):
            # also where a folder around it appears or goes
            self.missed("rules changed")
        elif not self._concerns(path):
            if f"/{path}".endswith(GIT_RULES):
                self.missed("rules changed")
        elif changes_rules(path):
            self.missed("rules changed")
        else:
            self._note(path)

    def missed(self, reason: str) -> None:
        """Record that anything may have changed."""
        self.overflows += reason == "overflow"
        self._noticed_at = self._now()
        self._batch.add_everything(reason, self._noticed_at)
        self._on_change()
        self._wake.set()

    def check_root(self) -> None:
        """Check soon whether the root was moved, deleted or replaced."""
        # A new folder can have the inode number of the old one.
        self._identity = UNKNOWN
        self._next_root = self._now() + SWAP_SECONDS
        self._wake.set()

    def failed(self, reason: str) -> None:
        """Switch to polling because the source failed, and try to watch again later."""
        self._close()
        self.mode, self.reason = "polling", reason
        self._next_poll = self._now()
        self._next_retry = math.inf if self._poll else self._now() + self._retry_seconds
        self._wake.set()

    # --- the life of a source ---

    def _start(self, reason: str) -> None:
        """Replace the current source by a new one."""
        self._close()
        self._next_root = self._now() + self._root_seconds
        self._identity = _identity(self._root)
        if self._identity is None:
            self.failed(GONE)
            self._next_poll = self._next_retry = math.inf
            self.missed(GONE)
            return
        if self._poll:
            self.failed(self._poll)
            return
        root = self._identity[0]
        self._own = tuple(_below(self._data, root))
        loop = asyncio.get_running_loop()
        try:
            if self._single_folders:
                self._source = FolderWatch(root, self._folders, self, self._concerns, loop, self._own_rules)
            else:
                # Imported only here because it costs time and memory.
                from atlas.code.index.watch.recursive import TreeWatch

                self._source = TreeWatch(root, self, loop)
        except OSError as error:
            self.failed(reason_of(error))
            return
        self.mode, self.reason = "watching", ""
        self._next_poll = self._next_retry = math.inf
        self.missed(reason)

    def _run_due(self) -> None:
        """Do what is due: check the root, poll, try to watch again."""
        now = self._now()
        if now >= self._next_root:
            self._next_root = now + self._root_seconds
            identity = _identity(self._root)
            if identity != self._identity:
                self._start("root is back" if self._identity is None else "root was replaced")
        if now >= self._next_retry:
            self._start("watch started")
        if now >= self._next_poll:
            self._next_poll = now + max(self._poll_seconds, SCAN_SHARE * self._scan_seconds)
            self.missed("polling")

    def _note(self, path: str) -> None:
        self._noticed_at = self._now()
        self._batch.add(path, self._noticed_at)
        self._on_change()
        self._wake.set()

    def _close(self) -> None:
        if self._source is not None:
            self._source.close()
            self._source = None

    def _concerns(self, path: str) -> bool:
        """Return whether a path belongs neither to git nor to the index."""
        return not any(own in f"/{path}/" for own in ("/.git/", "/.atlas/")) and not f"{path}/".startswith(self._own)

    async def _wake_on(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._wake.set()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


def _ignore() -> None:
    """Ignore a change; used where no other callback is given."""


def _identity(root: Path) -> tuple[str, int, int] | None:
    """Return the real path of a root with its device and inode; None if it does not exist or is not accessible."""
    try:
        place = os.path.realpath(root, strict=True)
        status = Path(place).stat()
    except OSError:
        return None
    if not os.access(place, os.R_OK | os.X_OK):
        return None
    return place, status.st_dev, status.st_ino


def _below(folder: Path | None, root: str) -> list[str]:
    """Return a folder's path relative to the root, if it lies below it."""
    place = "" if folder is None else os.path.realpath(folder)
    return [place[len(root) + 1 :] + "/"] if place.startswith(root + "/") else []
