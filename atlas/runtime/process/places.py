"""Where the data of a project is: folder of a client -> root of the project -> data folder -> socket of its daemon.

Every `atlas mcp` computes this before it serves anything, so paths are strings and imports few: `pathlib` alone would
take as long as the rest of its start. `runtime.config.load` and `data_folder` offer the same as paths.
"""

from __future__ import annotations

import os
import stat
import sys

from atlas.core.ids import plain_name

try:  # the same function without the 3 MB of OpenSSL that `hashlib` loads
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

APPLICATION = "code-atlas"
FILE_NAME = "atlas.toml"
PROJECT_MARKERS = (FILE_NAME, ".git")
"""Entries that mark the root of a project without an index, strongest first."""
MARKER = "atlas-data.json"
"""File in a data folder that names its project and carries the signature of the installation."""

EMBEDDINGS_FOLDER = "embeddings"
"""Folder in the cache with the vectors that servers made for all projects, by digest of model and text."""

RUN_FOLDER = "run"
"""Folder in the cache with sockets and locks of the daemons that serve sessions: no data folder."""


def digest(text: str) -> str:
    """Return the BLAKE2b digest of a path or another text: 64 bits in hex."""
    return blake2b(os.fsencode(text), digest_size=8).hexdigest()


def cache_root() -> str:
    """Return the folder that holds the data folders of all projects, `~/.cache/code-atlas` on Linux."""
    folder = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(folder):
        folder = os.path.expanduser("~/Library/Caches" if sys.platform == "darwin" else "~/.cache")
    return os.path.realpath(os.path.join(folder, APPLICATION))


def user_folder(variable: str, usual: str) -> str:
    """Return this user's folder of settings or data: below an absolute variable, else where the system keeps such."""
    folder = os.environ.get(variable, "")
    if not os.path.isabs(folder):
        folder = os.path.expanduser("~/Library/Application Support" if sys.platform == "darwin" else usual)
    return os.path.join(folder, APPLICATION)


def default_folder(root: str) -> str:
    """Return the default data folder of a project, named after it and a digest of its canonical path."""
    return _folder_in(cache_root(), os.path.realpath(root))


def _folder_in(cache: str, canonical: str) -> str:
    return os.path.join(cache, f"{plain_name(os.path.basename(canonical))[:64]}-{digest(canonical)}")


def has_index(root: str) -> bool:
    """Return whether a project has a data folder in the cache."""
    return os.path.exists(os.path.join(default_folder(root), MARKER))


def is_shared_folder(path: str) -> bool:
    """Return whether every user may create entries in a folder that is not this user's, or is kept for all: `/tmp`."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    is_own = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return bool(status.st_mode & stat.S_IWOTH) and (not is_own or bool(status.st_mode & stat.S_ISVTX))


def is_around_home(folder: str) -> bool:
    """Return whether a canonical folder is the home folder or contains it: it is never a project by itself."""
    home = os.path.realpath(os.path.expanduser("~"))
    return os.path.commonpath((folder, home)) == folder


def discover_root(start: str) -> str:
    """Return the project root of a folder: the nearest one with an index, `atlas.toml` or `.git`, else the folder.

    The home folder and its ancestors count only when the folder is one of them: a stray marker in the home folder must
    not claim every project below it. So must not one that another user left in a folder that all share, such as `/tmp`.
    """
    start = folder = os.path.realpath(start)
    candidates: list[str] = []
    while folder == start or not (is_around_home(folder) or is_shared_folder(folder)):
        candidates.append(folder)
        if folder == os.path.dirname(folder):
            break
        folder = os.path.dirname(folder)
    cache = cache_root()
    for folder in candidates:
        # the paths are canonical: to resolve each would take quadratic time in a deep folder
        if os.path.exists(os.path.join(_folder_in(cache, folder), MARKER)):
            return folder
    for marker in PROJECT_MARKERS:
        for folder in candidates:
            if os.path.lexists(os.path.join(folder, marker)):
                return folder
    return start


def data_folder_of(project: str, data_dir: str, here: str) -> str:
    """Return the data folder that `--project` and `--data-dir` or their variables name; "" = not given.

    `here`: the current folder. Nothing is checked; see `load_settings`.
    """
    if data_dir:
        return os.path.realpath(os.path.join(here, os.path.expanduser(data_dir)))
    return default_folder(os.path.join(here, os.path.expanduser(project)) if project else discover_root(here))


def run_path(data_folder: str, ending: str) -> str:
    """Return the path of the socket (`sock`), lock (`lock`) or output (`out`) of the daemon of a data folder."""
    return os.path.join(cache_root(), RUN_FOLDER, f"{digest(os.path.realpath(data_folder))}.{ending}")
