"""What the sessions that a daemon serves ask of its process: to watch their project, to rest, and to end.

Sessions are served in a thread of their own, with their own event loop; the main thread watches and indexes. All
methods may be called from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from atlas.code.index.watch.inotify import HeldWatches
    from atlas.core.errors import AtlasError
    from atlas.runtime.config.load import Settings


class SessionHost:
    """The process of a daemon, for its sessions."""

    def __init__(
        self,
        data_dir: Path,
        watched: Sequence[Settings] = (),
        *,
        for_sessions: bool = False,
        away: Sequence[Path] = (),
    ) -> None:
        """`for_sessions`: a session has started the process, which ends some time after the last one."""
        self._data_dir, self.for_sessions, self.is_leaving = data_dir, for_sessions, False
        self.watched = tuple(watched)
        """The projects that are watched, or are to be."""
        self.away = tuple(away)
        """Roots whose folders are not there: they are watched as soon as they are back."""
        self.problem = ""
        """Why nothing is watched although a session asked for it."""
        self.let_go: Callable[[float], bool] = _always
        """Stops serving sessions after so many seconds without a request; returns whether it did. Set by the server."""
        self.hand_over: Callable[[], dict[str, object]] = _without_sessions
        """Returns what the sessions leave to a process that rests; set by their server."""
        self.held: Sequence[HeldWatches] | None = None
        """The watches of a process that is to rest."""
        self.inherited_lock = -1
        """Descriptor of the instance lock that this process held before it rested; -1 without one."""
        self._asked: SimpleQueue[Settings | None] = SimpleQueue()
        self._interrupt: Callable[[], object] = _nothing
        if for_sessions and watched:
            self._asked.put(watched[0])

    def holds(self, settings: Settings) -> bool:
        """Return whether this is the daemon of a project's data folder."""
        return settings.data_dir == self._data_dir

    def begin(self, settings: Settings) -> None:
        """Watch a project, too, unless one of its name is watched already."""
        if settings.project_name not in {one.project_name for one in self.watched}:
            self.problem = ""
            self.watched = (*self.watched, settings)
            self._asked.put(settings)
            self._interrupt()

    def bring_back(self, root: Path, settings: Settings | None) -> None:
        """Watch a root that was away; without settings it is given up."""
        self.away = tuple(one for one in self.away if one != root)
        if settings is not None:
            self.begin(settings)

    def leave(self) -> None:
        """End the process."""
        self.is_leaving = True
        self._asked.put(None)
        self._interrupt()

    def rest(self, held: Sequence[HeldWatches]) -> None:
        """Replace the process by one that rests, with these watches."""
        self.held = held
        self._interrupt()

    def fail(self, error: AtlasError) -> None:
        """Note that watching has ended with an error: the next question tries again."""
        self.problem, self.watched = error.message, ()

    def has_more(self) -> bool:
        """Return whether the process is to watch further projects."""
        return not self.is_leaving and not self._asked.empty()

    def is_left(self) -> bool:
        """Wait until something is asked for; return whether that is the end of the process."""
        asked = [self._asked.get()]
        while not self._asked.empty():
            asked.append(self._asked.get())
        return None in asked

    @contextmanager
    def interrupting(self, interrupt: Callable[[], object]) -> Generator[None]:
        """Call a function when something is asked for during the block."""
        self._interrupt = interrupt
        if not self._asked.empty():
            interrupt()
        try:
            yield
        finally:
            self._interrupt = _nothing


def _nothing() -> None:
    pass


def _without_sessions() -> dict[str, object]:
    return {"serving": -1, "listening": -1, "path": "", "leaves_at": None}


def _always(seconds: float) -> bool:
    del seconds
    return True
