"""The built-in languages, the user's own ones, a fingerprint of both with the parser, and its token counter."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from atlas import _parser
from atlas._parser import Excerpts, Languages, count_tokens, language_terms

BUILT_IN = Path(__file__).parents[1] / "languages"
"""Folder of the built-in languages."""

Terms: TypeAlias = tuple[str, list[str], list[str], list[str], list[str], str]

NOTE_FOLDER = ".knowledge"
"""Folder in a project whose Markdown files are notes, unless the settings name another one."""


def load_languages(
    folders: Sequence[Path] = (), notes: str = NOTE_FOLDER, detectors: Sequence[tuple[str, str]] = ()
) -> Languages:
    """Return the built-in languages, overridden and extended by the folders; later folders win.

    `notes`: the folder, relative to a project's root, whose Markdown files are notes; it is scanned although hidden.
    `detectors`: (name, TOML text) of rules for routes and events.

    The same ones, which take 0.05 CPU s to load, are shared while no file of a language changes.

    Raises ValueError with file and position for an invalid `language.toml` or `tags.scm`.
    """
    return _languages(tuple(_all(folders)), notes, tuple(detectors), language_files_state(folders, notes))


@lru_cache(maxsize=4)
def _languages(folders: tuple[str, ...], notes: str, detectors: tuple[tuple[str, str], ...], _state: str) -> Languages:
    return Languages(folders, notes, detectors)


def search_terms(folders: Sequence[Path] = ()) -> Sequence[Terms]:
    """Return (name, words, endings, declarations, constructors, form) of the same languages; loads no grammars.

    Raises ValueError with file and position for an invalid `language.toml`.
    """
    return _terms(tuple(_all(folders)), language_files_state(folders))


@lru_cache(maxsize=4)
def _terms(folders: tuple[str, ...], _state: str) -> Sequence[Terms]:
    return language_terms(folders)


def make_excerpts(folders: Sequence[Path] = ()) -> Excerpts:
    """Return what divides sources of the same languages; loads a language when it is needed."""
    return Excerpts(_all(folders))


def fingerprint(languages: Languages) -> str:
    """Return 32 hex digits that change with the layout of facts, the extension, and every language file."""
    return languages.fingerprint


def language_files_state(folders: Sequence[Path] = (), notes: str = NOTE_FOLDER) -> str:
    """Return 32 hex digits that change with the folder of notes, the extension or a language file; reads no content."""
    found = hashlib.blake2b(notes.encode("utf8", "surrogateescape"), digest_size=16)
    for file in (str(_parser.__file__), *(file for folder in _all(folders) for file in _files_below(folder, 2))):
        with contextlib.suppress(OSError):
            status = os.stat(file)  # noqa: PTH116 a hundred files before the first answer
            stamp = f"{file}\0{status.st_ino} {status.st_size} {status.st_ctime_ns}\n"
            found.update(stamp.encode("utf8", "surrogateescape"))
    return found.hexdigest()


def secrets_of(problems: Sequence[str]) -> tuple[str, ...]:
    """Return the problems of a file that describe its masked secrets: `line: secret: rule`."""
    return tuple(problem for problem in problems if ": secret: " in problem)


def with_link_problems(problems: Sequence[str], found: Sequence[str]) -> tuple[str, ...]:
    """Return the problems of a file with those that the linker has `found` in place of the ones it found before."""
    return (*(problem for problem in problems if ": note-duplicate-id: " not in problem), *found)


def _all(folders: Sequence[Path]) -> list[str]:
    return [str(folder) for folder in (BUILT_IN, *folders)]


def _files_below(folder: str, levels: int) -> Iterator[str]:
    """Yield the entries of a folder and of those in it, each folder before its own; links are followed."""
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(folder)):  # noqa: PTH208
            yield (path := f"{folder}/{name}")
            if levels > 1:
                yield from _files_below(path, levels - 1)


class Cl100kCounter:
    """Implements `contracts.TokenCounter` for the encoding cl100k_base."""

    @property
    def encoding(self) -> str:
        """Name of the encoding."""
        return "cl100k_base"

    def count(self, text: str) -> int:
        """Return the exact number of tokens."""
        return count_tokens(text)
