"""The first index of a tree from that of another tree of the same repository, in this user's cache (ADR 0076).

The nearest index is copied into a folder of its own inside the data folder, an ordinary pass makes the copy equal to
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
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.adapters.opening.data_folder import prepare_data_folder
from atlas.app.store import FACTS_FILE, has_database
from atlas.core.errors import AtlasError, StoreError, WriterBusy
from atlas.core.ids import PERSONAL_PROJECT
from atlas.runtime.process.cache import projects_in_cache
from atlas.runtime.process.data_folder import make_folder
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
LINKER_SUFFIX = ".links"
"""Of the linker's snapshot beside the facts cache."""

MAX_COMPARED = 16
"""Indexes of the repository of which the nearest is found, those that were written last."""
MIN_SHARE = 0.5
"""Share of an index's files that must be in the tree with the same size: otherwise there is little to take over."""


@dataclass(frozen=True, slots=True)
class SeedSource:
    """An index of another tree of the same repository."""

    folder: Path
    root: Path
    tree: StoredTree
    equal: int
    """Files of the new tree that have the size of the index's file at the same path."""


async def seed_index(
    settings: Settings, open_indexer: OpenIndexer, fingerprint: Callable[[], str], progress: Progress
) -> IndexSummary | None:
    """Make the first index of a project from the nearest one of its repository; None where there is none, or it fails.

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
    staging = settings.data_dir / STAGING
    try:
        shutil.rmtree(staging, ignore_errors=True)
        source = await asyncio.to_thread(_nearest, settings, fingerprint) if _may_seed(settings) else None
        if source is None:
            return None
        progress("copy", 0, 0)
        summary = await _pass_on_copy(settings, source, staging, open_indexer, progress)
        await asyncio.to_thread(_publish, settings, staging)
    except (AtlasError, OSError) as error:
        _log.warning("the index is made from the files, not from another work tree's: %s", error)
        return None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        lock.release()
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    return replace(summary, seconds=seconds, cpu_seconds=cpu_seconds, seeded_from=str(source.root))


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
    settings: Settings, source: SeedSource, staging: Path, open_indexer: OpenIndexer, progress: Progress
) -> IndexSummary:
    copied = replace(settings, data_dir=staging)
    await asyncio.to_thread(_copy, copied, source)
    async with open_indexer(copied) as indexer:
        return await indexer.index(seeded=True, progress=progress)


def _copy(settings: Settings, source: SeedSource) -> None:
    """Copy the index and what belongs to it; of its files, those with the content of the tree's count as read."""
    from atlas.adapters.stores.sqlite.file.connection import DATABASE
    from atlas.adapters.stores.sqlite.file.seeding import adopt, copy_database, copy_files

    folder = settings.data_dir
    make_folder(folder, settings.root)
    copy_database(source.folder / DATABASE, folder / DATABASE)
    names = zip(_facts_files(source.tree.project), _facts_files(settings.project_name), strict=True)
    copy_files([(source.folder / theirs, folder / ours) for theirs, ours in names])
    adopt(folder / DATABASE, settings.project_name, str(settings.root), seen_files(settings.root, source.tree.files))


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

    log = staging / f"{DATABASE}{LOG_SUFFIX}"
    if log.exists() and log.stat().st_size:
        raise StoreError(f"{log} could not be emptied")
    for name in (*_facts_files(settings.project_name), DATABASE):
        if (staging / name).exists():
            (staging / name).replace(settings.data_dir / name)


def _facts_files(project: str) -> tuple[str, str]:
    name = FACTS_FILE.format(project=project)
    return name, name + LINKER_SUFFIX
