"""Idempotency keys: a repeated call with the same key gives the stored answer and writes nothing.

One file per key in the data folder holds a digest of the arguments, the id that the call is about to use, and the
answer. A call that was killed between its note and its answer leaves the id; the repetition uses it again, and no note
is doubled.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from atlas.core.errors import ConfigError, StoreError
from atlas.runtime.process.files import make_private_folder, read_file, write_file

LIFETIME = 30 * 86_400
"""Seconds for which a key is kept."""
_FOLDER = "idempotency"
_MAX_ANSWER = 1 << 20
_ANY = "any"
"""Digest of a call whose arguments are not known."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call with a key. `answer` is that of the first call, None if it has not finished."""

    file: Path
    digest: str
    note_id: str
    created: float
    answer: Mapping[str, Any] | None = None
    is_repeated: bool = False


def begin(
    data_dir: Path, key: str, tool: str, arguments: Mapping[str, object], note_id: str, client: str = ""
) -> Request:
    """Record a call that is about to write `note_id`, or return the one that was recorded under this key.

    Each client has keys of its own, and all have those of imports: a client can neither use up nor read what another
    one has stored under its keys. The caller holds the lock of the key. Raises ConfigError for a key that was used with
    other arguments, and StoreError if the folder cannot be used.
    """
    folder = data_dir / _FOLDER
    file = _file(folder, f"{client}\0{key}" if client else key)
    written = json.dumps([tool, arguments], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.sha256(written.encode()).hexdigest()
    try:
        make_private_folder(file.parent)
        _drop_expired(file.parent)
        known = _read(file)
        if known is None and client:
            common = _read(_file(folder, key))
            known = common if common is not None and common.digest in (digest, _ANY) else None
        if known is not None and known.created < time.time() - LIFETIME:
            known = None
        if known is None:
            request = Request(file, digest, note_id, time.time())
            _write(request)
            return request
    except OSError as error:
        raise StoreError(f"cannot record the key in {folder}: {error}", "Check permissions and free space.") from error
    if known.digest not in (digest, _ANY):
        raise ConfigError(
            "this idempotency_key was used with other arguments", "Use a new key, or repeat the call unchanged."
        )
    return known


def record(data_dir: Path, key: str, note_id: str, answer: Mapping[str, Any]) -> bool:
    """Record the answer of a call of another program, which wrote `note_id`; return False if the key is known.

    Its arguments are not known: any call with the key is its repetition. Raises StoreError if the folder cannot be
    used.
    """
    folder = data_dir / _FOLDER
    file = _file(folder, key)
    try:
        make_private_folder(file.parent)
        if _read(file) is not None:
            return False
        _write(Request(file, _ANY, note_id, time.time(), answer))
    except OSError as error:
        raise StoreError(f"cannot record the key in {folder}: {error}", "Check permissions and free space.") from error
    return True


def finish(request: Request, answer: Mapping[str, Any]) -> None:
    """Record the answer of a call. Raises StoreError."""
    try:
        _write(Request(request.file, request.digest, request.note_id, request.created, answer))
    except OSError as error:
        raise StoreError(
            f"cannot record the answer: {error}", "The note is written; the call can be repeated."
        ) from error


def _file(folder: Path, key: str) -> Path:
    """Return the file of a key. One of 256 folders holds it, so that looking for expired keys stays cheap."""
    name = hashlib.sha256(key.encode()).hexdigest()
    return folder / name[:2] / f"{name}.json"


def _read(file: Path) -> Request | None:
    """Return a recorded call; a damaged record counts as none."""
    try:
        found = cast("dict[str, Any]", json.loads(read_file(file, _MAX_ANSWER)))
        return Request(file, found["digest"], found["note_id"], found["created"], found["answer"], is_repeated=True)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        return None


def _write(request: Request) -> None:
    fields = {name: getattr(request, name) for name in ("digest", "note_id", "created", "answer")}
    write_file(request.file, json.dumps(fields, ensure_ascii=False).encode())


def _drop_expired(folder: Path) -> None:
    oldest = time.time() - LIFETIME
    for file in folder.iterdir():
        with suppress(FileNotFoundError):
            if file.stat().st_mtime < oldest:
                file.unlink(missing_ok=True)
