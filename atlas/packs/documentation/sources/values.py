"""What the user named, the limits of reading it, and what is reported meanwhile. All are frozen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


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
