"""Files of other programs: read with their encoding and line endings kept, replaced atomically.

Every failure is a ConfigError that names the file and says what to do. A file that changes between reading and writing
is not overwritten. A link is followed and stays a link; a link in a project must not lead out of it, because a
repository must not choose which of the user's files is changed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from atlas.core.errors import ConfigError
from atlas.runtime.process.files import make_folders, open_file, read_file

_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file as it was read."""

    path: Path
    """As the user knows it."""
    target: Path
    """Where it is, links followed."""
    text: str
    """Without a byte order mark; line endings as in the file."""
    exists: bool
    has_bom: bool = False
    mode: int = 0
    """Its permissions, or those of the file to make: a file of the user names commands and is for this user only."""


def read(path: Path, limit: int, *, inside: Path | None = None) -> ConfigFile:
    """Return a file; one that does not exist is empty. `inside` is the folder that links must not leave.

    Raises ConfigError for anything that is not a text file of at most `limit` bytes that this user may change.
    """
    target = _resolved(path)
    if inside is not None and not target.is_relative_to(_resolved(inside)):
        raise ConfigError(
            f"{path} leads out of the project, to {target}",
            "Nothing was written. Name that file with --file, if it is yours.",
        )
    try:
        status = target.stat()
    except FileNotFoundError:
        return ConfigFile(path, target, "", exists=False, mode=0o600 if inside is None else 0o666)
    except OSError as error:
        raise _failed("read", path, error) from error
    if stat.S_ISDIR(status.st_mode):
        raise ConfigError(f"{path} is a folder", "Nothing was written. Name a file with --file.")
    try:
        text = read_file(target, limit, own=False).decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(
            f"{path}, line {line}: not UTF-8 text", "Nothing was written. Save the file as UTF-8."
        ) from error
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise ConfigError(
                f"{path} is larger than {limit} bytes", "Nothing was written. Edit it by hand."
            ) from error
        raise _failed("read", path, error) from error
    has_bom = text.startswith(_BOM)
    return ConfigFile(path, target, text.removeprefix(_BOM), True, has_bom, stat.S_IMODE(status.st_mode))


def check_writable(file: ConfigFile) -> None:
    """Raise ConfigError for a read-only file: replacing it would succeed, but is not what its owner wants."""
    if file.exists and not (file.mode & 0o222 and os.access(file.target, os.W_OK)):
        raise ConfigError(f"{file.path} is read-only", f"Nothing was written. Allow it with: chmod u+w {file.path}")


def write(file: ConfigFile, text: str) -> list[Path]:
    """Replace the file's text; return the folders that were made for it, outermost first. Raises ConfigError."""
    check_writable(file)
    try:
        content = ((_BOM if file.has_bom else "") + text).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConfigError(f"{file.path} cannot hold a path that is not UTF-8", "Rename the folder.") from error
    try:
        made = make_folders(file.target.parent, 0o777 if file.mode & 0o077 else 0o700)
        draft = file.target.with_name(f".{file.target.name}.{os.getpid()}-{secrets.token_hex(4)}")
        # the file that it replaces may be private
        mode = 0o600 if file.exists else file.mode
        with os.fdopen(open_file(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
            try:
                stream.write(content)
                stream.flush()
                if file.exists:
                    _keep_owner(stream.fileno(), file)
                    os.fchmod(stream.fileno(), file.mode)
                os.fsync(stream.fileno())
                _check_unchanged(file)
                draft.replace(file.target)
            except BaseException:  # also an interrupt: no draft may stay next to the user's file
                draft.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise _failed("write", file.path, error) from error
    return made


def _keep_owner(descriptor: int, file: ConfigFile) -> None:
    """Give a draft the owner and group of the file that it replaces. Raises ConfigError where only root may."""
    old, new = file.target.stat(), os.fstat(descriptor)
    if (old.st_uid, old.st_gid) == (new.st_uid, new.st_gid):
        return
    try:
        os.fchown(descriptor, old.st_uid, old.st_gid)
    except PermissionError as error:
        raise ConfigError(
            f"{file.path} belongs to another user or group", "Nothing was written. Edit it as its owner."
        ) from error


def delete(file: ConfigFile, folders: list[Path]) -> None:
    """Delete the file, and of these folders the ones that are empty then. Raises ConfigError."""
    check_writable(file)
    try:
        _check_unchanged(file)
        file.target.unlink()
    except OSError as error:
        raise _failed("delete", file.path, error) from error
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _check_unchanged(file: ConfigFile) -> None:
    now = read(file.path, 1 << 30)
    if (now.text, now.exists, now.target) != (file.text, file.exists, file.target):
        raise ConfigError(f"{file.path} has just been changed by another program", "Nothing was written. Try again.")


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"{path} is a link to itself", "Nothing was written. Remove the link.") from error


def _failed(verb: str, path: Path, error: OSError) -> ConfigError:
    why = (error.strerror or str(error)).lower()
    return ConfigError(
        f"cannot {verb} {path}: {why}",
        "Nothing was written. Check the file and its folder, or name another with --file.",
    )
