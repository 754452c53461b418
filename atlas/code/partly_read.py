"""Which cited files were read in part only, and why."""

from __future__ import annotations

from collections.abc import Iterable

from atlas.core.model import FileRecord

BEGINS = "was read in part"
"""The beginning of the reason."""
SHOWN = 3
"""Lines that the reason names."""

_CODES = ("syntax", "timeout", "too-deep", "internal")


def partly_read(records: Iterable[FileRecord]) -> dict[str, str]:
    """Return by path why a file was read in part: `was read in part: lines 3, 17 do not fit the grammar`."""
    return {record.path: reason for record in records if (reason := _reason(record.problems))}


def _reason(problems: Iterable[str]) -> str:
    parts = [problem.split(": ", 2) for problem in problems]
    found = [(part[0], part[1], part[2]) for part in parts if len(part) == 3 and part[1] in _CODES]
    if not found:
        return ""
    lines = list(dict.fromkeys(line for line, code, _ in found if code == "syntax"))
    if not lines:
        return f"{BEGINS}: {found[0][2]}"
    more = f" and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    named = f"line{'s' if len(lines) > 1 else ''} {', '.join(lines[:SHOWN])}{more}"
    return f"{BEGINS}: {named} do{'' if len(lines) > 1 else 'es'} not fit the grammar"
