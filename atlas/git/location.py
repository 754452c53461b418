"""A project's root -> its repository: the folder `.git`, and what a file `.git` points to if that points back.

A file `.git` of a hostile tree could name any repository of the machine. It is followed only to a folder that names
this very tree: a linked work tree (`gitdir` in it) or a submodule (`core.worktree` in its configuration).
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from atlas.errors import HistoryError, NotFound
from atlas.git.config import GitConfig, read_config
from atlas.git.files import read_below
from atlas.process.files import is_shared_folder

MAX_POINTER_BYTES = 64 << 10
_NO_REPOSITORY = "git questions need a repository: run `git init` and commit, or ask without git"


@dataclass(frozen=True, slots=True)
class Location:
    """Where a repository is; all paths are absolute and without links."""

    work_tree: Path
    git: Path
    """HEAD and the index of this work tree."""
    common: Path
    """Objects and references; equal to `git` unless the work tree is a linked one."""
    prefix: str
    """The project's root inside the work tree, "" where they are the same."""
    config: GitConfig


def locate(root: Path) -> Location:
    """Return the repository around a project's root.

    Raises NotFound where there is none, HistoryError where it is laid out in a way that is not followed.
    """
    root = Path(os.path.realpath(root))
    for folder in (root, *root.parents):
        if folder != root and is_shared_folder(folder):
            break  # another user could have left a repository there
        try:
            status = (folder / ".git").lstat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise _unreadable(f"{folder / '.git'} cannot be read ({error.strerror})") from error
        if stat.S_ISDIR(status.st_mode):
            git = common = folder / ".git"
        elif stat.S_ISREG(status.st_mode):
            git, common = _pointed(folder)
        else:
            raise _unreadable(f"{folder / '.git'} is neither a folder nor a file")
        config = read_config(common)
        if config.problem:
            raise _unreadable(config.problem)
        prefix = root.relative_to(folder).as_posix()
        return Location(folder, git, common, "" if prefix == "." else prefix, config)
    raise NotFound(f"no Git repository: there is no .git in {root} or above it", _NO_REPOSITORY)


def _unreadable(reason: str) -> HistoryError:
    return HistoryError(f"no git history can be read: {reason}")


def _pointed(folder: Path) -> tuple[Path, Path]:
    """Return (git folder, common folder) that the file `.git` of a folder names, if they name the folder, too."""
    pointer = _line(folder, ".git").removeprefix("gitdir:").strip()
    git = Path(os.path.realpath(folder / pointer))
    refused = _unreadable(f"{folder / '.git'} points to {git}, which does not point back to this tree")
    if not pointer or not git.is_dir():
        raise _unreadable(f"{folder / '.git'} points to {git}, which is not a folder")
    if back := _line(git, "gitdir"):
        # git's own layout of linked work trees, so that `commondir` cannot lead elsewhere
        if os.path.realpath(git / back) != str(folder / ".git") or git.parent.name != "worktrees":
            raise refused
        return git, git.parent.parent
    if os.path.realpath(git / (read_config(git).work_tree or ".")) != str(folder):
        raise refused
    return git, git


def _line(folder: Path, name: str) -> str:
    try:
        content = read_below(folder, name, MAX_POINTER_BYTES)
    except OSError:
        return ""
    return content.decode("utf-8", "surrogateescape").partition("\n")[0].strip()
