"""Papers from the files of reference managers: BibTeX, RIS (Mendeley, Zotero) and CSL-JSON (Zotero). Pure.

A paper is known by its identifier of arXiv, else by its DOI; what has neither is named and left out. Texts are read
once from front to back, within limits.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from atlas.core.lazy_regex import lazy_regex
from atlas.core.paper_source import ARXIV_ID, DOI, Paper, split_version

MAX_BYTES, MAX_ENTRIES, MAX_FIELD, MAX_NAMED = 16 << 20, 10_000, 20_000, 50
_ENTRY = lazy_regex(r"@([A-Za-z]{1,30})\s{0,20}([{(])\s{0,20}([^\s,{}()]{0,200})")
_NAME = lazy_regex(r"[\s,]*+([A-Za-z][\w-]{0,40})\s{0,20}=\s*+")
_RIS = lazy_regex(r"([A-Z][A-Z0-9]) {1,2}- ?(.*)")
_COMMAND = lazy_regex(r"\\[A-Za-z]{1,20} ?|\\.")
_NEW_ARXIV = lazy_regex(
    r"arxiv(?:\.org/(?:abs|pdf)/|[.:]\s{0,3})([a-z.-]{0,30}/?\d{4,7}(?:\.\d{4,5})?(?:v\d{1,3})?)", re.I
)
_YEAR = lazy_regex(r"(\d{4})(?:[-/](\d{1,2}))?(?:[-/](\d{1,2}))?")
_ACCENTS = {
    **{'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304", ".": "\u0307"},
    **{"c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "r": "\u030a"},
}
_ACCENT = lazy_regex(r"\\([\"'`^~=.])\{?([A-Za-z])\}?|\\([cvuHr])\{([A-Za-z])\}")
_NOT_ENTRIES = frozenset(("comment", "string", "preamble"))


@dataclass(frozen=True, slots=True)
class ImportedPapers:
    """The papers of a file, and the titles or keys of what was left out with the reason."""

    papers: tuple[Paper, ...]
    left_out: tuple[str, ...]


def read_papers(text: str) -> ImportedPapers:
    """Return the papers of a text in any of the formats. Raises ValueError for another one."""
    head = text.lstrip("\ufeff \t\r\n")[:2000]
    if head.startswith(("[", "{")):
        entries = _csl(text)
    elif re.match(r"TY {1,2}-", head):
        entries = _ris(text)
    elif "@" in text and _ENTRY.search(text[:200_000]):
        entries = _bibtex(text)
    else:
        raise ValueError("neither BibTeX, RIS nor CSL-JSON")
    papers: dict[str, Paper] = {}
    left: list[str] = []
    for number, entry in enumerate(entries):
        if number >= MAX_ENTRIES:
            left.append(f"entries after the first {MAX_ENTRIES:,}")
            break
        paper = _paper(entry)
        if paper is None:
            named = _one(entry, "title") or _one(entry, "key") or f"entry {number + 1}"
            if len(left) < MAX_NAMED:
                left.append(
                    f"{named[:120]}: no title" if not _one(entry, "title") else f"{named[:120]}: no arXiv id or DOI"
                )
        else:
            papers.setdefault(paper.id, paper)
    return ImportedPapers(tuple(papers.values()), tuple(left))


Entry = Mapping[str, list[str]]
"""Fields in lower case with their values: title, author, year, journal, doi, eprint, url, abstract, keywords, key."""


def _paper(entry: Entry) -> Paper | None:
    title = _one(entry, "title")
    arxiv = _arxiv(entry)
    found = DOI.search(" ".join(entry.get("doi", [])) or _one(entry, "url"))
    doi = found[0].rstrip(".,;)").lower() if found else ""
    identifier = arxiv or doi
    if not title or not identifier:
        return None
    return Paper(
        id=identifier,
        title=title[:1000],
        authors=tuple(name[:200] for name in entry.get("author", [])[:500] if name),
        summary=_one(entry, "abstract"),
        url=f"https://arxiv.org/abs/{arxiv}" if arxiv else f"https://doi.org/{doi}",
        published=_date(_one(entry, "date") or _one(entry, "year"), _one(entry, "month")),
        categories=tuple(one[:100] for one in entry.get("keywords", [])[:50]),
        doi="" if doi.startswith("10.48550/arxiv.") else doi,
        journal_ref=_one(entry, "journal")[:500],
    )


def _arxiv(entry: Entry) -> str:
    """Return the identifier of arXiv without its version, "" for none."""
    eprint = _one(entry, "eprint")
    texts = [f"arxiv:{eprint}"] if ARXIV_ID.fullmatch(eprint) else [eprint]
    for text in (*texts, *entry.get("doi", []), *entry.get("url", []), _one(entry, "journal")):
        found = _NEW_ARXIV.search(text[:500])
        if found and ARXIV_ID.fullmatch(found[1]):
            return split_version(found[1])[0]
    return ""


def _date(text: str, month: str) -> str:
    found = _YEAR.search(text)
    if not found:
        return ""
    parts = [found[1], found[2] or (month if month.isdigit() else ""), found[3] or ""]
    kept = [parts[0], *(f"{int(part):02}" for part in parts[1 : 2 if not parts[2] else 3] if part)]
    return "-".join(kept)


def _one(entry: Entry, name: str) -> str:
    return " ".join((entry.get(name) or [""])[0].split())


def _ris(text: str) -> Iterator[Entry]:
    names = {
        **{"TI": "title", "T1": "title", "AU": "author", "A1": "author", "PY": "year", "Y1": "year", "DA": "date"},
        **{"JO": "journal", "JF": "journal", "T2": "journal", "DO": "doi", "UR": "url", "L1": "url", "AB": "abstract"},
        **{"N2": "abstract", "KW": "keywords", "ID": "key"},
    }
    entry: dict[str, list[str]] = {}
    for line in text.splitlines():
        found = _RIS.match(line)
        if found and found[1] == "ER":
            if entry:
                yield entry
            entry = {}
        elif found and (name := names.get(found[1])):
            value = found[2].strip()[:MAX_FIELD]
            entry.setdefault(name, []).append(_inverted(value) if name == "author" else value)
    if entry:
        yield entry


def _csl(text: str) -> Iterator[Entry]:
    try:
        read: object = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    items = cast("list[object]", read) if isinstance(read, list) else [read]
    for item in items:
        given = cast("dict[str, object]", item) if isinstance(item, dict) else {}

        def said(name: str, given: dict[str, object] = given) -> list[str]:
            value = given.get(name)
            return [str(value)[:MAX_FIELD]] if isinstance(value, str | int) else []

        people = given.get("author")
        names = [_person(one) for one in cast("list[object]", people)] if isinstance(people, list) else []
        issued = given.get("issued")
        dates = cast("dict[str, object]", issued).get("date-parts") if isinstance(issued, dict) else None
        first = cast("list[object]", dates)[0] if isinstance(dates, list) and dates else None
        parts = [str(part) for part in cast("list[object]", first)[:3]] if isinstance(first, list) else list[str]()
        yield {
            **{"title": said("title"), "author": names, "date": ["-".join(parts)], "abstract": said("abstract")},
            **{"journal": said("container-title"), "doi": said("DOI"), "url": said("URL"), "key": said("id")},
            "eprint": said("number") or said("archive_location"),
        }


def _person(one: object) -> str:
    parts = cast("dict[str, object]", one) if isinstance(one, dict) else {}
    return " ".join(str(parts[name]) for name in ("given", "family", "literal") if isinstance(parts.get(name), str))


def _bibtex(text: str) -> Iterator[Entry]:
    at = 0
    while found := _ENTRY.search(text, at):
        at = found.end()
        if found[1].lower() in _NOT_ENTRIES:
            continue
        entry: dict[str, list[str]] = {"key": [found[3]]}
        while named := _NAME.match(text, at):
            value, at = _value(text, named.end())
            name = named[1].lower()
            name = {"booktitle": "journal", "journaltitle": "journal", "annote": "abstract"}.get(name, name)
            entry.setdefault(name, _values(name, value[:MAX_FIELD]))
        yield entry


def _accented(found: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", (found[2] or found[4]) + _ACCENTS[found[1] or found[3]])


def _inverted(name: str) -> str:
    """Return `Vaswani, Ashish` as `Ashish Vaswani`."""
    return " ".join(part.strip() for part in reversed(name.split(",", 1)))


def _values(name: str, text: str) -> list[str]:
    text = _ACCENT.sub(_accented, text) if name != "url" else text
    plain = _COMMAND.sub("", text).replace("{", "").replace("}", "").replace("~", " ") if name != "url" else text
    if name == "author":
        names = re.split(r"\sand\s", " ".join(plain.split()))
        return [_inverted(one) for one in names]
    return re.split(r"\s?[,;]\s?", plain) if name == "keywords" else [plain]


def _value(text: str, at: int) -> tuple[str, int]:
    """Return a value in braces, in quotes or bare, and the index after it."""
    if at >= len(text) or text[at] not in '{"':
        end = next((place for place in range(at, min(at + MAX_FIELD, len(text))) if text[place] in ",}\n"), len(text))
        return text[at:end].strip(), end
    quoted, depth = text[at] == '"', 0
    for place in range(at + quoted, len(text)):
        letter = text[place]
        if letter == "\\":
            continue
        if quoted and not depth and letter == '"':
            return text[at + 1 : place], place + 1
        depth += (letter == "{") - (letter == "}")
        if not quoted and not depth:
            return text[at + 1 : place], place + 1
    return text[at + 1 :], len(text)
