"""A recursive watch on a whole tree, for platforms that offer one (macOS).

`watchfiles` polls its notifier in a thread every few hundredths of a second. Output is paths relative to the root,
including those in ignored folders. The only module that imports watchfiles.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from typing import Final

from watchfiles import Change, _rust_notify

from atlas.code.index.watch.inotify import EventSink

STEP_MS: Final = 30
"""A change is reported after this time without events; each step wakes the thread up."""
LONGEST_MS: Final = 200


class TreeWatch:
    """A recursive watch. Raises OSError when the platform cannot provide one."""

    def __init__(self, root: str, sink: EventSink, loop: asyncio.AbstractEventLoop) -> None:
        self._root, self._sink, self._loop = root, sink, loop
        self._stop = threading.Event()
        try:
            self._notifier = _rust_notify.RustNotify([root], False, False, 0, True, True)
        except _rust_notify.WatchfilesRustInternalError as error:
            raise OSError(str(error)) from error
        self._thread = threading.Thread(target=self._run, name="atlas-watch", daemon=True)
        self._thread.start()

    @property
    def watches(self) -> int:
        """Number of watches set."""
        return 1

    def on_scanned(self, only: Sequence[str] | None, folders: Sequence[str]) -> list[str]:
        """Return no folders: the watch already covers all."""
        del only, folders
        return []

    def close(self) -> None:
        """End the watch; no events follow."""
        self._stop.set()

    def _run(self) -> None:
        with self._notifier:
            while not self._stop.is_set():
                try:
                    changes = self._notifier.watch(LONGEST_MS, STEP_MS, 0, self._stop)
                except (_rust_notify.WatchfilesRustInternalError, OSError) as error:
                    self._report(None, str(error))
                    return
                if not isinstance(changes, str):
                    self._report([(change, os.path.relpath(path, self._root)) for change, path in changes])

    def _report(self, changes: Sequence[tuple[int, str]] | None, reason: str = "") -> None:
        def report() -> None:
            if self._stop.is_set():
                return
            if changes is None:
                self._sink.failed(reason)
            for change, path in changes or ():
                if path == ".":
                    if change == Change.deleted:
                        self._sink.check_root()
                elif not path.startswith("../"):
                    self._sink.changed(path)

        try:
            self._loop.call_soon_threadsafe(report)
        except RuntimeError:
            # The event loop has ended without closing the watch.
            self._stop.set()
