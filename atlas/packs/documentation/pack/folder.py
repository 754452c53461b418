"""The folder of a pack: written whole under another name and renamed, verified by checksums, listed and removed.

What is written is its user's alone. Links in a pack are not followed: a pack can come from anywhere.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from atlas.core.errors import ConfigError, NotFound, StoreError
from atlas.packs.documentation.pack.manifest import (
    EDITED_FILES,
    MANIFEST_FILE,
    MAX_MANIFEST,
    PACK_FILE,
    Manifest,
    PackedFile,
    is_result,
    manifest_text,
    read_manifest,
)
from atlas.runtime.process.files import is_own_folder, open_file, read_file

_DRAFT = ".building-"
"""Prefix of a folder that is being written, followed by the process id and the name."""
_CHUNK = 1 << 20
_LEFT = "local.json"
"""A file of earlier versions in packs that were built here; neither read nor exported."""


@dataclass(frozen=True, slots=True)
class InstalledPack:
    """A pack in the folder of installed packs; `manifest` is None if it cannot be read, and `problem` says why."""

    folder: Path
    manifest: Manifest | None
    problem: str = ""


def load_manifest(folder: Path) -> Manifest:
    """Return the manifest of a pack's folder. Raises NotFound if there is none, else as `read_manifest` does."""
    path = folder / MANIFEST_FILE
    try:
        data = read_file(path, MAX_MANIFEST, own=False)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"there is no pack in {folder}", "`atlas pack list` shows the installed ones") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    return read_manifest(data.decode("utf8", "replace"), str(path))


def verify(folder: Path) -> list[str]:
    """Return what is wrong with the files of a pack: missing, changed, or not listed. Raises as `load_manifest`.

    Files that people may edit are not compared, see `edited_files`.
    """
    manifest = load_manifest(folder)
    problems: list[str] = []
    for name, wanted in sorted(manifest.files.items()):
        try:
            found = describe_file(folder / name)
        except FileNotFoundError:
            problems.append(f"{name} is missing")
            continue
        except OSError as error:
            problems.append(f"{name} cannot be read: {error.strerror}")
            continue
        if found != wanted and name not in EDITED_FILES:
            problems.append(f"{name} differs from its checksum")
    problems += [f"{name} is not part of the pack" for name in _files_in(folder) if not _belongs(name, manifest)]
    return problems if PACK_FILE in manifest.files else [*problems, f"{PACK_FILE} has no checksum"]


def edited_files(folder: Path) -> dict[str, PackedFile]:
    """Return the files that people may edit and that differ from the build, with size and checksum."""
    wanted = load_manifest(folder).files
    found: dict[str, PackedFile] = {}
    for name in EDITED_FILES:
        with suppress(OSError):
            if name in wanted and (described := describe_file(folder / name)) != wanted[name]:
                found[name] = described
    return found


def describe_file(path: Path) -> PackedFile:
    """Return size and checksum of a regular file. Raises OSError, also for a link."""
    digest, size = hashlib.sha256(), 0
    with open_packed(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return PackedFile(size, digest.hexdigest())


def open_packed(path: Path) -> IO[bytes]:
    """Open a regular file of a pack for reading. Raises OSError, also for a link and for a file in a linked folder."""
    return os.fdopen(open_file(path, os.O_RDONLY, own=False), "rb")


def with_checksums(folder: Path, manifest: Manifest) -> Manifest:
    """Return the manifest with the checksums of the files in the folder, and write it there."""
    names = [name for name in _files_in(folder) if name != MANIFEST_FILE and not is_result(name)]
    complete = replace(manifest, files={name: describe_file(folder / name) for name in sorted(names)})
    write_files(folder, {MANIFEST_FILE: manifest_text(complete)})
    return complete


@contextmanager
def draft_folder(target: Path, *, replaces: bool) -> Generator[Path]:
    """Give a folder to write a pack to; it becomes `target` at the end of the block, and goes if the block fails.

    Then also the folders go that were made around it. Removes the remains of processes that were killed. Raises
    ConfigError if there is something at `target` and it is not to be replaced, StoreError for an operating system
    error.
    """
    made = [folder for folder in (target.parent, *target.parent.parents) if not folder.exists()]
    draft = target.parent / f"{_DRAFT}{os.getpid()}-{target.name}"
    try:
        _make_draft(draft, target, made, replaces=replaces)
        yield draft
        _swap(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        with suppress(OSError):  # the pack is there, or another process uses a folder
            for folder in made:
                folder.rmdir()


def _make_draft(draft: Path, target: Path, missing: Sequence[Path], *, replaces: bool) -> None:
    try:
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
        _remove_remains(target.parent)
        check_target(target, replaces=replaces)
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
    except OSError as error:
        raise StoreError(f"cannot write to {target.parent}: {error.strerror}", "check its permissions") from error


def check_target(target: Path, *, replaces: bool) -> None:
    """Raise ConfigError if there is something at `target` that may not be replaced."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise ConfigError(f"{target} is no folder", "choose another one")
    if not target.exists() or not any(target.iterdir()):
        return
    if not (target / MANIFEST_FILE).is_file():
        raise ConfigError(f"{target} holds something else than a pack", "choose another folder")
    if not replaces:
        raise ConfigError(f"there is a pack in {target} already", "add --replace to put the new one in its place")


def remove(folder: Path) -> None:
    """Delete the folder of a pack. Raises NotFound if it holds none, StoreError if it cannot be deleted."""
    if folder.is_symlink() or not (folder / MANIFEST_FILE).is_file():
        raise NotFound(f"there is no pack in {folder}", "`atlas pack list` shows the installed ones")
    try:
        shutil.rmtree(folder)
        with suppress(OSError):
            folder.parent.rmdir()  # of the last version
    except OSError as error:
        raise StoreError(f"{folder} cannot be deleted: {error.strerror}") from error


def installed_packs(root: Path) -> list[InstalledPack]:
    """Return the packs below the folder of installed packs (`NAME/VERSION`), by name and version; links are none."""
    found: list[InstalledPack] = []
    for folder in sorted(root.glob("*/*")) if root.is_dir() else ():
        if folder.name.startswith(".") or folder.is_symlink() or folder.parent.is_symlink() or not folder.is_dir():
            continue
        try:
            manifest = load_manifest(folder)
        except (StoreError, NotFound) as error:
            found.append(InstalledPack(folder, None, error.message))
            continue
        is_named = (manifest.name, manifest.version) == (folder.parent.name, folder.name)
        problem = "" if is_named else f"its manifest is that of {manifest.title}"
        found.append(InstalledPack(folder, manifest if is_named else None, problem))
    return found


def make_private(folder: Path) -> None:
    """Take the permissions of all other users away from a folder of this user and what is in it.

    Nothing is done if they have none of the folder itself, nor for a folder of another user. Raises OSError.
    """
    if not is_own_folder(folder) or not folder.lstat().st_mode & 0o077:
        return
    for parent, _, names in os.walk(folder):
        for path in (Path(parent), *(Path(parent, name) for name in names)):
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode) and mode & 0o077:
                path.chmod(stat.S_IMODE(mode) & 0o700)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write text files of a pack that only this user can read; names are relative."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(open_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
            file.write(text.encode("utf8"))


def _swap(draft: Path, target: Path) -> None:
    """Put a folder in the place of another one; a reader sees the old pack or the new one."""
    old = target.parent / f"{_DRAFT}{os.getpid()}-old-{target.name}"
    try:
        if target.exists():
            target.rename(old)
        draft.rename(target)
    except OSError as error:
        if old.exists() and not target.exists():
            old.rename(target)
        raise StoreError(f"cannot write {target}: {error.strerror}") from error
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _remove_remains(parent: Path) -> None:
    for entry in parent.glob(f"{_DRAFT}*"):
        number = entry.name.removeprefix(_DRAFT).partition("-")[0]
        if number.isdigit() and int(number) != os.getpid() and not _is_running(int(number)):
            shutil.rmtree(entry, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _files_in(folder: Path) -> list[str]:
    """Return everything in a folder that is not a folder, by relative path with "/"."""
    found: list[str] = []
    for parent, _, names in os.walk(folder):
        found += [(Path(parent) / name).relative_to(folder).as_posix() for name in names]
    return sorted(found)


def _belongs(name: str, manifest: Manifest) -> bool:
    return name in manifest.files or name in (MANIFEST_FILE, _LEFT) or is_result(name)


def total_bytes(manifest: Manifest) -> int:
    """Return the size of all files with a checksum."""
    return sum(one.size for one in manifest.files.values())
