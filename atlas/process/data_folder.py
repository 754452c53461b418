"""The folder of derived data: where it is, who made it, and whether its content may be believed.

A project root or a folder comes in; a path, or ConfigError, goes out. A folder that is not empty is used only when its
marker carries a digest made with this installation's key. Everything in it can be made again from the project.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from atlas.errors import ConfigError
from atlas.ids import project_name
from atlas.process.files import foreign_entry, is_own_folder, open_file, read_file, write_file
from atlas.process.installation_key import APPLICATION, sign

MARKER = "atlas-data.json"
"""File in a data folder that says which installation made it, and for which project."""

LEGACY_FOLDER = ".atlas"
"""Where versions before 0.2 kept the data, in the project root."""

TRUST_VARIABLE = "ATLAS_TRUST_DATA_DIR"

_FORMAT = 1
_IGNORED = ("lost+found",)
"""What a freshly mounted volume holds."""

_CACHE_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# A cache of Code Atlas: https://bford.info/cachedir/\n"


@dataclass(frozen=True, slots=True)
class FolderMarker:
    """What a data folder says about itself."""

    root: str
    """Project that the folder was made for; "" when it was made without one."""
    created: str
    """ISO 8601, UTC."""


def cache_root() -> Path:
    """Return the folder that holds the data folders of all projects. On Linux `~/.cache/code-atlas`."""
    from platformdirs import user_cache_path

    return Path(os.path.realpath(user_cache_path(APPLICATION, appauthor=False)))


def default_folder(root: Path) -> Path:
    """Return the data folder of a project: its name and a digest of its canonical path, below `cache_root`."""
    canonical = os.path.realpath(root)
    digest = hashlib.blake2b(os.fsencode(canonical), digest_size=8).hexdigest()
    return cache_root() / f"{project_name(Path(canonical))[:64]}-{digest}"


def check_folder(folder: Path, *, trust: bool = False) -> None:
    """Raise ConfigError unless a folder is missing, empty, or made by this installation.

    `trust` accepts a folder that was brought along, once nothing but files, folders and sockets of this user is in it;
    from then on it counts as made here.
    """
    state = _state(folder)
    if state in ("missing", "empty", "own"):
        return
    if state == "no folder":
        hint = "Give the path of a folder: an empty one, or one that is not there yet."
        raise ConfigError(f"the data folder {folder} is not a folder, or would lie in a file", hint)
    if not trust:
        raise ConfigError(
            f"the data folder {folder} was not made by this installation of Code Atlas",
            "Choose another --data-dir, or delete this one if it is yours. If you brought it along (a CI cache, a "
            f"volume), pass --trust-data-dir or set {TRUST_VARIABLE}=1.",
        )
    found = foreign_entry(folder)
    if found is not None:
        raise ConfigError(
            f"the data folder {folder} cannot be trusted: {found} is a link, a special file, or another user's",
            "Remove it, or choose another --data-dir.",
        )
    # a read-only volume or home folder has no place for a marker; the user's word counts for this process then
    with contextlib.suppress(OSError, ConfigError):
        _mark(folder, "")


def make_folder(folder: Path, root: Path | None = None, *, trust: bool = False) -> None:
    """Make a data folder for this user only (mode 0700), or check the one that is there.

    Raises ConfigError as `check_folder` does and for a file in its place; OSError when it cannot be made.
    """
    check_folder(folder, trust=trust)
    if _state(folder) == "own":
        return
    if folder.parent == cache_root():
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if _state(folder) == "empty":
        folder.chmod(0o700)
        _mark(folder, "" if root is None else str(root))
    if folder.parent == cache_root():
        _write_once(folder.parent / "CACHEDIR.TAG", _CACHE_TAG)
    else:
        _write_once(folder / ".gitignore", b"*\n")


def read_marker(folder: Path) -> FolderMarker | None:
    """Return what a folder says about itself when this installation signed it, else None. Raises ConfigError."""
    try:
        document: Any = json.loads(read_file(folder / MARKER))
        inode = folder.lstat().st_ino
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    found = cast("dict[str, object]", document)
    marker = FolderMarker(str(found.get("root", "")), str(found.get("created", "")))
    expected = sign(_signed_text(folder, inode, marker), create=False)
    if not expected or not hmac.compare_digest(expected, str(found.get("digest", ""))):
        return None
    return marker


def legacy_folder(root: Path) -> Path | None:
    """Return the data folder of an earlier version in a project root, None when there is none."""
    folder = root / LEGACY_FOLDER
    try:
        return folder if is_own_folder(folder) and (folder / "atlas.db").lstat() else None
    except OSError:
        return None


def move_legacy_folder(root: Path, folder: Path) -> bool:
    """Move a data folder of this installation from the project root to its place; return whether that was done.

    Nothing is moved when `folder` exists or when the marker does not prove the old one. Raises OSError.
    """
    old = legacy_folder(root)
    if old is None or os.path.lexists(folder) or read_marker(old) is None or foreign_entry(old):
        return False
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.move(old, folder)
    folder.chmod(0o700)
    _mark(folder, str(root))
    return True


def _state(folder: Path) -> str:
    """Return "missing", "empty", "own", "foreign" or "no folder"."""
    # twice: another process may be making the folder between the look at the marker and the look at the rest
    for _ in range(2):
        try:
            if not is_own_folder(folder):
                return "foreign" if folder.is_dir() else "no folder"
            if (folder / MARKER).exists() and read_marker(folder) is not None:
                return "own" if not folder.lstat().st_mode & 0o022 else "foreign"
            if not any(_counts(entry.name) for entry in folder.iterdir()):
                return "empty"
        except FileNotFoundError:
            return "missing"
        except NotADirectoryError:
            return "no folder"
        except OSError as error:
            raise ConfigError(
                f"the data folder {folder} cannot be read: {error.strerror}", "Check its permissions."
            ) from error
    return "foreign"


def _counts(name: str) -> bool:
    return name not in _IGNORED and not name.startswith(f"{MARKER}.")


def _mark(folder: Path, root: str) -> None:
    marker = FolderMarker(root, datetime.now(UTC).isoformat(timespec="seconds"))
    digest = sign(_signed_text(folder, folder.lstat().st_ino, marker), create=True)
    document = {"format": _FORMAT, "root": marker.root, "created": marker.created, "digest": digest}
    write_file(folder / MARKER, json.dumps(document).encode())


def _signed_text(folder: Path, inode: int, marker: FolderMarker) -> str:
    """Return what the digest covers.

    Outside the cache the folder's inode is part of it, so that a copy of a folder that once was published proves
    nothing; in the cache, where no repository reaches, it would only break backups.
    """
    path = os.path.realpath(folder)
    own = 0 if Path(path).parent == cache_root() else inode
    return json.dumps([_FORMAT, path, own, marker.root, marker.created])


def _write_once(path: Path, content: bytes) -> None:
    with contextlib.suppress(FileExistsError):
        descriptor = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            os.write(descriptor, content)
        finally:
            os.close(descriptor)
