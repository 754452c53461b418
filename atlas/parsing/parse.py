"""The languages that ship with Code Atlas, the user's own ones, and a name for both together with the parser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from atlas._parser import Languages, language_terms

BUILT_IN = Path(__file__).parents[1] / "languages"
"""Folder of the languages that ship with Code Atlas."""


def load_languages(folders: Sequence[Path] = ()) -> Languages:
    """Return the built-in languages, overridden and extended by the folders, later ones winning.

    Raises ValueError with file and place when a `language.toml` or `tags.scm` is wrong.
    """
    return Languages(_all(folders))


def search_terms(folders: Sequence[Path] = ()) -> list[tuple[str, list[str], list[str], list[str], list[str]]]:
    """Return (name, words, endings, declarations, constructors) of the same languages, without loading grammars.

    Raises ValueError with file and place when a `language.toml` is wrong.
    """
    return language_terms(_all(folders))


def fingerprint(languages: Languages) -> str:
    """Return 32 hex digits that change with the layout of facts, the extension, and anything that the languages say."""
    return languages.fingerprint


def secrets_of(problems: Sequence[str]) -> tuple[str, ...]:
    """Return those of a file's problems that say what is masked in all that was made from it: `line: secret: rule`."""
    return tuple(problem for problem in problems if ": secret: " in problem)


def _all(folders: Sequence[Path]) -> list[str]:
    return [str(folder) for folder in (BUILT_IN, *folders)]
