"""`atlas status --worktrees`: the trees of one repository as a table or one JSON document."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from atlas.app.worktrees import KinTree, kin_trees
from atlas.cli import output
from atlas.core.wording import counted

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings


def print_worktrees(settings: Settings, *, as_json: bool) -> None:
    """Print each tree with its branch and its index. Raises NotFound without a repository."""
    trees = kin_trees(settings)
    if as_json:
        output.print_json({"worktrees": [_document(one) for one in trees], "bytes": _bytes(trees)})
        return
    rows = [
        (str(one.root), one.head or "-", one.project or "not indexed", f"{one.files:,}", *_disk(one)) for one in trees
    ]
    output.console().print(output.table(("tree", "branch", "project", "files", "size", "used"), rows))
    shared = "blocks that files share count in each"
    print(f"{counted(len(trees), 'tree')}, {_bytes(trees) / 1e6:,.1f} MB on disk ({shared})")


def _disk(tree: KinTree) -> tuple[str, str]:
    if tree.folder is None:
        return "-", "-"
    return f"{tree.folder.bytes_on_disk / 1e6:,.1f} MB", _day(tree.folder.used_at)


def _bytes(trees: list[KinTree]) -> int:
    return sum(one.folder.bytes_on_disk for one in trees if one.folder is not None)


def _day(used_at: float) -> str:
    return datetime.fromtimestamp(used_at, UTC).date().isoformat()


def _document(tree: KinTree) -> dict[str, object]:
    folder = tree.folder
    return {
        "root": str(tree.root),
        "head": tree.head,
        "project": tree.project,
        "files": tree.files,
        "folder": str(folder.folder) if folder is not None else "",
        "bytes": folder.bytes_on_disk if folder is not None else 0,
        "used_at": datetime.fromtimestamp(folder.used_at, UTC).isoformat(timespec="seconds")
        if folder is not None
        else "",
    }
