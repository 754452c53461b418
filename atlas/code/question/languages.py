"""Search terms of all languages: the `[search]` tables of `language.toml`, merged into one value. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from atlas.core.model import Node


class LanguageRow(NamedTuple):
    """The search terms of one language; see `[search]` in `atlas/languages/README.md`."""

    name: str
    words: list[str]
    endings: list[str]
    declarations: list[str]
    constructors: list[str]
    form: str = "code"
    """`code`, `document`, or for files that are indexed as windows of lines: `source` of programs, or `text`."""


@dataclass(frozen=True, slots=True)
class LanguageTerms:
    """The merged search terms of all languages."""

    words: Mapping[str, str]
    """Language by the lower-case word that names it in a question."""
    path: re.Pattern[str]
    """Matches a path, or a file name with the extension of a language; group 1 is its text."""
    declarations: tuple[str, ...]
    """Extensions, with the dot, of files that only declare symbols that other files define."""
    constructors: frozenset[str]
    """Names of constructors, which count as their class."""
    forms: Mapping[str, str] = field(default_factory=dict[str, str])
    """Form by language."""

    def is_windowed(self, language: str) -> bool:
        """Return whether files of the language are indexed as windows of lines, without definitions."""
        return self.forms.get(language) in ("source", "text")


def language_terms(rows: Iterable[LanguageRow]) -> LanguageTerms:
    """Return the merged search terms of the languages."""
    rows = list(rows)
    endings = sorted({ending for row in rows for ending in row.endings}, key=lambda ending: (-len(ending), ending))
    names = rf"|[\w-]+\.(?:{'|'.join(map(re.escape, endings))})" if endings else ""
    return LanguageTerms(
        words={word: row.name for row in rows for word in row.words},
        path=re.compile(rf"(?<![\w/.-])((?:[\w.@+-]+/)+[\w.@+-]+{names})(?![\w/])"),
        declarations=tuple(sorted({f".{ending}" for row in rows for ending in row.declarations})),
        constructors=frozenset(name for row in rows for name in row.constructors),
        forms={row.name: row.form for row in rows},
    )


def is_declaration(node: Node, languages: LanguageTerms) -> bool:
    """Return whether a node only declares a symbol that is defined elsewhere."""
    return "declaration" in node.row.modifiers.split() or node.row.path.endswith(languages.declarations)
