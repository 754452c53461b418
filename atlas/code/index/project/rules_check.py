"""Whether an index was made with the rules for routes and events that the project's own file has now.

That file is no file of the index, so only the structure unit tells with which rules the others were read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from atlas.code.index.project.reconcile import RACY_NS, rules_of
from atlas.core.contracts import Store
from atlas.core.model import STRUCTURE_PATH
from atlas.core.project_state import ProjectState


class RulesCheck:
    """Use from one event loop. A check of an unchanged file is one `stat`."""

    def __init__(self, root: Path, path: str, digest: Callable[[], str]) -> None:
        """`path` of the rules below the root, "" for none; `digest` names the rules as they are now."""
        self._file, self._path, self._digest = root / path, path, digest
        self._seen: tuple[int, int] | None = None
        self._differs = False

    def identity(self, path: str) -> int:
        """Return what changes with the content of the rules' file if `path` is that file, else 0."""
        return self._stamp() if path == self._path else 0

    async def newer(self, store: Store, state: ProjectState) -> tuple[str, ...]:
        """Return the path of the rules if the index was made with others, else nothing. Raises as the store does."""
        if not self._path:
            return ()
        seen = self._stamp(), state.generation
        if seen != self._seen:
            known = await store.records(state.project, [STRUCTURE_PATH])
            structure = known.get(STRUCTURE_PATH)
            self._differs = structure is not None and rules_of(structure) != await asyncio.to_thread(self._digest)
            # a file that has just changed may change again without another time
            self._seen = seen if seen[0] < time.time_ns() - RACY_NS else None
        return (self._path,) if self._differs else ()

    def _stamp(self) -> int:
        try:
            return self._file.lstat().st_ctime_ns
        except (OSError, ValueError):
            return 0
