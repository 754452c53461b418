"""What question sets are made from: the definitions and sections of a tree, parsed file by file, without a graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atlas.parsing import Languages, parse_bytes
from atlas.parsing.scanning import scan_project

SECTION = "DocSection"
CALLABLE = frozenset(("Function", "Method", "Constructor", "Property"))
CONTAINERS = frozenset(("Module", "Package", "Namespace", "File", "DocFile", "ADR"))
"""Kinds that stand for a file or a part of a tree."""
MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition or section: `line` is that of its name, the lines from `start` to `end` are its own."""

    kind: str
    name: str
    qualified: str
    line: int
    start: int
    end: int
    docstring: str
    exported: bool = True


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A parsed file of the tree; `path` is relative to the root."""

    path: str
    language: str
    is_test: bool
    is_generated: bool
    definitions: tuple[Definition, ...]
    names: tuple[str, ...] = ()
    """Names that the file refers to, distinct, in order."""

    @property
    def usable(self) -> bool:
        """Whether questions may be about the file: neither test nor generated code."""
        return not self.is_test and not self.is_generated


def read_tree(root: Path, languages: Languages, paths: Sequence[str] | None = None) -> list[TreeFile]:
    """Return the files of a tree in scope, sorted by path; `paths`: only these. Raises ConfigError for no folder."""
    listed = [file.path for file in scan_project(root, languages).files] if paths is None else paths
    found: list[TreeFile] = []
    for path in sorted(listed):
        try:
            data = (root / path).read_bytes()
        except OSError:
            continue
        if len(data) <= MAX_BYTES:
            found.append(read_file(path, data, languages))
    return found


def read_file(path: str, data: bytes, languages: Languages) -> TreeFile:
    """Return the definitions of one file."""
    facts: dict[str, Any] = json.loads(parse_bytes(languages, path, data).to_json())
    module = str(facts["module"] or "")
    return TreeFile(
        path,
        str(facts["language"]),
        bool(facts["is_test"]),
        bool(facts["is_generated"]),
        tuple(_definition(each, module) for each in facts["definitions"]),
        tuple(dict.fromkeys(str(each["name"]) for each in facts["references"] if each.get("name"))),
    )


def _definition(fact: dict[str, Any], module: str) -> Definition:
    qualified = ".".join(part for part in (module, str(fact["path"])) if part)
    return Definition(
        str(fact["kind"]),
        str(fact["name"]),
        qualified,
        int(fact["name_line"]),
        int(fact["start_line"]),
        int(fact["end_line"]),
        str(fact["docstring"] or ""),
        "exported" in fact["flags"],
    )
