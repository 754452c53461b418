"""A work tree -> its git folder: the folder `.git`, and what a file `.git` points to if that points back (ADR 0028).

A file `.git` of a hostile tree could name any repository of the machine. It is followed only to a folder that names
this very tree: a linked work tree (`gitdir` in it) or a submodule (`core.worktree` in its configuration).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from atlas.runtime.process.files_below import read_below

MAX_POINTER_BYTES = 64 << 10


def git_folders(work_tree: Path, configured: Callable[[Path], str]) -> tuple[Path, Path]:
    """Return the git folder of a work tree and the one that linked work trees share; both are equal without those.

    `configured` returns `core.worktree` of a git folder, "" without one. Raises ValueError with the reason for what is
    not followed, OSError for a `.git` that is missing or cannot be read.
    """
    marker = work_tree / ".git"
    status = marker.lstat()
    if stat.S_ISDIR(status.st_mode):
        return marker, marker
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{marker} is neither a folder nor a file")
    pointer = pointer_of(work_tree, ".git").removeprefix("gitdir:").strip()
    git = Path(os.path.realpath(work_tree / pointer))
    refused = ValueError(f"{marker} points to {git}, which does not point back to this tree")
    if not pointer or not git.is_dir():
        raise ValueError(f"{marker} points to {git}, which is not a folder")
    if back := pointer_of(git, "gitdir"):
        # git's own layout of linked work trees, so that `commondir` cannot lead elsewhere
        if os.path.realpath(git / back) != str(marker) or git.parent.name != "worktrees":
            raise refused
        return git, git.parent.parent
    if os.path.realpath(git / (configured(git) or ".")) != str(work_tree):
        raise refused
    return git, git


def pointer_of(folder: Path, name: str) -> str:
    """Return the first line of a file in a folder, "" if it cannot be read."""
    try:
        content = read_below(folder, name, MAX_POINTER_BYTES)
    except OSError:
        return ""
    return content.decode("utf-8", "surrogateescape").partition("\n")[0].strip()
