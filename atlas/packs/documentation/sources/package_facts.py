"""Name, version and licence that a package states in its metadata: PKG-INFO, package.json or Cargo.toml."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from email.parser import HeaderParser
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atlas.packs.documentation.sources.values import Tree

MAX_METADATA = 1 << 20

CARGO_LINE = re.compile(
    r"""(?P<name>name|version|license)\s*+=\s*+(?P<quote>["'])(?P<value>[^"'\\]*+)(?P=quote)\s*+(?:#.*+)?"""
)


@dataclass(frozen=True, slots=True)
class PackageFacts:
    """What a package says about itself; "" where it says nothing."""

    name: str = ""
    version: str = ""
    licence: str = ""


def package_facts(tree: Tree, paths: Sequence[str]) -> PackageFacts:
    """Return what the metadata of a tree says."""
    known = set(paths)
    metadata = [path for path in paths if re.fullmatch(r"[^/]+\.dist-info/METADATA", path)]
    wanted = [path for path in ("PKG-INFO", *metadata, "package.json", "Cargo.toml") if path in known][:1]
    for path, data, _ in tree.read(wanted, MAX_METADATA):
        text = data.decode("utf-8", "replace")
        if path.endswith(".json"):
            return _of_package_json(text)
        return _of_cargo(text) if path.endswith(".toml") else of_metadata(text)
    return PackageFacts()


def of_metadata(text: str) -> PackageFacts:
    """Return the facts of Python's core metadata."""
    headers = HeaderParser().parsestr(text)
    licence = headers.get("License-Expression") or headers.get("License") or ""
    if not licence or len(licence) > 100:
        names = [str(one) for one in headers.get_all("Classifier", []) if str(one).startswith("License ::")]
        licence = names[0].rpartition("::")[2].strip() if names else ""
    return PackageFacts(str(headers.get("Name", "")), str(headers.get("Version", "")), " ".join(str(licence).split()))


def _of_package_json(text: str) -> PackageFacts:
    try:
        content: object = json.loads(text)
    except (ValueError, RecursionError):
        return PackageFacts()
    return _of_mapping(content)


def _of_cargo(text: str) -> PackageFacts:
    """Return the facts of a Cargo.toml as cargo publishes it, by lines: `tomllib` is quadratic in dotted keys."""
    values: dict[object, object] = {}
    is_package = False
    for line in text.splitlines():
        if line.startswith("["):
            is_package = line.strip() == "[package]"
        elif is_package and (found := CARGO_LINE.fullmatch(line.strip())):
            values.setdefault(found["name"], found["value"])
    return _of_mapping(values)


def _of_mapping(content: object) -> PackageFacts:
    if not isinstance(content, dict):
        return PackageFacts()
    values = cast("dict[object, object]", content)
    found = [value if isinstance(value, str) else "" for value in map(values.get, ("name", "version", "license"))]
    return PackageFacts(*(value[:200] for value in found))
