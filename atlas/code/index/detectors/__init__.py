"""The rules by which routes, events and commands are found: TOML files of this folder, of packages, of a project.

A rule is data: a tree-sitter query with a small vocabulary of captures, words that trigger it, and where the parts of a
route are. The parser runs the rules (`Languages`); this package only collects their texts. README.md describes them.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from atlas.parsing import read_path

ENTRY_POINT = "code_atlas.detectors"
"""Group of entry points of installed packages: each names a module or package that contains TOML files of rules."""

MAX_OWN_BYTES = 65_536
"""Largest file of rules; the parser rejects larger ones."""

_FOLDER = Path(__file__).parent

Source: TypeAlias = tuple[str, str]
"""Name of a framework, and the text of its rules."""


def built_in() -> list[Source]:
    """Return the rules of this package, by name."""
    return [(path.stem, path.read_text("utf-8")) for path in sorted(_FOLDER.glob("*.toml"))]


def installed() -> list[Source]:
    """Return the rules that installed packages contribute, by name. Imports the packages of the entry points."""
    packages = _packages(tuple((path, _changed_at(path)) for path in sys.path))
    return sorted(source for package in packages for source in _of_package(package))


def of_project(root: Path, path: str) -> list[Source]:
    """Return the rules of a file in a project: none if it is missing, a link, too large or not UTF-8."""
    data = read_path(str(root), path, MAX_OWN_BYTES) if path else None
    if data is None:
        return []
    try:
        return [(Path(path).stem, data.decode("utf-8"))]
    except UnicodeDecodeError:
        return []


def digest_of(rules: Sequence[Source]) -> str:
    """Return 16 hex digits that name these rules; "" for none."""
    told = "\0".join(part for rule in rules for part in rule)
    return hashlib.blake2b(told.encode(), digest_size=8).hexdigest() if rules else ""


@lru_cache(maxsize=1)
def _packages(path: tuple[tuple[str, int], ...]) -> list[str]:
    """Return the packages of the entry points; they are read again once a folder of the path has changed."""
    if not any(_has_group(Path(folder)) for folder, _ in path):
        return []
    from importlib.metadata import entry_points

    return [entry.value for entry in entry_points(group=ENTRY_POINT)]


def _changed_at(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0


def _has_group(folder: Path) -> bool:
    """Return whether a distribution in a folder may have the entry point; to ask the library takes 40 CPU ms, not 4."""
    try:
        found = folder.glob("*-info/entry_points.txt")
        return any(ENTRY_POINT in each.read_text("utf-8", "replace") for each in found)
    except OSError:
        return True


def _of_package(package: str) -> Iterator[Source]:
    from importlib.resources import files

    for each in files(package).iterdir():
        if each.name.endswith(".toml"):
            yield (each.name.removesuffix(".toml"), each.read_text("utf-8"))
