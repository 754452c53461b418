"""The data folder of a project: where it is, who created it, and whether its content can be trusted.

Input is a project root or a folder, output a path or ConfigError. A folder that is not empty is used only when its
marker is signed with this installation's key. Everything in a data folder can be rebuilt from the project.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from atlas.core.errors import ConfigError
from atlas.runtime.process import places
from atlas.runtime.process.files import (
    foreign_entry,
    is_own_folder,
    make_private_folder,
    open_file,
    read_file,
    write_file,
)
from atlas.runtime.process.installation_key import sign
from atlas.runtime.process.places import MARKER as MARKER

LEGACY_FOLDER = ".atlas"
"""Folder in the project root where versions before 0.2 kept the data."""

TRUST_VARIABLE = "ATLAS_TRUST_DATA_DIR"

_FORMAT = 1
_IGNORED = ("lost+found",)
"""Content of a newly mounted volume."""

_CACHE_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# A cache of Code Atlas: https://bford.info/cachedir/\n"


@dataclass(frozen=True, slots=True)
class FolderMarker:
    """The content of a data folder's marker."""

    root: str
    """Root of the project that the folder was created for; "" without a project."""
    created: str
    """ISO 8601, UTC."""


def cache_root() -> Path:
    """Return the folder that holds the data folders of all projects, `~/.cache/code-atlas` on Linux."""
    return Path(places.cache_root())


def papers_index(folder: Path) -> Path:
    """Return the file that keeps the index of a papers folder, `~/.cache/code-atlas/papers/...` on Linux."""
    return cache_root() / "papers" / f"{places.digest(os.path.realpath(folder))}.index"


def default_folder(root: Path) -> Path:
    """Return the default data folder of a project, named after it and a digest of its canonical path."""
    return Path(places.default_folder(str(root)))


def check_folder(folder: Path, *, trust: bool = False) -> None:
    """Raise ConfigError unless a folder is missing, empty, or signed by this installation.

    `trust` accepts a folder from elsewhere that holds only files, folders and sockets of this user, and signs it.
    """
    state = _state(folder)
    if state in ("missing", "empty", "own"):
        return
    if state == "no folder":
        hint = "Name an empty folder, or one that does not exist yet."
        raise ConfigError(f"the data folder {folder} is not a folder, or its parent is not", hint)
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
    # a read-only volume cannot store a marker; the user's decision then applies to this process only
    with contextlib.suppress(OSError, ConfigError):
        _mark(folder, "")


def make_folder(folder: Path, root: Path | None = None, *, trust: bool = False) -> None:
    """Create and sign a data folder for this user only (mode 0700), or check the existing one.

    Raises ConfigError like `check_folder`, and OSError when the folder cannot be created.
    """
    check_folder(folder, trust=trust)
    if _state(folder) == "own":
        return
    if folder.parent == cache_root():
        make_private_folder(folder.parent)
    make_private_folder(folder)
    if _state(folder) == "empty":
        folder.chmod(0o700)
        _mark(folder, "" if root is None else str(root))
    if folder.parent == cache_root():
        _write_once(folder.parent / "CACHEDIR.TAG", _CACHE_TAG)
    else:
        _write_once(folder / ".gitignore", b"*\n")


def read_marker(folder: Path) -> FolderMarker | None:
    """Return the marker of a folder that this installation signed, else None.

    Raises ConfigError for an installation key that cannot be used.
    """
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
    """Return the data folder of an earlier version in a project root, or None."""
    folder = root / LEGACY_FOLDER
    try:
        return folder if is_own_folder(folder) and (folder / "atlas.db").lstat() else None
    except OSError:
        return None


def move_legacy_folder(root: Path, folder: Path) -> bool:
    """Move a data folder that this installation signed from the project root to `folder`; return whether it moved.

    Nothing is moved when `folder` exists or when the old folder has no valid marker. Raises OSError.
    """
    old = legacy_folder(root)
    if old is None or os.path.lexists(folder) or read_marker(old) is None or foreign_entry(old):
        return False
    make_private_folder(folder.parent)
    shutil.move(old, folder)
    folder.chmod(0o700)
    _mark(folder, str(root))
    return True


def _state(folder: Path) -> str:
    """Return "missing", "empty", "own", "foreign" or "no folder"."""
    # twice, because another process may create the folder between the check of the marker and that of the content
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
    """Return the text that the signature covers.

    Outside the cache it includes the folder's inode, so the marker of a published folder is invalid in a copy. No
    repository can write to the cache, and there an inode would only break restored backups.
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
