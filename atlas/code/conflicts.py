"""Conflict markers of a merge in indexed files: what an answer cites from such a file exists twice, or not at all.

The markers fit no grammar, so only files that were read in part are looked into.
"""

from __future__ import annotations

from collections.abc import Iterable

from atlas.core.contracts import Store
from atlas.core.model import FileRecord

MAX_FILES = 50
"""Files that are looked into for one answer."""
BEGINS = "has conflict markers at line "
_OURS, _BETWEEN, _THEIRS = b"<<<<<<<", b"=======", b">>>>>>>"


async def conflicts(store: Store, project: str, records: Iterable[FileRecord]) -> dict[str, str]:
    """Return what is to be said of files with conflict markers, by path."""
    suspects = [record.path for record in records if record.problems][:MAX_FILES]
    texts = await store.content(project, suspects) if suspects else {}
    found = {path: first_conflict(text) for path, text in texts.items()}
    return {path: f"{BEGINS}{line}" for path, line in found.items() if line}


def first_conflict(text: bytes) -> int:
    """Return the line of the first conflict that has all its markers, 0 without one."""
    if _OURS not in text or _THEIRS not in text:
        return 0
    begun, divided = 0, False
    for number, line in enumerate(text.split(b"\n"), 1):
        marker, rest = line[:7], line[7:].rstrip(b"\r")
        if marker == _OURS and rest[:1] in (b"", b" "):
            begun, divided = number, False
        elif begun and marker == _BETWEEN and not rest.strip():
            divided = True
        elif divided and marker == _THEIRS and rest[:1] in (b"", b" "):
            return begun
    return 0
