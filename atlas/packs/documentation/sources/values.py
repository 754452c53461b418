"""What the user named, the files that it has, the limits of reading it, and what is reported meanwhile. All are frozen.

The time that a build writes down is that of the clock, or SOURCE_DATE_EPOCH for builds that must be equal.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


VARIABLE = "SOURCE_DATE_EPOCH"
"""Seconds since 1970, the convention of reproducible builds (https://reproducible-builds.org/specs/source-date-epoch/)."""


class SourceKind(StrEnum):
    """Where documents come from."""

    FOLDER = "folder"
    FILE = "file"
    WORK_TREE = "git"
    INSTALLED = "installed"
    ARCHIVE = "archive"
    PYPI = "pypi"
    NPM = "npm"
    CRATE = "crate"
    URL = "url"
    URLS = "urls"
    SITEMAP = "sitemap"


WEB = frozenset((SourceKind.URL, SourceKind.URLS, SourceKind.SITEMAP))
REGISTRIES = frozenset((SourceKind.PYPI, SourceKind.NPM, SourceKind.CRATE))


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """One source."""

    kind: SourceKind
    text: str
    """As the user wrote it."""
    path: Path = Path()
    """Absolute, of sources on disk."""
    url: str = ""
    name: str = ""
    """Of packages."""
    version: str = ""
    """Of packages; "" asks a registry for the newest."""


@dataclass(frozen=True, slots=True)
class CollectOptions:
    """Limits and choices of a collection; the defaults suit one library."""

    max_files: int = 20_000
    max_file_bytes: int = 32 << 20
    max_total_bytes: int = 1 << 30
    """Of one source, unpacked."""
    max_memory: int = 128 << 20
    """Bytes that the documents of one source hold when they are read, which a build multiplies by seven."""
    code: bool = True
    """Signatures and docstrings of a package's own code join its documentation."""
    language: str = "en"
    """Translations in folders next to one with this name are left out."""
    site_packages: tuple[Path, ...] = ()
    """Folders in which `installed:NAME` looks; the environment of this program if there are none."""
    mask_secrets: bool = True
    state: Path | None = None
    """Folder for the state of crawls, so that they go on after a stop; without it a crawl begins again."""
    max_pages: int = 2_000
    max_depth: int = 8
    max_page_bytes: int = 10 << 20
    delay: float = 0.2
    """Seconds between two requests to a host, at least; robots.txt can ask for more."""
    max_delay: float = 10.0
    """Upper limit of a robots.txt's Crawl-delay."""
    timeout: float = 30.0
    """Seconds for one request."""
    retries: int = 3
    backoff: float = 1.0
    """Seconds before the first repetition, doubled for each further one."""
    parallel: int = 4
    hosts: tuple[str, ...] = ()
    """Further hosts whose pages are followed."""
    below: bool = True
    """Follow only pages below the folder of the start URL."""
    max_pages_per_pattern: int = 500
    """Pages whose paths differ only in numbers, such as those of a calendar."""
    ignore_robots: bool = False
    refresh: bool = False
    """Ask again for pages that the state already has, with their ETag or Last-Modified."""


@dataclass(frozen=True, slots=True)
class CollectProgress:
    """What a collection is doing."""

    source: str
    phase: str
    """download, fetch, read, or done."""
    done: int = 0
    total: int = 0
    """Known so far; 0 if unknown."""
    current: str = ""
    problem: str = ""
    """Why `current` is left out; "" if it is not."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One document that a collection would read, or why it would not."""

    source: str
    key: str
    size: int = 0
    """Bytes; 0 if unknown."""
    skipped: str = ""
    """Reason; "" if it would be read."""
    is_archive: bool = False
    """The archive of a package, which a plan does not download: what it holds is not known."""


def build_time() -> str:
    """Return the time in UTC, ISO 8601."""
    stated = os.environ.get(VARIABLE, "").strip()
    seconds = int(stated) if stated.isdecimal() and len(stated) <= 11 else None
    now = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(seconds, UTC)
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A regular file."""

    path: str
    """Below the root, with "/"."""
    size: int


class Tree(Protocol):
    """Files of a source. `problems` are entries that were refused, with the reason."""

    version: str
    licence: str
    package: bool
    problems: list[tuple[str, str]]

    def entries(self) -> Sequence[SourceFile]:
        """Return all files, sorted by path. Raises ConfigError for a source that cannot be read."""
        ...

    def read(self, wanted: Sequence[str], max_bytes: int) -> Iterator[tuple[str, bytes, bool]]:
        """Yield path, bytes and whether there were more than the limit, of the wanted files in any order."""
        ...
