"""Papers and searches as JSON documents, and back. What does not fit raises ValueError, so that it is kept as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, cast

from atlas.core.paper_source import Paper, PaperRequest

Document = dict[str, Any]

_PAPER = {one.name: one.default for one in fields(Paper) if one.name not in ("id", "title")}


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """What a search found. `at` is ISO 8601 in UTC, `asked` how many papers were asked for."""

    request: PaperRequest
    asked: int
    at: str
    ids: tuple[str, ...]

    def answers(self, most: int) -> bool:
        """Whether the first `most` papers are known from it."""
        return most <= self.asked or len(self.ids) < self.asked

    def age_days(self, now: datetime) -> float:
        """Return its age; a time that lies ahead counts as old."""
        return age_in_days(self.at, now)


def paper_document(paper: Paper, stored_at: str) -> Document:
    """Return a paper as it is stored, without its identifier, which is its key."""
    document: Document = {"title": paper.title}
    for name in _PAPER:
        value = getattr(paper, name)
        document[name] = list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value
    return {**document, "stored_at": stored_at}


def paper_from(identifier: str, document: object) -> Paper:
    """Return a stored paper; unknown keys are ignored and missing ones have their defaults. Raises ValueError."""
    if not isinstance(document, dict):
        raise ValueError("not an object")
    given = cast("Mapping[str, object]", document)
    title = given.get("title")
    if not isinstance(title, str):
        raise ValueError("no title")
    values: dict[str, Any] = {}
    for name, default in _PAPER.items():
        value = given.get(name)
        if value is None:
            continue
        if isinstance(default, tuple):
            if not isinstance(value, list) or not all(isinstance(one, str) for one in cast("list[object]", value)):
                raise ValueError(f"{name} is not a list of strings")
            value = tuple(cast("list[str]", value))
        elif type(value) is not type(default):
            raise ValueError(f"{name} has another type")
        values[name] = value
    return Paper(identifier, title, **values)


def newer(old: Paper, new: Paper) -> Paper:
    """Return the later version of a paper; what only the earlier one says is kept, except for a withdrawal."""
    if new.version < old.version or (new.version == old.version and new.updated < old.updated):
        old, new = new, old
    kept = {name: getattr(old, name) for name in ("doi", "journal_ref", "pdf_url", "summary") if not getattr(new, name)}
    return replace(new, **kept) if any(kept.values()) else new


def search_document(search: SavedSearch) -> Document:
    """Return a search as it is stored."""
    request = {one.name: getattr(search.request, one.name) for one in fields(PaperRequest) if one.name != "ids"}
    shown = {name: value for name, value in request.items() if value}
    if search.request.ids:
        shown["ids"] = list(search.request.ids)
    return {"request": shown, "asked": search.asked, "at": search.at, "found": list(search.ids)}


def search_from(document: object) -> SavedSearch:
    """Return a stored search. Raises ValueError."""
    try:
        given = cast("Mapping[str, Any]", document)
        request = dict(cast("Mapping[str, Any]", given["request"]))
        request["ids"] = tuple(map(str, request.get("ids", ())))
        found = SavedSearch(PaperRequest(**request), given["asked"], given["at"], tuple(map(str, given["found"])))
    except (KeyError, TypeError) as error:
        raise ValueError("not a search") from error
    if not isinstance(found.asked, int) or not isinstance(found.at, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError("not a search")
    return found


def text_of(paper: Paper) -> str:
    """Return what a paper is about, for a search."""
    return f"{paper.title}\n{paper.summary}"


def digest_of(paper: Paper) -> str:
    """Return the digest of the text that is searched."""
    return hashlib.blake2b(f"{text_of(paper)}\0{'; '.join(paper.authors)}".encode(), digest_size=16).hexdigest()


def age_in_days(at: str, now: datetime) -> float:
    """Return the age of a stored time; one that cannot be read or lies ahead counts as old."""
    try:
        age = (now - datetime.fromisoformat(at)).total_seconds() / 86_400
    except (ValueError, TypeError):
        return float("inf")
    return age if age >= 0 else float("inf")


def now_text() -> str:
    """Return the time in UTC, as stored."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S+00:00")
