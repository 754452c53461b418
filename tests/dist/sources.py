"""What a wheel and an sdist have to contain: the tracked files below a folder of this repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def tracked(*folders: str) -> set[str]:
    """Paths of the tracked files below these folders that exist, relative to the repository, with new files that git does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *folders]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).is_file()}


def only(folder: Path, pattern: str) -> Path:
    """Return the one file of a folder that matches; fail when there are none or several."""
    found = sorted(folder.glob(pattern))
    assert len(found) == 1, f"{folder} holds {[one.name for one in found]}, expected one {pattern}"
    return found[0]


def explain_difference(expected: set[str], found: set[str]) -> str:
    """Return what is missing and what is there unexpectedly, as one line."""
    return f"missing: {sorted(expected - found)}; unexpected: {sorted(found - expected)}"
