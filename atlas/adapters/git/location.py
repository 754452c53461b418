"""A project's root -> its repository, in the root or above it; which `.git` is followed says `process.git_folder`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from atlas.adapters.git.config import GitConfig, read_config
from atlas.core.errors import HistoryError, NotFound
from atlas.runtime.process.files import is_shared_folder
from atlas.runtime.process.git_folder import git_folders

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
            git, common = git_folders(folder, lambda git: read_config(git).work_tree)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise _unreadable(f"{folder / '.git'} cannot be read ({error.strerror})") from error
        except ValueError as error:
            raise _unreadable(str(error)) from error
        config = read_config(common)
        if config.problem:
            raise _unreadable(config.problem)
        prefix = root.relative_to(folder).as_posix()
        return Location(folder, git, common, "" if prefix == "." else prefix, config)
    raise NotFound(f"no Git repository: there is no .git in {root} or above it", _NO_REPOSITORY)


def _unreadable(reason: str) -> HistoryError:
    return HistoryError(f"no git history can be read: {reason}")
