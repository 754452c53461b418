"""Who signs packs: the user's secret key, the public keys that the user trusts, and who signed what is installed.

All of it is in one private folder of the user, never in a pack: `secret.key`, `trusted/NAME.pub` as minisign writes
them, and `installed/` with a file for each installed pack. The record of a pack holds the digest of its manifest, so
that it says nothing about another pack in the same place.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from atlas.core.errors import ConfigError, NotFound, StoreError
from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.pack import minisign
from atlas.packs.documentation.pack.manifest import MANIFEST_FILE, MAX_MANIFEST
from atlas.packs.documentation.pack.minisign import MinisignKey, key_id
from atlas.runtime.process.files import make_private_folder, read_file, write_file
from atlas.runtime.process.installation_key import signing_folder

OWN = "own"
"""Name of the user's own key among the trusted ones."""
_NAME = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")

SignerState = Literal["known", "given", "unknown", "unsigned"]


@dataclass(frozen=True, slots=True)
class PackSigner:
    """Who signed a pack.

    `known`: checked, by a trusted key; `given`: checked, by a key that only the command named; `unknown`: signed by a
    key that is not there, so nothing was checked; `unsigned`: no signature, or none is recorded.
    """

    state: SignerState = "unsigned"
    name: str = ""
    key: str = ""
    key_id: str = ""
    comment: str = ""

    @property
    def title(self) -> str:
        """As words."""
        return {
            "known": f"signed by {self.name} (key ID {self.key_id})",
            "given": f"signed by {self.key}, which is not among the trusted keys",
            "unknown": f"not checked: signed by the unknown key ID {self.key_id}",
            "unsigned": "not signed",
        }[self.state]

    @property
    def short(self) -> str:
        """As a word: the name of a trusted key, "" without a signature."""
        return self.name or ("" if self.state == "unsigned" else f"ID {self.key_id}")


def trusted_keys() -> dict[str, MinisignKey]:
    """Return the public keys that the user trusts, by name. Raises ConfigError for a damaged one."""
    folder = _trusted()
    found: dict[str, MinisignKey] = {}
    for path in sorted(folder.glob("*.pub")) if folder.is_dir() else ():
        found[path.stem] = _key_file(path)
    return found


def trust(name: str, key: str) -> MinisignKey:
    """Trust a public key, given as text or as the path of a file. Raises ConfigError, also for a name that is taken."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name[:100]!r} is not a name of a signer", "use letters, digits and '._@-'")
    found = key_of(key)
    for other, known in trusted_keys().items():
        if other == name and known != found:
            raise ConfigError(f"{name} has another key", f"first `atlas pack key remove {name}`")
    _write(_trusted() / f"{name}.pub", found.file)
    return found


def distrust(name: str) -> None:
    """Trust a key no longer. Raises NotFound."""
    path = _trusted() / f"{name}.pub"
    if not _NAME.fullmatch(name) or not os.path.lexists(path):
        raise NotFound(f"there is no trusted key {name[:100]}", "`atlas pack key list` shows them")
    path.unlink()


def key_of(text: str) -> MinisignKey:
    """Return a public key that is written out, else that of a file. Raises ConfigError."""
    with suppress(ConfigError):
        return minisign.read_key(text)
    return _key_file(Path(text))


def demanded(text: str) -> MinisignKey:
    """Return the key that `--signer` names: a trusted one by its name, else as `key_of` does."""
    return trusted_keys().get(text) or key_of(text)


def secret_path() -> Path:
    """Return where the user's secret key is, whether or not it exists."""
    return signing_folder() / "secret.key"


def create_secret(password: str) -> MinisignKey:
    """Make the user's secret key, and trust its public half as `own`. Raises ConfigError if there is one."""
    path = secret_path()
    if os.path.lexists(path):
        raise ConfigError(f"there is a secret key in {path}", "move it away to make another one")
    made = minisign.new_secret()
    _write(path, minisign.secret_file(made, password))
    with suppress(NotFound):
        distrust(OWN)  # of a key that was moved away
    return trust(OWN, made.public.text)


def secret_text(path: Path) -> str:
    """Return the content of a secret key's file. Raises ConfigError, also if other users can read it."""
    try:
        if path.stat().st_mode & 0o077:
            raise ConfigError(f"other users can read the secret key {path}", f"chmod 600 {path}")
        return read_file(in_real_folder(path), minisign.MAX_FILE).decode("utf8", "replace")
    except FileNotFoundError as error:
        raise ConfigError(f"there is no secret key {path}", "make one: atlas pack key create") from error
    except OSError as error:
        raise ConfigError(f"the secret key {path} cannot be read: {error.strerror or error}") from error


def record_signer(folder: Path, signer: PackSigner) -> None:
    """Remember who signed the pack that was installed in a folder. Raises OSError."""
    path = _record(folder)
    if signer.state == "unsigned":
        path.unlink(missing_ok=True)
        return
    values = {"manifest": _manifest_digest(folder), "folder": str(folder)}
    values |= {"key": signer.key, "key_id": signer.key_id, "comment": signer.comment}
    _write(path, json.dumps(values, sort_keys=True) + "\n")


def signer_of(folder: Path) -> PackSigner:
    """Return who signed an installed pack, by the keys that are trusted now. Never raises: `unsigned` if unknown."""
    try:
        found: object = json.loads(read_file(_record(folder)))
        values = cast("dict[str, object]", found) if isinstance(found, dict) else {}
        key, number, comment = (str(values.get(name, "")) for name in ("key", "key_id", "comment"))
        if values.get("manifest") != _manifest_digest(folder):
            return PackSigner()
        keys = {one.text: name for name, one in trusted_keys().items()}
    except (OSError, ValueError, ConfigError):
        return PackSigner()
    if not key:
        return PackSigner("unknown", key_id=number)
    name = keys.get(key, "")
    return PackSigner("known" if name else "given", name, key, number, comment)


def check(data: bytes, digest: bytes, wanted: MinisignKey | None) -> PackSigner:
    """Return who signed a file with this digest. Raises StoreError for a bad signature, or another key than wanted."""
    signature = minisign.read_signature(data)
    number = key_id(signature.number)
    names = {key: name for name, key in trusted_keys().items()}
    keys = [key for key in names if key.number == signature.number] if wanted is None else [wanted]
    if not keys:
        return PackSigner("unknown", key_id=number)
    if wanted is not None and wanted.number != signature.number:
        raise StoreError(f"it is signed by the key ID {number} instead of {key_id(wanted.number)}")
    for key in keys:
        if minisign.is_valid(signature, key, digest):
            name = names.get(key, "")
            return PackSigner("known" if name else "given", name, key.text, number, signature.comment)
    raise StoreError(f"its signature by the key ID {number} is bad")


def in_real_folder(path: Path) -> Path:
    """Return a path whose folders are not links, for a file that must not be one itself. Raises OSError."""
    try:
        return path.parent.resolve() / path.name
    except RuntimeError as error:  # links in a circle, before Python 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error


def _trusted() -> Path:
    return signing_folder() / "trusted"


def _record(folder: Path) -> Path:
    name = hashlib.sha256(str(folder.resolve()).encode("utf8", "surrogateescape")).hexdigest()[:32]
    return signing_folder() / "installed" / f"{name}.json"


def _manifest_digest(folder: Path) -> str:
    return hashlib.sha256(read_file(in_real_folder(folder / MANIFEST_FILE), MAX_MANIFEST, own=False)).hexdigest()


def _key_file(path: Path) -> MinisignKey:
    try:
        return minisign.read_key(
            read_file(in_real_folder(path), minisign.MAX_FILE, own=False).decode("utf8", "replace")
        )
    except OSError as error:
        what = f"{str(path)[:100]!r} is neither a public key nor a file with one: {error.strerror or error}"
        raise ConfigError(what, "`atlas pack key list` shows the trusted ones") from error
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", error.hint) from error


def _write(path: Path, text: str) -> None:
    try:
        make_private_folder(signing_folder())
        make_private_folder(path.parent)
        write_file(path, text.encode())
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror or error}", "check its folder") from error
