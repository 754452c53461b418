"""What users type as a source -> `SourceSpec`: a path, an address, or a package with a scheme in front."""

from __future__ import annotations

import re
from pathlib import Path

from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.sources.values import SourceKind, SourceSpec

BY_SCHEME = {"pypi": "python", "installed": "python", "npm": "npm", "crate": "rust"}
BY_ENDING = {"whl": "python", "crate": "rust", "tgz": "npm"}
"""The ecosystem of a package by the scheme of its source, and by the ending of its archive."""
SCHEMES = {"python": "pypi", "npm": "npm", "rust": "crate"}
"""The scheme of a source that fetches the packages of an ecosystem."""
ARCHIVES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".zip", ".whl", ".crate", ".jar")

PACKAGE_NAMES = {
    SourceKind.PYPI: lazy_regex(
        r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:==(?P<version>[A-Za-z0-9][\w.+!-]*))?"
    ),
    SourceKind.NPM: lazy_regex(
        r"(?P<name>(?:@[a-z0-9~][a-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*)(?:@(?P<version>\d[\w.+-]*))?"
    ),
    SourceKind.CRATE: lazy_regex(r"(?P<name>[A-Za-z][A-Za-z0-9_-]*)(?:@(?P<version>\d[\w.+-]*))?"),
    SourceKind.INSTALLED: lazy_regex(r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?P<version>)"),
}

EXAMPLES = (
    "Name a folder, a file, an archive, git:FOLDER, installed:NAME, pypi:NAME==VERSION, npm:NAME@VERSION, "
    "crate:NAME@VERSION, a URL, urls:FILE or sitemap:URL."
)


def parse_source(text: str, folder: Path | None = None) -> SourceSpec:
    """Return the source that a text names; relative paths start at `folder` (default: the current one).

    Raises ConfigError for a path that does not exist and for a scheme or package name that is invalid.
    """
    text = text.strip()
    scheme, _, rest = text.partition(":")
    if scheme in ("http", "https"):
        return _address(text, text)
    if scheme == "sitemap" and rest.startswith(("http://", "https://")):
        return SourceSpec(SourceKind.SITEMAP, text, url=rest)
    if scheme in ("pypi", "npm", "crate", "installed"):
        return _package(SourceKind(scheme), rest, text)
    if scheme in ("git", "urls") and rest:
        return _on_disk(
            _resolved(rest, folder, text), text, SourceKind.WORK_TREE if scheme == "git" else SourceKind.URLS
        )
    if "://" in text:
        raise ConfigError(f"{text} is not a source: only http and https addresses are fetched.", EXAMPLES)
    return _on_disk(_resolved(text, folder, text), text, None)


def _address(url: str, text: str) -> SourceSpec:
    path = url.partition("?")[0].lower()
    is_map = re.search(r"/sitemap[\w.-]*\.xml(?:\.gz)?$", path)
    return SourceSpec(SourceKind.SITEMAP if is_map else SourceKind.URL, text, url=url)


def _package(kind: SourceKind, rest: str, text: str) -> SourceSpec:
    found = PACKAGE_NAMES[kind].fullmatch(rest)
    # npm takes a name that ends like an archive for a file
    if not found or (kind is SourceKind.NPM and found["name"].lower().endswith((".tgz", ".tar", ".tar.gz"))):
        raise ConfigError(f"{text} does not name a package.", EXAMPLES)
    return SourceSpec(kind, text, name=found["name"], version=found["version"] or "")


def _resolved(path: str, folder: Path | None, text: str) -> Path:
    try:
        found = ((folder or Path.cwd()) / Path(path).expanduser()).resolve()
        exists = bool(path) and found.exists()
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(f"{text} cannot be read: {error}.", EXAMPLES) from error
    if not exists:
        raise ConfigError(f"{text} does not exist.", EXAMPLES)
    return found


def _on_disk(path: Path, text: str, kind: SourceKind | None) -> SourceSpec:
    if kind is SourceKind.WORK_TREE and not (path / ".git").exists():
        raise ConfigError(f"{text} is not a git work tree.", EXAMPLES)
    if not path.is_dir() and not path.is_file():
        raise ConfigError(f"{text} is neither a file nor a folder.", EXAMPLES)
    if kind is None:
        if path.is_dir():
            kind = SourceKind.WORK_TREE if (path / ".git").exists() else SourceKind.FOLDER
        elif path.name.lower().endswith(ARCHIVES):
            kind = SourceKind.ARCHIVE
        else:
            kind = SourceKind.URLS if path.name == "urls.txt" else SourceKind.FILE
    return SourceSpec(kind, text, path)
