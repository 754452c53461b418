"""Lines of a project's files as they are on disk: exact texts and regular expressions, matched by the Rust extension.

Searched are the files that a scan would index and the texts that it leaves out (other languages, data, bundles, files
over the size limit); never what ignore rules exclude, secret files, hidden files, links, and what is outside the root.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from atlas._parser import Languages, LineSearch, paths_that_differ, stamps
from atlas.core.errors import ConfigError
from atlas.parsing.scanning import Scope, scan_project

MAX_FILE_BYTES = 20 << 20
MAX_LINES = 100_000
"""Matching lines that are counted."""
TIMEOUT_MS = 5_000
RACY_NS = 2_000_000_000
"""A folder that changed so recently may change again within the same time stamp."""
_IGNORE_FILES = (".gitignore", ".atlasignore")
_TEXTS = frozenset(("language", "too-large", "data", "plain-text", "minified", "generated", "vendored", "lock-file"))
"""Reasons of a scan to leave out a file that may be text."""


class TextFile(NamedTuple):
    """A file that can be searched."""

    path: str
    language: str
    """"" for one that a scan leaves out."""


@dataclass(frozen=True, slots=True)
class MatchedFile:
    """A file with matching lines: how many there are, and number and text of the first of them."""

    path: str
    count: int
    lines: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class MatchedLines:
    """The files with matching lines, in the order in which they were searched."""

    files: tuple[MatchedFile, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Files left out by reason: `binary`, `lfs`, `too-large`, `unreadable`, `secrets`."""
    unread: int = 0
    """Files not read to the end, because time or the number of lines ran out."""

    @property
    def count(self) -> int:
        """All matching lines; a lower bound if files are unread."""
        return sum(file.count for file in self.files)


class TreeLines:
    """Searches the tree of one project. Safe to use from several threads; every call reads the files on disk.

    The list of files is kept until a folder, an ignore file or what `rules` returns has changed: the scan of a large
    tree takes as long as the search.
    """

    def __init__(
        self,
        root: Path,
        languages: Callable[[], Languages],
        scope: Callable[[], Scope],
        rules: Callable[[Sequence[str]], object] = lambda _: None,
    ) -> None:
        """`rules`: the state of the rules outside the scanned folders, given the repositories in the tree."""
        self._root, self._languages, self._scope, self._rules = root, languages, scope, rules
        self._search = LineSearch()
        self._lock = threading.Lock()
        self._files: list[TextFile] = []
        self._repositories: Sequence[str] = ()
        self._known: tuple[object, str, bytes] | None = None
        """Scope and rules, the watched paths, one a line, and their stamps."""

    def files(self) -> list[TextFile]:
        """Return the files that can be searched, sorted by path. Raises ConfigError for an unreadable root."""
        with self._lock:
            root, young = str(self._root), time.time_ns() - RACY_NS
            scope = self._scope()
            rules = repr((scope, self._rules(self._repositories)))
            if self._known is not None and self._known[0] == rules:
                _, watched, known = self._known
                if not paths_that_differ(root, watched, known, young):
                    return self._files
            scan = scan_project(self._root, self._languages(), scope)
            left_out = [each.path for each in scan.skipped if each.reason in _TEXTS and not each.path.endswith("/")]
            self._files = sorted(
                [
                    *(TextFile(each.path, each.language) for each in scan.files),
                    *(TextFile(path, "") for path in left_out),
                ]
            )
            ignoring = (each.path for each in (*scan.files, *scan.skipped) if each.path.endswith(_IGNORE_FILES))
            watched = "\n".join((*scan.folders, *ignoring))
            self._repositories = scan.repositories
            rules = repr((scope, self._rules(self._repositories)))
            self._known = rules, watched, stamps(root, watched, young)
            return self._files

    def matching(
        self, paths: Sequence[str], patterns: Sequence[str], *, is_regex: bool = False, keep: int = 0
    ) -> MatchedLines:
        """Return the lines of these files with one of the exact texts, or with a match of the one expression.

        `keep`: lines of each file that are returned; the others are counted. Secrets in the files are masked first.
        Raises ConfigError for an invalid pattern, with its position, and for an unreadable root.
        """
        limits = {"max_bytes": MAX_FILE_BYTES, "max_lines": MAX_LINES, "timeout_ms": TIMEOUT_MS}
        try:
            files, skipped, unread = self._search.search(
                str(self._root), paths, patterns, is_regex=is_regex, keep=keep, **limits
            )
        except ValueError as error:
            message, at = error.args
            where = f" at character {at}" if at else ""
            kind, hint = ("regular expression", _REGEX_HINT) if is_regex else ("text", _EXACT_HINT)
            raise ConfigError(f"invalid {kind}{where}: {message}", hint) from error
        except OSError as error:
            raise ConfigError(f"{self._root} cannot be read: {error.strerror or error}") from error
        matched = (MatchedFile(path, count, tuple(lines)) for path, count, lines in files)
        return MatchedLines(tuple(matched), dict(skipped), unread)


_REGEX_HINT = "escape ( [ { . * + ? | with a backslash, or use mode exact; there is no look-around and no backreference"
_EXACT_HINT = "give one line of it"
