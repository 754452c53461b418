"""What the languages say about questions and hits: the `[search]` tables of `language.toml` as one value. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class LanguageRow(NamedTuple):
    """What one language says; see `[search]` in `atlas/languages/README.md`."""

    name: str
    words: list[str]
    endings: list[str]
    declarations: list[str]
    constructors: list[str]


@dataclass(frozen=True, slots=True)
class LanguageTerms:
    """What all languages say together."""

    words: Mapping[str, str]
    """Words of a question, in lower case, that name a language."""
    path: re.Pattern[str]
    """A path, or a file name with an ending of a language; group 1 is its text."""
    declarations: tuple[str, ...]
    """Endings, with the dot, of files that only declare what other files define."""
    constructors: frozenset[str]
    """Names of methods that stand for their class."""


def language_terms(rows: Iterable[LanguageRow]) -> LanguageTerms:
    """Return what the languages say together."""
    rows = list(rows)
    endings = sorted({ending for row in rows for ending in row.endings}, key=lambda ending: (-len(ending), ending))
    names = rf"|[\w-]+\.(?:{'|'.join(map(re.escape, endings))})" if endings else ""
    return LanguageTerms(
        words={word: row.name for row in rows for word in row.words},
        path=re.compile(rf"(?<![\w/.-])((?:[\w.@+-]+/)+[\w.@+-]+{names})(?![\w/])"),
        declarations=tuple(sorted({f".{ending}" for row in rows for ending in row.declarations})),
        constructors=frozenset(name for row in rows for name in row.constructors),
    )
