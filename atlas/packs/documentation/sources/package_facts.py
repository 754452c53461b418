"""Name, version and licence that a package states in its metadata: PKG-INFO, package.json or Cargo.toml."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from email.parser import HeaderParser
from typing import TYPE_CHECKING, cast

from atlas.core.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atlas.packs.documentation.sources.values import Tree

MAX_METADATA = 1 << 20

MAX_LINKS = 50
ADDRESS = lazy_regex(r"https?://[\w.~:/?#@!$&+=%-]{1,200}")
HOST = lazy_regex(
    r"https?://(?:www\.)?(?:github\.com|gitlab\.com|codeberg\.org|bitbucket\.org|git\.sr\.ht)/[^/]+/[^/]+/?$"
)
DOCUMENTATION = ("documentation", "docs", "doc", "manual", "guide", "usermanual", "homepage", "home", "website")
REPOSITORY = ("source", "sourcecode", "repository", "repo", "code", "github", "gitlab", "sources")
"""Labels of addresses without blanks, the best first."""
CARGO_LINE = lazy_regex(
    r"""(?P<name>name|version|license)\s*+=\s*+(?P<quote>["'])(?P<value>[^"'\\]*+)(?P=quote)\s*+(?:#.*+)?"""
)


@dataclass(frozen=True, slots=True)
class PackageFacts:
    """What a package says about itself; "" where it says nothing."""

    name: str = ""
    version: str = ""
    licence: str = ""
    is_python: bool = False
    documentation: str = ""
    """Address of the documentation that the metadata of a Python package names, else its home page."""
    repository: str = ""
    """Address of its sources."""


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
    links = [str(one).partition(",")[::2] for one in headers.get_all("Project-URL", [])[:MAX_LINKS]]
    links.append(("home page", str(headers.get("Home-page", ""))))
    named = {
        re.sub(r"\W", "", label[:100]).lower(): url.strip() for label, url in links if ADDRESS.fullmatch(url.strip())
    }
    repository = next((named[label] for label in REPOSITORY if label in named), "")
    if not repository:
        repository = next((url for url in named.values() if HOST.match(url)), "")
    found = next((named[label] for label in DOCUMENTATION if named.get(label, repository) != repository), "")
    return PackageFacts(
        *(str(headers.get("Name", "")), str(headers.get("Version", "")), " ".join(str(licence).split())),
        *(True, found, repository),
    )


def without_documentation(facts: PackageFacts) -> str:
    """Return what is said of a Python package whose archive has no documentation: where it is, by its metadata."""
    places = [f"--from {facts.documentation}"] if facts.documentation else []
    if facts.repository:
        places.append(f"--from git:FOLDER with a clone of {facts.repository}")
    text = "the archive has no documentation, so its docstrings are all that is read"
    return f"{text}; add {' or '.join(places)}" if places else text


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
    name, version, licence = (value[:200] for value in found)
    return PackageFacts(name, version, licence)
