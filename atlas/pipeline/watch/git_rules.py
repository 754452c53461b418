"""Where the files lie that decide what is ignored, but are in no folder that a scan enters."""

from __future__ import annotations

import os
from pathlib import Path

from atlas.parsing import read_small

MAX_POINTER_BYTES = 64 << 10
"""A `.git` or `commondir` file holds one path."""


def rule_files(root: Path) -> dict[Path, dict[str, str]]:
    """Return folders with the names in them that decide what is ignored, and what each is called in a report.

    They are git's own folders (also those of a linked work tree), and the folders above a root that is a part of a
    repository, for their ignore files.
    """
    above = [root, *root.parents]
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


def _first_line(file: Path) -> str:
    content = read_small(file, MAX_POINTER_BYTES) or b""
    return content.decode("utf8", "surrogateescape").partition("\n")[0].strip()
