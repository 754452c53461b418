"""The trees of one repository on this machine: its work trees, and clones with an index, and what the indexes take.

Nothing is opened for writing, and no program is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.adapters.git.kinship import Checkout, linked_trees
from atlas.core.errors import AtlasError, NotFound
from atlas.runtime.process.cache import CachedFolder, cached_folders

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings


@dataclass(frozen=True, slots=True)
class KinTree:
    """A tree of the repository."""

    root: Path
    head: str
    """Branch, or the first digits of the commit; "" where it cannot be read."""
    folder: CachedFolder | None
    """Its data folder in the cache; None without one."""
    project: str = ""
    files: int = 0
    """Files of its index; 0 without one that can be read."""


def kin_trees(settings: Settings) -> list[KinTree]:
    """Return the trees of the project's repository, that of the project first. Raises NotFound without a repository."""
    own = Checkout.of(settings.root)
    if own is None:
        raise NotFound(
            f"{settings.root} is not in a repository that can be read", "Ask in a work tree or a clone of one."
        )
    with closing(own):
        cached = {one.root: one for one in cached_folders() if one.root}
        candidates = {str(settings.root): None, **dict.fromkeys(map(str, linked_trees(own))), **dict.fromkeys(cached)}
        return list(_kin(own, candidates, cached))


def _kin(own: Checkout, roots: dict[str, None], cached: dict[str, CachedFolder]) -> Iterator[KinTree]:
    for root in roots:
        other = Checkout.of(Path(root))
        if other is None:
            continue
        with closing(other):
            if own.is_kin_of(other):
                project, files = _indexed(cached.get(root))
                yield KinTree(Path(root), other.head_name, cached.get(root), project, files)


def _indexed(folder: CachedFolder | None) -> tuple[str, int]:
    from atlas.adapters.stores.sqlite.file.connection import DATABASE
    from atlas.adapters.stores.sqlite.file.seeding import stored_tree

    try:
        tree = stored_tree(folder.folder / DATABASE) if folder is not None else None
    except AtlasError:
        return "", 0
    return (tree.project, len(tree.files)) if tree is not None else ("", 0)
