"""The contracts of services for papers, and of the stored papers that lineage crosses.

`atlas/adapters/paper_services/` implements the services, `atlas/papers/` the stored papers.

Texts of a paper come from strangers: they are shown, never followed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from atlas.core.lazy_regex import lazy_regex

SORTS = ("relevance", "submitted", "updated")
"""How a service may sort; dates come newest first."""

ARXIV_ID = lazy_regex(
    r"(?:\d{2}(?:0[1-9]|1[0-2])\.\d{4,5}|[a-z][a-z-]{1,15}(?:\.[A-Za-z-]{2,16})?/\d{2}(?:0[1-9]|1[0-2])\d{3})(?:v[1-9]\d{0,3})?"
)
"""An identifier of arXiv, new (2107.05580v1) or before 2007 (quant-ph/0201082)."""

DOI = lazy_regex(r"10\.\d{4,9}/[^\s\"<>{}|\\^`\[\]]{1,200}")

MAX_REFERENCES = 1_000
"""References of one paper that are kept."""

MAX_LINKS = 200
"""Links of one paper that lineage follows."""

_VERSION = lazy_regex(r"v(\d+)$")


@dataclass(frozen=True, slots=True)
class Paper:
    """What a service says about a paper. Dates are ISO 8601; "" and 0 = unknown."""

    id: str
    """Identifier without version."""
    title: str
    authors: tuple[str, ...] = ()
    summary: str = ""
    url: str = ""
    pdf_url: str = ""
    published: str = ""
    updated: str = ""
    version: int = 0
    primary_category: str = ""
    categories: tuple[str, ...] = ()
    doi: str = ""
    journal_ref: str = ""
    comment: str = ""
    is_withdrawn: bool = False

    @property
    def venue(self) -> str:
        """The journal, else the primary category."""
        return self.journal_ref or self.primary_category


@dataclass(frozen=True, slots=True)
class PaperRequest:
    """A search. Dates are YYYY-MM-DD and inclusive; empty fields do not restrict it."""

    topic: str = ""
    author: str = ""
    category: str = ""
    since: str = ""
    until: str = ""
    sort: str = "relevance"
    ids: tuple[str, ...] = ()
    """Exactly these papers; nothing else is then searched for."""


class PaperSource(Protocol):
    """A service that finds papers. Methods may be called from several threads; they block."""

    @property
    def place(self) -> str:
        """Where requests are sent, for people."""
        ...

    def find(self, request: PaperRequest, most: int) -> Sequence[Paper]:
        """Return at most `most` papers, each once, best first.

        Raises Unavailable when the service does not answer, and ConfigError when it rejects the request or the library
        that talks to it is missing.
        """
        ...

    def close(self) -> None:
        """Let running requests end soon and start no more; idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class CitedPaper:
    """A paper that another one cites, named as in the graph: `arxiv:ID` or `doi:DOI`."""

    name: str
    title: str = ""


class CitationSource(Protocol):
    """A service that knows what papers cite. Methods may be called from several threads; they block."""

    @property
    def place(self) -> str:
        """Where requests are sent, for people."""
        ...

    def references(self, ids: Sequence[str]) -> Mapping[str, tuple[CitedPaper, ...]]:
        """Return what each of these papers of arXiv cites, () for those that the service does not know.

        Raises Unavailable when the service does not answer, and ConfigError when a library or its key is missing.
        """
        ...

    def close(self) -> None:
        """Start no more requests; idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class PaperLink:
    """How two papers are connected. Papers are named as in the graph: `arxiv:ID` or `doi:DOI`."""

    source: str
    target: str
    relation: str
    """`CITES`, or `SAME_PAPER` between the identifier of arXiv and the DOI of one paper."""


class PaperLinks(Protocol):
    """What the stored papers say about papers that notes name. Methods block, and raise StoreError."""

    def titles(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return the titles of those papers that are stored."""
        ...

    def links(self, names: Sequence[str]) -> Sequence[PaperLink]:
        """Return the links from or to any of these papers, at most `MAX_LINKS` per paper."""
        ...


def split_version(identifier: str) -> tuple[str, int]:
    """Return an identifier without its version, and the version (0 = none)."""
    found = _VERSION.search(identifier)
    return (identifier[: found.start()], int(found[1])) if found else (identifier, 0)


def named(identifier: str, arxiv: str = "arXiv") -> str:
    """Return an identifier as citations write it: `arXiv:1706.03762`, `doi:10.1000/xyz`."""
    return f"doi:{identifier}" if DOI.fullmatch(identifier) else f"{arxiv}:{identifier}"
