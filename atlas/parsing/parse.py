"""The built-in languages, the user's own ones, and a fingerprint of both together with the parser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from atlas._parser import Languages, language_terms

BUILT_IN = Path(__file__).parents[1] / "languages"
"""Folder of the built-in languages."""

NOTE_FOLDER = ".knowledge"
"""Folder in a project whose Markdown files are notes, unless the settings name another one."""


def load_languages(folders: Sequence[Path] = (), notes: str = NOTE_FOLDER) -> Languages:
    """Return the built-in languages, overridden and extended by the folders; later folders win.

    `notes`: the folder, relative to a project's root, whose Markdown files are notes; it is scanned although hidden.

    Raises ValueError with file and position for an invalid `language.toml` or `tags.scm`.
    """
    return Languages(_all(folders), notes)


def search_terms(folders: Sequence[Path] = ()) -> list[tuple[str, list[str], list[str], list[str], list[str]]]:
    """Return (name, words, endings, declarations, constructors) of the same languages; loads no grammars.

    Raises ValueError with file and position for an invalid `language.toml`.
    """
    return language_terms(_all(folders))


def fingerprint(languages: Languages) -> str:
    """Return 32 hex digits that change with the layout of facts, the extension, and every language file."""
    return languages.fingerprint


def secrets_of(problems: Sequence[str]) -> tuple[str, ...]:
    """Return the problems of a file that describe its masked secrets: `line: secret: rule`."""
    return tuple(problem for problem in problems if ": secret: " in problem)


def with_link_problems(problems: Sequence[str], found: Sequence[str]) -> tuple[str, ...]:
    """Return the problems of a file with those that the linker has `found` in place of the ones it found before."""
    return (*(problem for problem in problems if ": note-duplicate-id: " not in problem), *found)


def _all(folders: Sequence[Path]) -> list[str]:
    return [str(folder) for folder in (BUILT_IN, *folders)]
