"""What papers cite, as a citation service says: asked once, stored in `references.json` of the papers folder.

Without a configured service, only the stored references are used.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from atlas.core.errors import AtlasError, StoreError
from atlas.core.paper_source import CitationSource, CitedPaper
from atlas.papers.json_files import MAX_BYTES, decoded, encoded, sync, writing
from atlas.papers.record import age_in_days, now_text
from atlas.runtime.process.files import read_file, write_file

FILE = "references.json"
MAX_ASKED = 100
"""Papers that one call asks for."""
ASK_AGAIN_DAYS = 30.0
"""A paper without references is new to the service, and asked for again after this time."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer about one paper."""

    references: tuple[CitedPaper, ...]
    at: str


@dataclass(slots=True)
class _State:
    stamp: tuple[int, int, int] = (0, 0, 0)
    known: dict[str, Asked] = field(default_factory=dict[str, Asked])


class References:
    """References of stored papers. Methods block; they may be called from several threads."""

    def __init__(self, folder: Path, source: CitationSource | None) -> None:
        """Without a `source`, only stored references are used."""
        self._path, self._source = folder / FILE, source
        self._state = _State()
        self._reading, self._asking = threading.Lock(), threading.Lock()
        self.problems: list[str] = []

    def known(self) -> Mapping[str, Asked]:
        """Return what is stored, by paper: the same object while nothing changes. Raises StoreError."""
        with self._reading:
            try:
                status = self._path.lstat()
                stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
                if stamp != self._state.stamp:
                    document = decoded(self._path, read_file(self._path, MAX_BYTES), dict, self.problems)
                    self._state = _State(stamp, _asked(cast("Mapping[str, object]", document)))
            except FileNotFoundError:
                if self._state.known:
                    self._state = _State()
            except OSError as error:
                raise StoreError(f"cannot read {self._path}: {error.strerror or error}", "Check the file.") from error
            return self._state.known

    def fetch(self, ids: Sequence[str]) -> list[str]:
        """Ask for the first `MAX_ASKED` papers that are not stored yet; return what went wrong, for people."""
        if self._source is None:
            return []
        with self._asking:
            try:
                known = self.known()
                missing = [one for one in dict.fromkeys(ids) if _is_missing(known.get(one))][:MAX_ASKED]
                if missing:
                    self._add(self._source.references(missing))
            except AtlasError as error:
                return [f"citations: {error.message}"]
        return []

    def take_problems(self) -> list[str]:
        """Return what was damaged since the last call, each once."""
        found, self.problems = list(dict.fromkeys(self.problems)), []
        return found

    def close(self) -> None:
        """Ask no more; idempotent."""
        if self._source is not None:
            self._source.close()

    def _add(self, found: Mapping[str, tuple[CitedPaper, ...]]) -> None:
        folder, at = self._path.parent, now_text()
        try:
            with writing(folder):
                merged = {**self.known(), **{one: Asked(references, at) for one, references in found.items()}}
                write_file(self._path, encoded({one: _document(asked) for one, asked in merged.items()}))
                sync(folder)
        except OSError as error:
            raise StoreError(f"cannot store references in {folder}: {error.strerror or error}") from error


def _is_missing(asked: Asked | None) -> bool:
    return asked is None or (not asked.references and age_in_days(asked.at, datetime.now(UTC)) > ASK_AGAIN_DAYS)


def _document(asked: Asked) -> dict[str, object]:
    return {"asked_at": asked.at, "cites": {one.name: one.title for one in asked.references}}


def _asked(document: Mapping[str, object]) -> dict[str, Asked]:
    """Return the records that can be read."""
    found: dict[str, Asked] = {}
    for identifier, record in document.items():
        if not isinstance(record, dict):
            continue
        given = cast("dict[str, object]", record)
        cites, at = given.get("cites"), given.get("asked_at")
        if isinstance(cites, dict) and isinstance(at, str):
            pairs = cast("dict[str, object]", cites).items()
            references = [CitedPaper(name, title) for name, title in pairs if isinstance(title, str)]
            found[identifier] = Asked(tuple(one for one in references if one.name.startswith(("arxiv:", "doi:"))), at)
    return found
