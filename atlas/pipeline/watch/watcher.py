"""The watcher: says which paths of a project's tree may have changed. It reads no file and knows no rules of the scan.

Whoever is told looks (`scan_project(only=...)`) and says with `looked` which folders there are. Where there are too
few watches it says at intervals that anything may have changed. Nothing is lost silently: what may have been missed
is reported as `everything`.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from atlas.pipeline.watch.debounce import INDEX, ChangeBatch, Changes, Debounce
from atlas.pipeline.watch.inotify import FolderWatch, reason_of
from atlas.scan import changes_rules

if TYPE_CHECKING:
    from atlas.pipeline.watch.recursive import TreeWatch

__all__ = ["Changes", "Debounce", "Watcher"]

GONE: Final = "root is gone"
UNKNOWN: Final = ("", 0, 0)
GIT_RULES: Final = ("/.git", "/.git/index", "/.git/info/exclude")
SWAP_SECONDS: Final = 0.05
"""A root that goes away may be about to be replaced."""
LOOK_SHARE: Final = 20
"""Polling may cost a twentieth of a core: an interval is at least so many times as long as a look."""


class Watcher:
    """Watches one project's tree.

    Iterate over `changes`; after every look at the tree call `looked`. All methods are for the event loop's thread.
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
        poll_seconds: float = 2.0,
        retry_seconds: float = 300.0,
        root_seconds: float = 2.0,
    ) -> None:
        """Prepare; nothing is watched before `changes` is iterated over.

        `folders`: those of an earlier scan, or of the files in the store, so that the first look finds few new ones.
        `data`: a folder whose changes are the index's own, if it lies in the root; `.atlas` always is.
        `single_folders`: one watch a folder instead of one for the tree. `poll`: a reason never to watch.
        `root_seconds`: the root is asked for so often, in case that it was replaced unseen.
        """
        self.mode: Literal["watching", "polling"] = "polling"
        self.reason = poll or "not started"
        """Why it polls; "" when watching."""
        self.overflows = 0
        """How often the kernel lost events since the start (each was followed by a look at everything)."""
        self._root = root.absolute()
        self._data = data.absolute() if data is not None else None
        self._own: tuple[str, ...] = ()
        self._single_folders, self._poll = single_folders, poll
        self._poll_seconds, self._retry_seconds, self._root_seconds = poll_seconds, retry_seconds, root_seconds
        self._folders = list(folders)
        self._look_seconds = 0.0
        self._batch = ChangeBatch(debounce or Debounce())
        self._source: FolderWatch | TreeWatch | None = None
        self._identity: tuple[str, int, int] | None = None
        self._stir = asyncio.Event()
        self._next_poll = self._next_retry = self._next_root = math.inf

    @property
    def watches(self) -> int:
        """Number of watches set now."""
        return self._source.watches if self._source is not None else 0

    async def changes(self, stop: asyncio.Event) -> AsyncGenerator[Changes, None]:
        """Yield what may have changed, until `stop` is set; the first is everything ("watch started", "polling").

        What happens while the consumer is at work is gathered for the next report. Ends all watches when it ends:
        close it (`contextlib.aclosing`) when leaving it early. A root that vanishes is reported as everything, "root
        is gone": then nothing can be looked at until "root is back" or "root was replaced".
        """
        waker = asyncio.create_task(self._wake_on(stop))
        self._start("watch started")
        try:
            while not stop.is_set():
                self._stir.clear()
                self._keep_going()
                now = self._now()
                noticed = self._batch.take(now)
                if noticed is not None:
                    yield noticed
                    continue
                due = min(self._batch.due(), self._next_poll, self._next_retry, self._next_root)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stir.wait(), max(0.0, due - now))
        finally:
            waker.cancel()
            self._close()

    def on_scanned(self, only: Sequence[str] | None, folders: Sequence[str], seconds: float = 0.0) -> None:
        """Tell what a look found: at these paths (None = everything), these folders; everything took so many seconds.

        Folders that were unknown are watched from now on, and reported once more, for what came into them before.
        """
        if only is None:
            self._folders, self._look_seconds = list(folders), seconds
        if self._source is None:
            return
        try:
            for folder in self._source.on_scanned(only, folders):
                self.changed(folder)
        except OSError as error:
            self.failed(reason_of(error))

    # --- told by the sources ---

    def changed(self, path: str) -> None:
        """Take in that something at (or below, for a folder) this path may have changed."""
        path = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if path == "":
            self.missed("root changed")
        elif f"/{path}".endswith("/.git/index"):
            self._note(INDEX)
        elif not self._concerns(path):
            if f"/{path}".endswith(GIT_RULES):
                self.missed("rules changed")
        elif changes_rules(path):
            self.missed("rules changed")
        else:
            self._note(path)

    def missed(self, reason: str) -> None:
        """Take in that anything may have changed."""
        self.overflows += reason == "overflow"
        self._batch.add_everything(reason, self._now())
        self._stir.set()

    def check_root(self) -> None:
        """Take in that the root was moved, deleted or replaced."""
        # A new folder can have the inode number of the old one.
        self._identity = UNKNOWN
        self._next_root = self._now() + SWAP_SECONDS
        self._stir.set()

    def failed(self, reason: str) -> None:
        """Poll because the source tells no more, and try again later."""
        self._close()
        self.mode, self.reason = "polling", reason
        self._next_poll = self._now()
        self._next_retry = math.inf if self._poll else self._now() + self._retry_seconds
        self._stir.set()

    # --- the life of a source ---

    def _start(self, reason: str) -> None:
        """Start a new source instead of the one that there is."""
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
                self._source = FolderWatch(root, self._folders, self, self._concerns, loop)
            else:
                # Only here: the import costs time and memory.
                from atlas.pipeline.watch.recursive import TreeWatch

                self._source = TreeWatch(root, self, loop)
        except OSError as error:
            self.failed(reason_of(error))
            return
        self.mode, self.reason = "watching", ""
        self._next_poll = self._next_retry = math.inf
        self.missed(reason)

    def _keep_going(self) -> None:
        """Do what is due: look for the root, poll, try to watch again."""
        now = self._now()
        if now >= self._next_root:
            self._next_root = now + self._root_seconds
            identity = _identity(self._root)
            if identity != self._identity:
                self._start("root is back" if self._identity is None else "root was replaced")
        if now >= self._next_retry:
            self._start("watch started")
        if now >= self._next_poll:
            self._next_poll = now + max(self._poll_seconds, LOOK_SHARE * self._look_seconds)
            self.missed("polling")

    def _note(self, path: str) -> None:
        self._batch.add(path, self._now())
        self._stir.set()

    def _close(self) -> None:
        if self._source is not None:
            self._source.close()
            self._source = None

    def _concerns(self, path: str) -> bool:
        """Say whether a path is none of git's and none of the index's own."""
        return not any(own in f"/{path}/" for own in ("/.git/", "/.atlas/")) and not f"{path}/".startswith(self._own)

    async def _wake_on(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._stir.set()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


def _identity(root: Path) -> tuple[str, int, int] | None:
    """Return where a root really is, and which folder it is; None if it is not there."""
    try:
        place = os.path.realpath(root, strict=True)
        status = Path(place).stat()
    except OSError:
        return None
    if not os.access(place, os.R_OK | os.X_OK):
        return None
    return place, status.st_dev, status.st_ino


def _below(folder: Path | None, root: str) -> list[str]:
    """Return a folder's path below the root, if it lies there."""
    place = "" if folder is None else os.path.realpath(folder)
    return [place[len(root) + 1 :] + "/"] if place.startswith(root + "/") else []
