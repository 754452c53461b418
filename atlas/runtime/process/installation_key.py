"""The installation key: 32 random bytes with which an installation signs the data folders that it creates.

Anyone who can read the key can forge an index that this user trusts: only the user can read it, and it is never shown.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from atlas.core.errors import ConfigError
from atlas.runtime.process.files import create_once, make_private_folder, read_file
from atlas.runtime.process.places import user_folder

KEY_FILE = "installation.key"

_KEY_BYTES = 32
_DIGEST_BYTES = 16


def config_folder() -> Path:
    """Return the folder of the user's settings, `~/.config/code-atlas` on Linux; it may not exist yet."""
    return Path(user_folder("XDG_CONFIG_HOME", "~/.config"))


def _data_folder() -> Path:
    return Path(user_folder("XDG_DATA_HOME", "~/.local/share"))


def personal_folder() -> Path:
    """Return the root of the user's own notes, `~/.local/share/code-atlas/personal` on Linux; it may be missing."""
    return _data_folder() / "personal"


def packs_folder() -> Path:
    """Return where packs are installed: ATLAS_PACKS, else `~/.local/share/code-atlas/packs`. May be missing."""
    chosen = os.environ.get("ATLAS_PACKS", "")
    return Path(chosen).expanduser() if chosen else _data_folder() / "packs"


def has_packs() -> bool:
    """Return whether anything is in the folder of installed packs, damaged or not."""
    folder = packs_folder()
    return folder.is_dir() and any(folder.glob("*/*"))  # a pattern takes longer to read than a folder to miss


def signing_folder() -> Path:
    """Return the folder of keys that sign packs, `~/.local/share/code-atlas/signing` on Linux; it may be missing."""
    return personal_folder().with_name("signing")


def papers_folder() -> Path:
    """Return the folder of stored papers, `~/.local/share/code-atlas/papers` on Linux; it may be missing."""
    return personal_folder().with_name("papers")


def token_file() -> Path:
    """Return the file of the user's token for HTTP, `~/.local/share/code-atlas/mcp.token` on Linux; may be missing."""
    return personal_folder().with_name("mcp.token")


def sign(text: str, *, create: bool) -> str:
    """Return the keyed digest (BLAKE2b, 128 bits, hex) of a text; "" when there is no key and `create` is false.

    Raises ConfigError for a key that cannot be read or created.
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
            make_private_folder(path.parent)
            create_once(path, os.urandom(_KEY_BYTES))
            return _read(path)
    except OSError as error:
        raise ConfigError(
            f"the installation key {path} cannot be used: {error.strerror or error}",
            "Make its folder writable, set XDG_CONFIG_HOME to one that is, or pass --trust-data-dir.",
        ) from error


def _read(path: Path) -> bytes:
    key = read_file(path, limit=1024)
    if len(key) != _KEY_BYTES:
        raise ConfigError(f"the installation key {path} is damaged", "Delete it: indexes are then built again.")
    return key
