"""Composition of `atlas compare`: two trees come in, both indexes are brought up to date, what differs comes out."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.app.main import index_project
from atlas.app.store import open_store
from atlas.app.worktrees import kin_trees
from atlas.core.errors import NotFound
from atlas.runtime.config.load import load_settings

if TYPE_CHECKING:
    from atlas.code.changes.graph_difference import GraphDifference
    from atlas.code.index.events import Progress
    from atlas.runtime.config.load import Settings

HINT = "Give the path of a tree."


def other_tree(settings: Settings, named: str) -> Settings:
    """Return the settings of a tree: a path, or the name of a folder or of the branch of a tree of the repository.

    Without a name it is the main work tree. Raises NotFound for what names no tree, several or this one, and as
    `load_settings`.
    """
    trees = [one for one in kin_trees(settings) if one.root != settings.root]
    if named and Path(named).is_dir():
        other = load_settings(named)
        is_around = other.root in settings.root.parents or settings.root in other.root.parents
        if is_around and all(one.root != other.root for one in trees):
            raise NotFound(f"{other.root} and {settings.root} are no two trees: one contains the other", HINT)
        return other
    if named:
        found = [one for one in trees if named in (one.root.name, one.head)]
        what = f"{len(found) or 'no'} trees of the repository are named {named}"
    elif (settings.root / ".git").is_dir():  # another one with such a folder is a clone
        found, what = [], f"{settings.root} is the main work tree itself"
    else:
        found, what = [one for one in trees if (one.root / ".git").is_dir()][:1], "no main work tree is known"
    if len(found) != 1:
        known = ", ".join(f"{one.root} ({one.head})" for one in trees[:10])
        raise NotFound(what, f"{HINT} Known: {known}" if known else HINT)
    return load_settings(str(found[0].root))


async def compare_trees(old: Settings, new: Settings, progress: Progress) -> GraphDifference:
    """Index both trees and return what differs from the old one to the new one. Raises as indexing does."""
    from atlas.code.changes.graph_difference import GraphSide, compare_graphs

    for one in (old, new):
        await index_project(one, progress)
    async with AsyncExitStack() as opened:
        sides: list[GraphSide] = []
        for one in (old, new):
            store = await open_store(one)
            opened.push_async_callback(store.aclose)
            sides.append(GraphSide(store, one.project_name))
        return await compare_graphs(*sides)
