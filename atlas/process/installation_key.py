"""The secret by which an installation recognises the data folders that it made: 32 random bytes in the user's settings.

Whoever can read the key can make this user believe an index; it is readable by its user only and never shown.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

from atlas.errors import ConfigError
from atlas.process.files import open_file, read_file

APPLICATION = "code-atlas"
KEY_FILE = "installation.key"

_KEY_BYTES = 32
_DIGEST_BYTES = 16


def config_folder() -> Path:
    """Return the folder of the user's settings; it may not exist yet. On Linux `~/.config/code-atlas`."""
    from platformdirs import user_config_path

    return user_config_path(APPLICATION, appauthor=False)


def sign(text: str, *, create: bool) -> str:
    """Return the keyed digest (BLAKE2b, 128 bits, hex) of a text; "" when there is no key and `create` is false.

    Raises ConfigError for a key that cannot be read or made.
    """
    key = _key(create=create)
    return hashlib.blake2b(text.encode(), key=key, digest_size=_DIGEST_BYTES).hexdigest() if key else ""


def _key(*, create: bool) -> bytes:
    path = config_folder() / KEY_FILE
    try:
        try:
            return _read(path)
        except FileNotFoundError:
            if not create:
                return b""
            _create(path)
            return _read(path)
    except OSError as error:
        raise ConfigError(
            f"the installation key {path} cannot be used: {error.strerror or error}",
            "Make its folder writable, set XDG_CONFIG_HOME to one that is, or pass --trust-data-dir.",
        ) from error


def _read(path: Path) -> bytes:
    key = read_file(path, limit=1024)
    if len(key) != _KEY_BYTES:
        raise ConfigError(f"the installation key {path} is damaged", "Delete it: the indexes are then made again.")
    return key


def _create(path: Path) -> None:
    """Put a new key in place unless another process was faster; its content is complete from the first moment."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{KEY_FILE}.{secrets.token_hex(8)}")
    descriptor = open_file(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, secrets.token_bytes(_KEY_BYTES))
        os.fsync(descriptor)
        with contextlib.suppress(FileExistsError):
            # a link, unlike a rename, never replaces the key of the process that was faster
            path.hardlink_to(draft)
    finally:
        os.close(descriptor)
        draft.unlink(missing_ok=True)
