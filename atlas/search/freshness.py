"""Is what an answer cites still what is on disk? A stat per cited file; only a file that looks different is read.

Size and modification time equal to the record's mean fresh. Otherwise the content's digest decides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path

from atlas.model import FileRecord
from atlas.search import Reader


async def stale_paths(reader: Reader, project: str, root: str, paths: Iterable[str]) -> tuple[str, ...] | None:
    """Return the cited files that changed or vanished since they were indexed, sorted; None when unknowable."""
    cited = sorted({path for path in paths if path})
    if not cited:
        return ()
    records = await reader.store.records(project, cited)
    if not root or not records:
        return None
    suspects = await asyncio.to_thread(_differ, Path(root), records)
    if suspects is None:
        return None
    if suspects:
        digests = await asyncio.to_thread(reader.digest_paths, root, suspects)
        suspects = [path for path, digest in zip(suspects, digests, strict=True) if digest != records[path].digest]
    return tuple(suspects)


def _differ(root: Path, records: Mapping[str, FileRecord]) -> list[str] | None:
    """Return paths whose size or time differs from the record; None when the root itself is not there."""
    suspects: list[str] = []
    for path, record in records.items():
        try:
            status = (root / path).stat()
        except OSError:
            suspects.append(path)
            continue
        if status.st_size != record.size or status.st_mtime_ns != record.mtime_ns:
            suspects.append(path)
    if len(suspects) == len(records) and not root.is_dir():
        return None
    return sorted(suspects)
