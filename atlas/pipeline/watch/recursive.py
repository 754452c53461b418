"""One watch on a whole tree, where the platform has such (macOS).

`watchfiles` looks every few hundredths of a second at what its notifier gathered, in a thread; paths below the root go
out, also those of ignored folders. The only module that imports watchfiles.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from typing import Final

from watchfiles import Change, _rust_notify

from atlas.pipeline.watch.inotify import EventSink

STEP_MS: Final = 30
"""A change is told when nothing came for so long; each step costs a wake-up."""
LONGEST_MS: Final = 200


class TreeWatch:
    """A recursive watch. Raises OSError when the platform gives none."""

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
        """Nothing has to be watched that is not."""
        del only, folders
        return []

    def close(self) -> None:
        """End the watch; nothing is told afterwards."""
        self._stop.set()

    def _run(self) -> None:
        with self._notifier:
            while not self._stop.is_set():
                try:
                    changes = self._notifier.watch(LONGEST_MS, STEP_MS, 0, self._stop)
                except (_rust_notify.WatchfilesRustInternalError, OSError) as error:
                    self._tell(None, str(error))
                    return
                if not isinstance(changes, str):
                    self._tell([(change, os.path.relpath(path, self._root)) for change, path in changes])

    def _tell(self, changes: Sequence[tuple[int, str]] | None, reason: str = "") -> None:
        def tell() -> None:
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
            self._loop.call_soon_threadsafe(tell)
        except RuntimeError:
            # The loop has ended without closing this.
            self._stop.set()
