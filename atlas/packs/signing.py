"""Archives of packs, signed and checked: the bytes that a signature was made or checked for are those that are used.

An archive lies where others may change it, so it is copied to a private folder; it is checked, read and unpacked there.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from atlas.core.errors import AtlasError, NotFound, StoreError
from atlas.packs.documentation.pack import minisign
from atlas.packs.documentation.pack.archive import SUFFIX, export, read_archive_manifest
from atlas.packs.documentation.pack.folder import load_manifest
from atlas.packs.documentation.pack.manifest import Manifest
from atlas.packs.documentation.pack.minisign import MinisignKey, MinisignSecret
from atlas.packs.documentation.pack.signers import PackSigner, check, demanded, in_real_folder, record_signer
from atlas.packs.store import install
from atlas.runtime.process.files import read_file
from atlas.runtime.process.installation_key import packs_folder

STDIN = "-"
MAX_ARCHIVE = 4 << 30
"""Bytes of an archive: no more than of the files in it."""
_CHUNK = 1 << 20
_REFUSED = "nothing was installed; get the pack and its signature from its publisher again"


async def install_archive(
    archive: str, signature: str = "", signer: str = "", *, replaces: bool = False, dry_run: bool = False
) -> tuple[Path, Manifest, PackSigner]:
    """Install a pack from an archive, `-` for standard input; return its folder, its manifest and who signed it.

    `signature` is the file of the signature, else ARCHIVE.minisig if there is one; `signer` is the trusted key, or the
    public key, that must have signed. Raises as `install` does, and StoreError for a bad signature.
    """
    wanted = demanded(signer) if signer else None
    with _received(archive) as copy:
        found = _signer_of(archive, signature, copy, wanted)
        manifest = read_archive_manifest(copy)
        _check_title(archive, found, manifest)
        folder = packs_folder() / manifest.name / manifest.version
        if not dry_run:
            folder, manifest = await install(copy, replaces=replaces)
            record_signer(folder, found)
    return folder, manifest, found


def export_signed(folder: Path, target: Path, secret: MinisignSecret) -> int:
    """Write a pack as an archive and its signature as ARCHIVE.minisig; return the archive's size. Raises StoreError.

    Both are made in a private folder: what is signed is what this process has written.
    """
    manifest = load_manifest(folder)
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    name = f"{manifest.name}-{manifest.version}{SUFFIX}"
    comment = f"timestamp:{seconds}\tfile:{name}\tpack:{manifest.name}\tversion:{manifest.version}"
    try:
        with tempfile.TemporaryDirectory(prefix=".signing-", dir=target.parent) as place:
            archive, signature = Path(place, target.name), Path(place, "signature")
            size = export(folder, archive)
            with archive.open("rb") as file:
                digest = minisign.digest_of(file)
            signature.write_text(minisign.sign(secret, digest, f"{comment}\tblake2b:{digest.hex()}"))
            archive.replace(target)
            signature.replace(_beside(target))
    except (OSError, ValueError) as error:
        raise StoreError(f"cannot write {target}: {error}", "check the folder and its disk") from error
    return size


def _signer_of(archive: str, signature: str, copy: Path, wanted: MinisignKey | None) -> PackSigner:
    path = Path(signature) if signature else _beside(Path(archive))
    if not signature and (archive == STDIN or not os.path.lexists(path)):
        if wanted is not None:
            raise StoreError(f"{_shown(archive)} is refused: it is not signed", _REFUSED)
        return PackSigner()
    try:
        # its folder may be a link, the file must be a file: a link or FIFO was not made by a signing program
        data = read_file(in_real_folder(path), minisign.MAX_FILE, own=False)
        with copy.open("rb") as file:
            return check(data, minisign.digest_of(file), wanted)
    except FileNotFoundError as error:
        raise NotFound(f"there is no signature {path}") from error
    except OSError as error:
        raise StoreError(f"the signature {path} cannot be read: {error.strerror or error}", _REFUSED) from error
    except StoreError as error:
        raise StoreError(f"{_shown(archive)} is refused: {error.message}", error.hint or _REFUSED) from error


def _check_title(archive: str, signer: PackSigner, manifest: Manifest) -> None:
    """Refuse a pack whose signature names another one: then the signer took one file for another."""
    said = dict(part.split(":", 1) for part in signer.comment.split("\t") if ":" in part)
    for name, value in (("pack", manifest.name), ("version", manifest.version)):
        if said.get(name, value) != value:
            raise StoreError(f"{_shown(archive)} is refused: its signature is for the {name} {said[name]}", _REFUSED)


@contextmanager
def _received(archive: str) -> Generator[Path]:
    """Copy an archive to a private folder; errors raised in the block name the archive instead of the copy."""
    with tempfile.TemporaryDirectory(prefix="atlas-pack-") as place:
        copy = Path(place, "archive.tar.zst")
        try:
            _copy(archive, copy)
            yield copy
        except FileNotFoundError as error:
            raise NotFound(f"there is no archive {archive}") from error
        except AtlasError as error:
            error.message = error.message.replace(str(copy), _shown(archive))
            error.args = (error.message, *error.args[1:])
            raise
        except OSError as error:
            raise StoreError(f"{_shown(archive)} cannot be read: {error.strerror or error}") from error


def _copy(archive: str, target: Path) -> None:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    source = os.dup(sys.stdin.fileno()) if archive == STDIN else os.open(archive, flags)
    with os.fdopen(source, "rb") as file, target.open("xb") as out:
        if archive != STDIN and not stat.S_ISREG(os.fstat(source).st_mode):
            raise StoreError(f"{archive} is refused: it is no plain file", "`-` reads an archive from standard input")
        while chunk := file.read(_CHUNK):
            out.write(chunk)
            if out.tell() > MAX_ARCHIVE:
                raise StoreError(f"{_shown(archive)} is refused: it has more than {MAX_ARCHIVE:,} bytes")


def _beside(archive: Path) -> Path:
    return archive.with_name(archive.name + minisign.SUFFIX)


def _shown(archive: str) -> str:
    return "the archive on standard input" if archive == STDIN else archive
