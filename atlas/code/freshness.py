"""Freshness of the cited files: one stat per file; only files that look different are read.

A file whose size and modification time equal those of its record is fresh; a different size means changed; otherwise
the digest of the content decides. The record of a file marked as stale has the size and time of the newer file, so the
digest decides immediately.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from atlas.answers.evidence import StaleFile
from atlas.code.conflicts import conflicts
from atlas.code.reader import Reader
from atlas.core.model import FileRecord

CHANGED = "changed on disk"
DELETED = "deleted"
UNREADABLE = "no longer readable"
WAITING = "known to be stale: waiting for the daemon"
"""The change was detected but is not yet in the index."""
PARTLY = "was read in part"
"""The beginning of the reason of a file that was read in part."""
MAX_LINES = 3
"""Lines that this reason names."""
_CODES = ("syntax", "timeout", "too-deep", "internal")
_MAX_INLINE_FILES = 64
"""Checking up to this many files takes less time than a round trip to a thread."""


async def stale_files(reader: Reader, project: str, root: str, paths: Iterable[str]) -> tuple[StaleFile, ...] | None:
    """Return the cited files that differ from the index, sorted by path; None if that cannot be determined.

    Files with conflict markers and those that were read in part are among them; the envelope makes notes of these.
    """
    cited = sorted({path for path in paths if path})
    if not cited:
        return ()
    records = await reader.store.records(project, cited)
    if not root or not records:
        return None
    known = Path(root)
    found = (
        _suspects(known, records)
        if len(records) <= _MAX_INLINE_FILES
        else await asyncio.to_thread(_suspects, known, records)
    )
    if found is None:
        return None
    suspects, changed = found
    digests = await asyncio.to_thread(reader.digest_paths, root, suspects) if suspects else []
    stale = [
        StaleFile(path, _reason(known / path, digest, records[path]))
        for path, digest in zip(suspects, digests, strict=True)
        if digest != records[path].digest
    ]
    stale += [StaleFile(path, CHANGED) for path in changed]
    marked = await conflicts(reader.store, project, records.values())
    stale += [StaleFile(path, reason) for path, reason in (partly_read(records.values()) | marked).items()]
    return tuple(sorted(stale, key=lambda file: file.path))


def _suspects(root: Path, records: Mapping[str, FileRecord]) -> tuple[list[str], list[str]] | None:
    """Return the paths that may differ from their records, and those that certainly do; None without a root.

    A regular file of another size has different content, so it is not read.
    """
    suspects: list[str] = []
    changed: list[str] = []
    folder = f"{root}/"
    for path, record in records.items():
        try:
            status = os.lstat(folder + path)
        except OSError:
            suspects.append(path)
            continue
        if record.stale or not stat.S_ISREG(status.st_mode):
            suspects.append(path)
        elif status.st_size != record.size:
            changed.append(path)
        elif status.st_mtime_ns != record.mtime_ns:
            suspects.append(path)
    if len(suspects) == len(records) and not root.is_dir():
        return None
    return suspects, changed


def _reason(file: Path, digest: str, record: FileRecord) -> str:
    if not digest:
        return UNREADABLE if file.exists() else DELETED
    return WAITING if record.stale else CHANGED


def partly_read(records: Iterable[FileRecord]) -> dict[str, str]:
    """Return by path why a file was read in part: `was read in part: lines 3, 17 do not fit the grammar`."""
    return {record.path: reason for record in records if (reason := _partly(record.problems))}


def _partly(problems: Iterable[str]) -> str:
    parts = [problem.split(": ", 2) for problem in problems]
    found = [(part[0], part[1], part[2]) for part in parts if len(part) == 3 and part[1] in _CODES]
    if not found:
        return ""
    lines = list(dict.fromkeys(line for line, code, _ in found if code == "syntax"))
    if not lines:
        return f"{PARTLY}: {found[0][2]}"
    more = f" and {len(lines) - MAX_LINES} more" if len(lines) > MAX_LINES else ""
    named = f"line{'s' if len(lines) > 1 else ''} {', '.join(lines[:MAX_LINES])}{more}"
    return f"{PARTLY}: {named} do{'' if len(lines) > 1 else 'es'} not fit the grammar"
