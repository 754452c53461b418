"""Filters of papers: topic, author, category or venue, and dates. Strings come in, checked values go out.

The name of a topic's folder has letters and digits of any script, `_` for all else, and is never a path.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from atlas.core.errors import ConfigError
from atlas.core.invisible import normal_form
from atlas.core.lazy_regex import lazy_regex
from atlas.core.paper_source import ARXIV_ID, DOI, SORTS, Paper, PaperRequest, split_version
from atlas.parsing import papers_named_in

MAX_FIELD = 200
MAX_NAMED = 20
"""Papers of one source, as in the graph."""

_CATEGORY = lazy_regex(r"[a-z][a-z-]{1,15}(?:\.[A-Za-z-]{2,16}|\.\*)?")

MAX_TOPIC = 300
"""Characters of a topic."""
_MAX_NAME_BYTES = 120
"""Half of what file systems allow, so that names of damaged files fit as well."""
_OTHER = lazy_regex(r"[\W_]+")
_PATH = lazy_regex(r"^\s*[/\\~]|(?:^|[/\\])\s*\.{1,2}\s*(?:[/\\]|$)|^[A-Za-z]:[/\\]")
_RESERVED = lazy_regex(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.I)
BY_ID = "papers_by_id"
"""Folder of papers that were asked for by their identifiers."""


@dataclass(frozen=True, slots=True)
class PaperFilter:
    """Which stored papers are meant; empty fields do not restrict. `venue` is part of a journal or category."""

    author: str = ""
    category: str = ""
    venue: str = ""
    since: str = ""
    until: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is restricted."""
        return not (self.author or self.category or self.venue or self.since or self.until)

    def test(self) -> Callable[[Paper], bool]:
        """Return the test of a paper. Names match without regard to case and accents."""
        author, venue = _folded(self.author), _folded(self.venue)
        names = author.split()
        category = self.category.removesuffix("*")

        def is_wanted(paper: Paper) -> bool:
            published = paper.published[:10]
            # of a paper whose month or day is unknown, the year may be late enough
            if self.since and (not published or published < self.since[: len(published)]):
                return False
            if self.until and (not paper.published or paper.published[:10] > self.until):
                return False
            if category and not any(_in_category(one, category) for one in (paper.primary_category, *paper.categories)):
                return False
            if venue and venue not in _folded(f"{paper.journal_ref} {paper.primary_category}"):
                return False
            return not names or any(all(name in _folded(one) for name in names) for one in paper.authors)

        return is_wanted


def checked_filter(
    author: str = "", category: str = "", since: str = "", until: str = "", venue: str = ""
) -> PaperFilter:
    """Return checked filters. Raises ConfigError that names the wrong one."""
    for name, value in (("author", author), ("category", category), ("venue", venue)):
        if len(value) > MAX_FIELD or any(unicodedata.category(one) == "Cc" for one in value):
            raise ConfigError(f"{name} is too long or has control characters", "Give one line.")
    if category and not _CATEGORY.fullmatch(category):
        raise ConfigError(f"{category[:80]!r} is not a category of arXiv", "For example: cs.LG, math.AG, cs.*")
    first, last = checked_date("since", since), checked_date("until", until)
    if first and last and first > last:
        raise ConfigError(f"since ({first}) is after until ({last})", "Swap them.")
    return PaperFilter(" ".join(author.split()), category, " ".join(venue.split()), first, last)


def checked_request(topic: str, wanted: PaperFilter, sort: str) -> PaperRequest:
    """Return a request to a service. Raises ConfigError for an unknown order."""
    if sort not in SORTS:
        raise ConfigError(f"sort must be one of {', '.join(SORTS)}, not {sort[:40]!r}", "Default: relevance.")
    words = " ".join(topic.split())
    return PaperRequest(words, wanted.author, wanted.category, wanted.since, wanted.until, sort)


def checked_date(name: str, text: str) -> str:
    """Return a date as YYYY-MM-DD; a year or a month means its first or (until) last day. Raises ConfigError."""
    written = text.strip()
    if not written:
        return ""
    try:
        if re.fullmatch(r"\d{4}", written):
            written += "-12-31" if name == "until" else "-01-01"
        elif re.fullmatch(r"\d{4}-\d\d", written):
            year, month = map(int, written.split("-"))
            last = date(year + month // 12, month % 12 + 1, 1).toordinal() - 1
            return date.fromordinal(last).isoformat() if name == "until" else date(year, month, 1).isoformat()
        if re.fullmatch(r"\d{4}-\d\d-\d\d", written):
            return date.fromisoformat(written).isoformat()
    except ValueError:
        pass
    raise ConfigError(f"{name} must be a date as YYYY-MM-DD, YYYY-MM or YYYY, not {text[:40]!r}", "For example: 2024.")


def paper_id(text: str) -> str:
    """Return the identifier in `2107.05580v1`, `arxiv:2107.05580`, or an address of arXiv, without version.

    Of another paper it is the DOI. Raises ConfigError for anything else.
    """
    other = re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s{0,3})", "", text.strip()[:300], flags=re.I).lower()
    if DOI.fullmatch(other) and not other.startswith("10.48550/arxiv."):
        return other
    written = re.sub(r"^(?:https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf)/|arxiv:\s*|doi:10\.48550/arxiv\.|"
                     r"(?:https?://(?:dx\.)?doi\.org/)?10\.48550/arxiv\.)", "", text.strip(), flags=re.I)  # fmt: skip
    written = written.removesuffix(".pdf")
    if not ARXIV_ID.fullmatch(written):
        raise ConfigError(
            f"{text[:80]!r} is not an identifier of arXiv", "For example: 1706.03762, hep-th/9711200 or a DOI."
        )
    return split_version(written)[0]


def is_source(source: str, identifier: str) -> bool:
    """Return whether the source of a note names a paper, in whatever form."""
    return f"arxiv:{identifier}" in papers_named_in(source, MAX_NAMED)


def _in_category(written: str, wanted: str) -> bool:
    return written == wanted or written.startswith(wanted if wanted.endswith(".") else f"{wanted}.")


@lru_cache(65_536)
def _folded(text: str) -> str:
    if text.isascii():
        return text.casefold()
    parts = normal_form(text.casefold(), "NFKD")
    return "".join(one for one in parts if not unicodedata.combining(one))


def topic_folder(topic: str) -> str:
    """Return the name of a topic's folder. Raises ConfigError for a topic without words, a path, or a long one."""
    if _PATH.search(topic) or "\0" in topic:
        raise ConfigError(f"a topic is words, not a path: {topic[:80]!r}", 'For example: "graph neural networks".')
    if len(topic) > MAX_TOPIC:
        raise ConfigError(f"the topic has {len(topic):,} characters; at most {MAX_TOPIC} are allowed", "Shorten it.")
    folded = normal_form(topic, "NFKC").casefold()
    name = _OTHER.sub("_", normal_form(folded)).strip("_")
    if not name:
        raise ConfigError("the topic has no words", 'For example: "graph neural networks".')
    if _RESERVED.fullmatch(name):
        name += "_"
    if len(name.encode()) > _MAX_NAME_BYTES:
        digest = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
        name = f"{name.encode()[: _MAX_NAME_BYTES - 9].decode(errors='ignore').rstrip('_')}_{digest}"
    return name
