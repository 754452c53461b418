"""The definitions of one text, as rows of the graph without edges: for versions of a file that are not indexed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from atlas._parser import Languages, Linker, content_digest, parse_bytes
from atlas.core.model import NodeRow
from atlas.parsing.clients import ClientCall, call_shapes, client_packages, marked, read_client_calls, rules_by_name
from atlas.parsing.parse import NOTE_FOLDER, load_languages
from atlas.parsing.together import CrossEdge, LinkedTree, link_together

_PROJECT = "outline"
TIMEOUT_MS = 500
"""CPU time for one text; what was read by then stays."""
MAX_KEPT_ROWS, MAX_KEPT_TEXTS = 10_000, 500
"""Outlines that are kept: the old versions of a branch's files are asked for again and again."""


class OutlineReader:
    """Makes outlines; the languages are loaded by the first one. Safe to use from several threads."""

    def __init__(
        self,
        folders: Sequence[Path] = (),
        notes: str = NOTE_FOLDER,
        rules: Callable[[], Sequence[tuple[str, str]]] = list,
    ) -> None:
        """`rules`: those for clients, routes and events, by name; read when client calls are asked for."""
        self._folders, self._notes, self._rules = folders, notes, rules
        self._clients: Languages | None = None
        self._languages: Languages | None = None
        self._kept: OrderedDict[tuple[str, str], list[NodeRow]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def __call__(self, path: str, content: bytes) -> list[NodeRow]:
        """Return the rows of a file with this path and content; none for a file of no known language.

        Spans and digests are those of the graph. Qualified names may differ from it in what other files decide: the
        name of the module. Raises ValueError for an invalid language.
        """
        key = (path, self.digest(content))
        languages = self.languages()
        with self._lock:
            if (known := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return known
        rows = self._rows(languages, path, content)
        with self._lock:
            self._size += len(rows) - len(self._kept.get(key, ()))
            self._kept[key] = rows
            while self._size > MAX_KEPT_ROWS or len(self._kept) > MAX_KEPT_TEXTS:
                self._size -= len(self._kept.popitem(last=False)[1])
        return rows

    def link(self, user: LinkedTree, provider: LinkedTree) -> list[CrossEdge]:
        """Return the edges of one tree's files that end at definitions of another one; see `link_together`.

        Raises TimeoutError.
        """
        return link_together(self.languages(), user, provider)

    @property
    def client_languages(self) -> frozenset[str]:
        """The languages that have clients with calls by URL."""
        return frozenset(language for queries in call_shapes(self._rules()).values() for language in queries)

    @property
    def client_packages(self) -> frozenset[str]:
        """The names of packages whose objects are clients."""
        return client_packages(self._rules())

    def client_calls(self, files: Mapping[str, bytes]) -> list[ClientCall]:
        """Return the calls by URL in files, those of a parameter alone too. Raises TimeoutError, ValueError."""
        return read_client_calls(self._for_clients(), files)

    def calls_by_name(
        self, files: Mapping[str, bytes], names: Sequence[tuple[str, str, int, int, str]]
    ) -> list[ClientCall]:
        """Return the calls of functions and methods as calls by URL; see `rules_by_name`. Raises TimeoutError."""
        rules = rules_by_name(call_shapes(self._rules()), names)
        return read_client_calls(self.languages().with_own_rules(rules), files)

    def _for_clients(self) -> Languages:
        with self._lock:
            if self._clients is None:
                self._clients = load_languages(self._folders, self._notes, marked(self._rules()))
            return self._clients

    @property
    def fingerprint(self) -> str:
        """The parser and its languages: rows of an index that others have made may have other digests."""
        return self.languages().fingerprint

    def digest(self, content: bytes) -> str:
        """Return the digest of a text as in `FileRecord.digest`."""
        return content_digest(content)

    def languages(self) -> Languages:
        """Return the languages, loaded with the first call. Raises ValueError for an invalid one."""
        with self._lock:
            if self._languages is None:
                self._languages = load_languages(self._folders, self._notes)
            return self._languages

    def _rows(self, languages: Languages, path: str, content: bytes) -> list[NodeRow]:
        if languages.of_path(path) is None:
            return []
        parsed = parse_bytes(languages, path, content, timeout_ms=TIMEOUT_MS)
        if parsed.skip_reason:
            return []
        linker = Linker(_PROJECT, languages)
        linker.update([parsed])
        return [NodeRow._make(row) for row in linker.unit(path).nodes()]
