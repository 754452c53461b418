"""The root of a project, found from a folder in it."""

from __future__ import annotations

import os
from pathlib import Path

from atlas.runtime.process.data_folder import MARKER, default_folder
from atlas.runtime.process.files import is_shared_folder

FILE_NAME = "atlas.toml"

PROJECT_MARKERS = (FILE_NAME, ".git")
"""Entries that mark the root of a project without an index, strongest first."""


def discover_root(start: Path) -> Path:
    """Return the project root of `start`: the nearest folder with an index, `atlas.toml` or `.git`, else `start`.

    The home folder and its ancestors count only when `start` is one of them: a stray marker in the home folder must not
    claim every project below it. So must not one that another user left in a folder that all share, such as `/tmp`.
    """
    start = start.resolve()
    home = Path.home().resolve()
    candidates: list[Path] = []
    for folder in (start, *start.parents):
        if folder != start and (folder == home or folder in home.parents or is_shared_folder(folder)):
            break
        candidates.append(folder)
    for folder in candidates:
        if (default_folder(folder) / MARKER).exists():
            return folder
    for marker in PROJECT_MARKERS:
        for folder in candidates:
            if os.path.lexists(folder / marker):
                return folder
    return start
