"""The first index of a tree from another one of its repository: in this user's cache (ADR 0076) or published (0084).

The nearest index comes into a folder of its own inside the data folder, an ordinary pass makes the copy equal to
the tree, and only then does it become the index: nobody reads it before, and a process that is killed leaves nothing
but that folder, which the next attempt removes. Whatever fails, the caller makes the index from the files.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from atlas.adapters.opening.data_folder import prepare_data_folder
from atlas.app.store import facts_files, has_database
from atlas.core.errors import AtlasError, StoreError, WriterBusy
from atlas.core.ids import PERSONAL_PROJECT
from atlas.runtime.process.cache import projects_in_cache
from atlas.runtime.process.data_folder import cache_root, make_folder
from atlas.runtime.process.lock import lock_folder

if TYPE_CHECKING:
    from atlas.adapters.git.kinship import Checkout
    from atlas.adapters.stores.sqlite.file.seeding import SeenFile, StoredTree
    from atlas.code.index.events import IndexSummary, Progress
    from atlas.code.index.index import Indexer
    from atlas.runtime.config.load import Settings

OpenIndexer = Callable[["Settings"], AbstractAsyncContextManager["Indexer"]]
"""Opens the index of these settings for writing, and closes it."""

_log = logging.getLogger(__name__)

STAGING = "seed"
"""Folder in the data folder with the copy, until it equals the tree."""

MAX_COMPARED = 16
"""Indexes of the repository of which the nearest is found, those that were written last."""
MIN_SHARE = 0.5
"""Share of an index's files that must be in the tree with the same size: otherwise there is little to take over."""
NEAR_SHARE = 0.95
"""From this share on, an index in the cache is copied without asking for a published one."""


class Beginning(Protocol):
    """An index of another tree that a first index begins from."""

    @property
    def title(self) -> str:
        """As words."""
        ...

    def fill(self, folder: Path, project: str) -> StoredTree:
        """Put its files into a folder, with the names that the files of this project have; return what it holds."""
        ...


@dataclass(frozen=True, slots=True)
class SeedSource:
    """An index in this user's cache of another tree of the same repository."""

    folder: Path
    root: Path
    tree: StoredTree
    equal: int
    """Files of the new tree that have the size of the index's file at the same path."""

    @property
    def share(self) -> float:
        """How much of the index fits."""
        return self.equal / max(len(self.tree.files), 1)

    @property
    def title(self) -> str:
        """The root of its tree."""
        return str(self.root)

    def fill(self, folder: Path, project: str) -> StoredTree:
        """Copy its files."""
        from atlas.adapters.stores.sqlite.file.connection import DATABASE
        from atlas.adapters.stores.sqlite.file.seeding import copy_database, copy_files

        in_cache = folder.parent.parent == self.folder.parent == cache_root()
        copy_database(self.folder / DATABASE, folder / DATABASE, layers=in_cache)
        names = zip(facts_files(self.tree.project), facts_files(project), strict=True)
        copy_files([(self.folder / theirs, folder / ours) for theirs, ours in names], layers=in_cache)
        return self.tree


async def seed_index(
    settings: Settings, open_indexer: OpenIndexer, fingerprint: Callable[[], str], progress: Progress
) -> IndexSummary | None:
    """Make the first index of a project from the nearest one of its repository; None where there is none, or all fail.

    `fingerprint` names the parser and its languages: an index that another one has read saves nothing.
    """
    if not _may_seed(settings):
        return None
    started, cpu = time.perf_counter(), time.process_time()
    try:
        await asyncio.to_thread(prepare_data_folder, settings)
        lock = await asyncio.to_thread(lock_folder, settings.data_dir)
    except WriterBusy:
        return None  # the caller waits for that process
    try:
        summary = None
        beginnings = _beginnings(settings, fingerprint)
        while summary is None and _may_seed(settings):
            beginning = await asyncio.to_thread(next, beginnings, None)
            if beginning is None:
                return None
            summary = await _begun(settings, beginning, open_indexer, progress)
        if summary is None:
            return None
    finally:
        lock.release()
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    return replace(summary, seconds=seconds, cpu_seconds=cpu_seconds)


def _beginnings(settings: Settings, fingerprint: Callable[[], str]) -> Iterator[Beginning]:
    """Yield the indexes to begin from, the nearest first; the next one is looked for when the last one has failed."""
    known = _nearest(settings, fingerprint)
    if known is not None and known.share >= NEAR_SHARE:
        yield known
    if (published := _published(settings, fingerprint)) is not None:
        yield published
    if known is not None and known.share < NEAR_SHARE:
        yield known


async def _begun(
    settings: Settings, beginning: Beginning, open_indexer: OpenIndexer, progress: Progress
) -> IndexSummary | None:
    """Make the index from one that is there; None, with a line in the log, when that fails."""
    staging = settings.data_dir / STAGING
    try:
        shutil.rmtree(staging, ignore_errors=True)
        progress("copy", 0, 0)
        summary = await _pass_on_copy(settings, beginning, staging, open_indexer, progress)
        await asyncio.to_thread(_publish, settings, staging)
    except (AtlasError, OSError) as error:
        _log.warning("the index is made without that of %s: %s", beginning.title, error)
        return None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return replace(summary, seeded_from=beginning.title)


def _published(settings: Settings, fingerprint: Callable[[], str]) -> Beginning | None:
    """Return the published index of the nearest ancestor; None without one, or if the source cannot be asked."""
    from atlas.adapters.git.kinship import Checkout

    if not settings.published.source or (own := Checkout.of(settings.root)) is None:
        return None
    from atlas.app.published.starting import find_published

    with closing(own):
        try:
            return find_published(settings, own, fingerprint())
        except AtlasError as error:
            _log.warning("no published index is used: %s", error)
            return None


def _may_seed(settings: Settings) -> bool:
    is_wanted = settings.index.seed and not settings.store.url and settings.project_name != PERSONAL_PROJECT
    return is_wanted and not has_database(settings)


def _nearest(settings: Settings, fingerprint: Callable[[], str]) -> SeedSource | None:
    """Return the index with the most files that seem to be those of the tree."""
    from atlas.adapters.git.kinship import Checkout

    own = Checkout.of(settings.root)
    if own is None:
        return None
    with closing(own):
        kin = [one for one in projects_in_cache() if one.root != settings.root and _is_kin(own, one.root)]
    kin.sort(key=lambda one: one.used_at, reverse=True)
    sizes: dict[str, int] = {}
    found = [_compared(settings.root, one.folder, one.root, sizes) for one in kin[:MAX_COMPARED]]
    read_by = fingerprint() if any(found) else ""
    fit = [one for one in found if one is not None and one.tree.read_by.startswith(read_by) and _is_near(one)]
    return max(fit, key=lambda one: one.equal, default=None)


def _is_kin(own: Checkout, root: Path) -> bool:
    from atlas.adapters.git.kinship import Checkout

    other = Checkout.of(root)
    if other is None:
        return False
    with closing(other):
        return own.is_kin_of(other)


def _compared(root: Path, folder: Path, other: Path, sizes: dict[str, int]) -> SeedSource | None:
    """Return how far an index fits a tree by the sizes of its files; None for one that cannot be read."""
    from atlas.adapters.stores.sqlite.file.connection import DATABASE
    from atlas.adapters.stores.sqlite.file.seeding import stored_tree

    try:
        tree = stored_tree(folder / DATABASE)
    except AtlasError:
        return None
    if tree is None or tree.root != str(other):
        return None
    for path in tree.files.keys() - sizes.keys():
        status = _status(root, path)
        sizes[path] = status.st_size if status is not None else -1
    return SeedSource(folder, other, tree, sum(sizes[path] == size for path, (size, _) in tree.files.items()))


def _is_near(source: SeedSource) -> bool:
    return source.equal > 0 and source.equal >= MIN_SHARE * len(source.tree.files)


async def _pass_on_copy(
    settings: Settings, beginning: Beginning, staging: Path, open_indexer: OpenIndexer, progress: Progress
) -> IndexSummary:
    copied = replace(settings, data_dir=staging)
    await asyncio.to_thread(_copy, copied, beginning)
    async with open_indexer(copied) as indexer:
        return await indexer.index(seeded=True, progress=progress)


def _copy(settings: Settings, beginning: Beginning) -> None:
    """Copy the index and what belongs to it; of its files, those with the content of the tree's count as read."""
    from atlas.adapters.stores.sqlite.file.connection import DATABASE
    from atlas.adapters.stores.sqlite.file.seeding import adopt

    folder, root, project = settings.data_dir, settings.root, settings.project_name
    make_folder(folder, root)
    tree = beginning.fill(folder, project)
    adopt(folder / DATABASE, project, str(root), seen_files(root, tree.files), beginning.title)


def seen_files(root: Path, files: Mapping[str, tuple[int, str]]) -> Sequence[SeenFile]:
    """Return the files whose content is the one that the index has read."""
    from atlas.adapters.stores.sqlite.file.seeding import SeenFile
    from atlas.code.index.project.reconcile import trusted_mtime
    from atlas.parsing import digest_paths

    read_at = time.time_ns()
    there = {path: found for path in files if (found := _status(root, path)) is not None}
    digests = zip(there, digest_paths(str(root), list(there)), strict=True)
    return [
        SeenFile(path, there[path].st_size, trusted_mtime(there[path].st_mtime_ns, read_at))
        for path, digest in digests
        if digest and digest == files[path][1]
    ]


def _status(root: Path, path: str) -> os.stat_result | None:
    """Return the status of a regular file, None for anything else."""
    try:
        status = os.lstat(f"{root}/{path}")
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _publish(settings: Settings, staging: Path) -> None:
    """Make the finished copy the index: the facts first, because the database is what counts as one."""
    from atlas.adapters.stores.sqlite.file.connection import DATABASE
    from atlas.adapters.stores.sqlite.file.seeding import LOG_SUFFIX
    from atlas.adapters.stores.sqlite.file.shared_blocks import LAYER_SUFFIXES

    log = staging / f"{DATABASE}{LOG_SUFFIX}"
    if log.exists() and log.stat().st_size:
        raise StoreError(f"{log} could not be emptied")
    for name in (*facts_files(settings.project_name), DATABASE):
        beside = [name + suffix for suffix in LAYER_SUFFIXES]
        for one in beside:
            (settings.data_dir / one).unlink(missing_ok=True)
        for one in (*beside, name):
            if (staging / one).exists():
                (staging / one).replace(settings.data_dir / one)
