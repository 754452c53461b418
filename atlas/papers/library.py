"""The stored papers: `{topic}/papers_info.json` with id -> paper, and `{topic}/searches.json` with what was asked.

A damaged file is moved aside and the rest is served; a damaged record stays in its file and is not served. Writers of
several processes take turns at a lock file, readers see the old file or the new one.
"""

from __future__ import annotations

import contextlib
import errno
import operator
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from atlas.core.errors import NotFound, StoreError
from atlas.core.paper_source import Paper, PaperRequest
from atlas.core.wording import counted
from atlas.papers.json_files import MAX_BYTES, decoded, encoded, sides_of_conflicts, sync, writing
from atlas.papers.record import SavedSearch, newer, now_text, paper_document, paper_from, search_document, search_from
from atlas.papers.wanted import topic_folder
from atlas.runtime.process.files import read_file, write_file

PAPERS_FILE = "papers_info.json"
SEARCHES_FILE = "searches.json"

MAX_SEARCHES = 500
"""Searches kept per topic; the oldest go first."""

_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Shelf:
    """The content of a topic's folder: papers in the order of the file, and records that cannot be read."""

    topic: str
    papers: Mapping[str, Paper] = field(default_factory=dict[str, Paper])
    stored: Mapping[str, str] = field(default_factory=dict[str, str])
    """When each paper was stored."""
    damaged: Mapping[str, Any] = field(default_factory=dict[str, Any])
    stamp: _Stamp = (0, 0, 0)
    is_conflicted: bool = False
    """Whether the file has conflicts of git."""


class PaperLibrary:
    """Papers in a folder. Files are read once and again when they change. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        """Take a folder, which the first write creates."""
        self.folder = folder
        self.problems: list[str] = []
        """What was damaged or could not be read, for people; emptied by `take_problems`."""
        self._shelves: dict[str, Shelf] = {}
        self._merged: tuple[list[Shelf], dict[str, Paper]] = ([], {})
        self._reading = threading.RLock()

    def topics(self) -> list[str]:
        """Return the names of the topics' folders, sorted. Links and hidden folders do not count."""
        try:
            names = [entry.name for entry in os.scandir(self.folder) if entry.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"cannot read {self.folder}: {error.strerror}", "Check papers.folder.") from error
        return sorted(name for name in names if not name.startswith("."))

    def stamps(self) -> dict[str, tuple[int, int, int]]:
        """Return what tells a topic's file from an earlier one, without reading it."""
        found: dict[str, _Stamp] = {}
        with contextlib.suppress(StoreError):
            for name in self.topics():
                with contextlib.suppress(OSError):
                    found[name] = _stamp(self.folder / name / PAPERS_FILE)
        return found

    def shelf(self, topic: str) -> Shelf:
        """Return the content of a topic, empty without a file. Raises StoreError for one that cannot be read."""
        return self._shelf_at(topic_folder(topic))

    def _shelf_at(self, name: str) -> Shelf:
        path = self.folder / name / PAPERS_FILE
        with self._reading:
            known = self._shelves.get(name)
            try:
                stamp = _stamp(path)
                if known is not None and known.stamp == stamp:
                    return known
                content = read_file(path, MAX_BYTES)
            except FileNotFoundError:
                return Shelf(name)
            except OSError as error:
                raise StoreError(f"cannot read {path}: {error.strerror or error}", "Check the file.") from error
            document = decoded(path, content, dict, self.problems)
            is_conflicted = sides_of_conflicts(content) is not None
            shelf = self._shelves[name] = replace(_shelf(name, document, stamp), is_conflicted=is_conflicted)
            if shelf.damaged:
                self.problems.append(f"{path} has {counted(len(shelf.damaged), 'damaged record')}: kept, not served")
            return shelf

    def existing(self, topic: str) -> Shelf:
        """Return the content of a stored topic. Raises NotFound with similar names."""
        import difflib

        names = self.topics()
        name = topic if topic in names else topic_folder(topic)
        if name not in names:
            near = difflib.get_close_matches(name, names, 3, 0.5)
            raise NotFound(f"no papers are stored for the topic {topic[:80]!r}", "Search for it first.", near)
        return self._shelf_at(name)

    def shelves(self, topic: str = "") -> list[Shelf]:
        """Return one topic, or all; one that cannot be read is a problem and left out."""
        if topic:
            return [self.existing(topic)]
        found: list[Shelf] = []
        for name in self.topics():
            try:
                found.append(self._shelf_at(name))
            except StoreError as error:
                self.problems.append(error.message)
        return found

    def papers(self, topic: str = "") -> dict[str, Paper]:
        """Return the papers of a topic, or all; of a paper in several topics its latest version."""
        shelves = self.shelves(topic)
        if len(shelves) == 1:
            return dict(shelves[0].papers)
        known_shelves, known_papers = self._merged
        if len(known_shelves) == len(shelves) and all(map(operator.is_, known_shelves, shelves)):
            return dict(known_papers)
        found: dict[str, Paper] = {}
        for shelf in shelves:
            for identifier, paper in shelf.papers.items():
                known = found.get(identifier)
                found[identifier] = paper if known is None or known == paper else newer(known, paper)
        self._merged = (shelves, found)
        return dict(found)

    def add(self, topic: str, papers: Sequence[Paper], search: SavedSearch | None = None) -> list[str]:
        """Store papers, and the search that found them; return the identifiers that are new in this topic.

        Raises StoreError when nothing could be written; what was stored before stays.
        """
        name = topic_folder(topic)
        folder = self.folder / name
        try:
            with writing(folder):
                shelf = self._shelf_at(name)
                fresh = [paper.id for paper in papers if paper.id not in shelf.papers]
                self._write_papers(folder / PAPERS_FILE, shelf, papers)
                if search is not None:
                    kept = [one for one in self.searches(name) if one.request != search.request]
                    documents = [search_document(one) for one in (*kept, search)[-MAX_SEARCHES:]]
                    write_file(folder / SEARCHES_FILE, encoded(documents))
                sync(folder)
        except OSError as error:
            hint = "Free disk space." if error.errno in (errno.ENOSPC, errno.EDQUOT) else "Check papers.folder."
            raise StoreError(f"cannot store papers in {folder}: {error.strerror or error}", hint) from error
        return list(dict.fromkeys(fresh))

    def searches(self, topic: str) -> list[SavedSearch]:
        """Return the searches of a topic, oldest first; those that cannot be read are left out."""
        path = self.folder / topic_folder(topic) / SEARCHES_FILE
        try:
            content = read_file(path, MAX_BYTES)
        except OSError:
            return []
        found: list[SavedSearch] = []
        for one in cast("list[object]", decoded(path, content, list, self.problems)):
            with contextlib.suppress(ValueError):
                found.append(search_from(one))
        return found

    def saved(self, topic: str, request: PaperRequest) -> SavedSearch | None:
        """Return what a search has found before."""
        return next((one for one in reversed(self.searches(topic)) if one.request == request), None)

    def take_problems(self) -> list[str]:
        """Return the problems since the last call, each once."""
        found, self.problems = list(dict.fromkeys(self.problems)), []
        return found

    def _write_papers(self, path: Path, shelf: Shelf, papers: Sequence[Paper]) -> None:
        merged, at = dict(shelf.papers), now_text()
        for paper in papers:
            known = merged.get(paper.id)
            merged[paper.id] = paper if known is None else newer(known, paper)
        if merged == shelf.papers and path.exists() and not shelf.is_conflicted:
            return
        stored = {identifier: shelf.stored.get(identifier) or at for identifier in merged}
        documents = {identifier: paper_document(paper, stored[identifier]) for identifier, paper in merged.items()}
        damaged = {f"{one} (damaged)" if one in documents else one: value for one, value in shelf.damaged.items()}
        write_file(path, encoded({**damaged, **documents}))


def _stamp(path: Path) -> _Stamp:
    status = path.lstat()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _shelf(name: str, document: Mapping[str, Any], stamp: _Stamp) -> Shelf:
    papers: dict[str, Paper] = {}
    stored: dict[str, str] = {}
    damaged: dict[str, Any] = {}
    for identifier, record in document.items():
        try:
            papers[identifier] = paper_from(identifier, record)
            stored[identifier] = str(record.get("stored_at") or "")
        except ValueError:
            damaged[identifier] = record
    return Shelf(name, papers, stored, damaged, stamp)
