"""What this machine knows about packs, kept outside of them: which files were checked, and which packs it built.

A pack comes from anywhere, so nothing in it can say that it is to be trusted.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from atlas.adapters.opening.packs import check_rows
from atlas.core.errors import StoreError
from atlas.packs.documentation.pack.folder import describe_file
from atlas.packs.documentation.pack.manifest import PACK_FILE, Manifest
from atlas.runtime.process.data_folder import cache_root
from atlas.runtime.process.files import make_private_folder, read_file, write_file
from atlas.runtime.process.installation_key import personal_folder

_RULES = 1
"""Incremented when `check_pack` finds more."""
MAX_PLACES = 20
"""Folders of equal packs that are remembered."""


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """How a pack was built here."""

    folder: str = ""
    """At which relative paths of its sources start."""
    private: tuple[str, ...] | None = None
    """Hosts that may be on this machine or its network; None: whatever the user named."""


def check_file(file: Path) -> None:
    """Check a pack's file unless that was done since it changed. Raises as `check_rows`.

    Raises StoreError also for a log beside it, which would change what is read.
    """
    for suffix in ("-wal", "-shm", "-journal"):
        if os.path.lexists(f"{file}{suffix}"):
            raise StoreError(f"{file}{suffix} is not part of a pack")
    record = _checked(file)
    with suppress(OSError, ValueError):
        if json.loads(read_file(record)) == _state(file):
            return
    check_rows(file)
    remember_check(file)


def remember_check(file: Path) -> None:
    """Note that a file has been checked, or was written here. Where nothing can be noted, it is checked each time."""
    with suppress(OSError):
        _write(_checked(file), _state(file))


def remember_build(pack: Path, manifest: Manifest, record: BuildRecord) -> bool:
    """Note that a pack was built here; return whether that could be written."""
    known = _read_builds(manifest)
    known.pop(str(pack.absolute()), None)
    builds = [*known.items(), (str(pack.absolute()), asdict(record))][-MAX_PLACES:]
    with suppress(OSError):
        _write(_built(manifest), dict(builds))
        return True
    return False


def built_here(pack: Path, manifest: Manifest) -> BuildRecord | None:
    """Return how a pack was built here, None for one from elsewhere. It may have been moved since."""
    known = _read_builds(manifest)
    found = known.get(str(pack.absolute())) or next(reversed(known.values()), None)
    if found is None:
        return None
    return BuildRecord(found["folder"], None if found["private"] is None else tuple(found["private"]))


def is_as_built(folder: Path, manifest: Manifest) -> bool:
    """Return whether a pack was built here and its graph is the one that was written. Reads the whole file."""
    with suppress(OSError):
        wanted = manifest.files.get(PACK_FILE)
        return built_here(folder, manifest) is not None and describe_file(folder / PACK_FILE) == wanted
    return False


def _checked(file: Path) -> Path:
    return cache_root() / "checked-packs" / f"{_digest(str(file.absolute()))}.json"


def _state(file: Path) -> list[int]:
    status = file.lstat()
    return [_RULES, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _built(manifest: Manifest) -> Path:
    """Return the record of a build: of a graph together with what an update would read."""
    own = manifest.files.get(PACK_FILE)
    sources = [source.text for source in manifest.sources]
    said = [manifest.name, manifest.version, manifest.created, sources, manifest.settings, own.sha256 if own else ""]
    return personal_folder().with_name("built-packs") / f"{_digest(json.dumps(said, sort_keys=True))}.json"


def _read_builds(manifest: Manifest) -> dict[str, Any]:
    """Return the builds that gave this pack, by its folder: equal sources at two places give equal packs."""
    with suppress(OSError, ValueError):
        return cast("dict[str, Any]", json.loads(read_file(_built(manifest))))
    return {}


def _write(record: Path, document: object) -> None:
    for folder in (record.parent.parent, record.parent):
        make_private_folder(folder)
    write_file(record, json.dumps(document).encode())


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf8", "surrogatepass"), digest_size=16).hexdigest()
