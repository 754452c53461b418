"""The warm linker of one project, and the files whose facts in it the store may not hold yet."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final

from atlas.core.model import STRUCTURE_PATH, FileRecord, UnitRows
from atlas.core.threads import in_thread
from atlas.parsing import FactsCache, Linker


class LinkerSession:
    """The linker of one project. Tier 2 uses it under `lock`."""

    def __init__(self) -> None:
        self.lock: Final = asyncio.Lock()
        """Held while the linker is in use."""
        self._linker: Linker | None = None
        self._made_with = ""
        self._pending: set[str] = set()
        self._unpacked = 0
        self._is_saved = self._is_spent = self._is_away = self._is_restored = False
        self.structure: UnitRows | None = None
        """The rows of the structure unit that were made last: they name every file, and a new file changes a few."""

    @property
    def linker(self) -> Linker | None:
        """The linker; None until tier 2 creates one, after `drop`, and after `put_away`."""
        return self._linker

    @property
    def is_made(self) -> bool:
        """Whether there is a linker, or the snapshot of one that was put away."""
        return self._linker is not None or self._is_away

    @property
    def made_with(self) -> str:
        """The `link_digest` of the linker: its sub-projects and rules."""
        return self._made_with

    @property
    def pending(self) -> Set[str]:
        """Files of which the linker may know another version than the store: not written yet, or their write failed."""
        return self._pending

    @property
    def unpacked(self) -> int:
        """Files that the linker has unpacked since it last released memory."""
        return self._unpacked

    def swap_linker(self, linker: Linker, made_with: str) -> None:
        """Use a new linker, created with the sub-projects and rules of this `link_digest`."""
        self._linker, self._made_with = linker, made_with
        self._is_saved = self._is_spent = self._is_away = self._is_restored = False

    @property
    def is_restored(self) -> bool:
        """Whether the linker came from the snapshot of the whole manifest: its units then are those of the store."""
        return self._is_restored

    @property
    def is_unsaved(self) -> bool:
        """Whether the linker agrees with the store and has another state than a saved one."""
        return self._linker is not None and not self._is_saved and not self._pending

    @property
    def is_spent(self) -> bool:
        """Whether the last linker compared all units, wrote them, and is gone."""
        return self._linker is None and self._is_spent

    def release(self, paths: Sequence[str]) -> None:
        """Free the memory of files whose units are made; where that is possible, `spend` must follow."""
        if self._linker is not None:
            self._is_spent = self._linker.release(paths)

    def spend(self) -> None:
        """Drop a linker that has released files; the next change restores it from its snapshot."""
        if self._is_spent:
            self._linker = None

    def drop(self) -> None:
        """Drop the linker; the next pass creates one from the store's manifest."""
        self._linker, self._is_spent, self._is_away = None, False, False
        self.structure = None
        self._pending.clear()

    def restore(self, cache: FactsCache, manifest: Mapping[str, FileRecord]) -> bool:
        """Load the state of the linker that wrote exactly this manifest; return whether the cache has it.

        May run in a thread. The new linker then holds all files of the manifest, linked.
        """
        structure = manifest.get(STRUCTURE_PATH)
        if self._linker is None or structure is None:
            return False
        units = [(path, record.digest, record.unit_digest) for path, record in manifest.items()]
        self._is_saved = self._is_restored = self._linker.restore(cache, structure.digest, units)
        return self._is_saved

    def save(self, cache: FactsCache, manifest: Mapping[str, FileRecord]) -> bool:
        """Save the state of the linker for `restore`, unless it is saved or the store holds another state.

        Returns whether it tried. May run in a thread. A process that is killed meanwhile leaves the snapshot that was
        there.
        """
        structure = manifest.get(STRUCTURE_PATH)
        if self._linker is None or structure is None or self._pending or self._is_saved:
            return False
        self._is_saved = self._linker.save(cache, structure.digest)
        return True

    async def put_away(self) -> bool:
        """Drop a linker whose state is saved, until the next change restores it; return whether there was one."""
        async with self.lock:
            if self._linker is None or not self._is_saved or self._pending:
                return False
            self._linker, self._is_away = None, True
            self.structure = None
            return True

    def note_changed(self) -> None:
        """Note that the linker has another state than a saved one."""
        self._is_saved = False

    def mark_pending(self, paths: Iterable[str]) -> None:
        """Note that the linker knows another version of these files than the store."""
        self._pending.update(paths)

    def clear_pending(self, paths: Iterable[str]) -> None:
        """Note that linker and store agree on these files."""
        self._pending.difference_update(paths)

    def count_unpacked(self, files: int) -> None:
        """Add to `unpacked`."""
        self._unpacked += files

    async def rest(self) -> None:
        """Have the linker release the memory that it does not need until the next change."""
        async with self.lock:
            if self._linker is not None:
                self._unpacked = 0
                await in_thread(self._linker.rest)
