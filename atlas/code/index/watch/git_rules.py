"""Finds the rules that lie outside the folders that a scan enters: git's own files, parent folders, detectors."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path

from atlas.parsing import personal_rules, read_small
from atlas.runtime.process.files import is_shared_folder

MAX_POINTER_BYTES = 64 << 10
"""A `.git` or `commondir` file holds one path."""


def rule_files(root: Path, own: str = "") -> dict[Path, dict[str, str]]:
    """Return, for each folder with rules, the relevant file names and the path that is reported for each.

    The folders are git's own, including those of a linked work tree, and the parents of a root inside a repository;
    and that of `own`, the file of the project's own rules for routes and events.
    """
    folder, _, name = own.rpartition("/")
    is_inside = own and not own.startswith("/") and ".." not in own.split("/")
    return _git_rules(root) | ({root / folder: {name: own}} if is_inside else {})


def _git_rules(root: Path) -> dict[Path, dict[str, str]]:
    above = [root, *takewhile(lambda folder: not is_shared_folder(folder), root.parents)]
    depth = next((depth for depth, folder in enumerate(above) if os.path.lexists(folder / ".git")), None)
    if depth is None:
        return {}
    git = above[depth] / ".git"
    if not git.is_dir():
        git = above[depth] / _first_line(git).removeprefix("gitdir:").strip()
    info = git / _first_line(git / "commondir") / "info"
    return {
        **{folder: {".gitignore": ".gitignore"} for folder in above[1 : depth + 1]},
        git: {"index": ".git/index", "info": ".git/info/exclude"},
        info: {"exclude": ".git/info/exclude"},
    }


def rule_stamps(root: Path, repositories: Iterable[str], others: Iterable[Path] = ()) -> dict[str, tuple[int, int]]:
    """Return inode and last change of the rules that lie outside the scanned folders, such as git's index.

    `repositories` are folders below the root with a repository of their own; `others` are further files.
    """
    files = [*others, *(file for file in [personal_rules()] if file is not None)]
    for folder in (root, *(root / path for path in repositories)):
        files += [place / name for place, names in rule_files(folder).items() for name in names]
    found: dict[str, tuple[int, int]] = {}
    for file in files:
        with contextlib.suppress(OSError, ValueError):
            status = file.stat()
            found[str(file)] = status.st_ino, status.st_ctime_ns
    return found


def _first_line(file: Path) -> str:
    content = read_small(file, MAX_POINTER_BYTES) or b""
    return content.decode("utf8", "surrogateescape").partition("\n")[0].strip()
