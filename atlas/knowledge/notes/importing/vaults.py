"""Pages of Obsidian and basic-memory as they are: one entity a page, its lines as observations, its links as relations.

basic-memory writes `- [category] text #tag (context)` and `- relation [[Page]]`; other pages are prose with `[[Page]]`,
`[[Page|shown]]` and `![[image.png]]`. A paragraph or a list item is an observation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from atlas.code.notes.note import Note
from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex
from atlas.knowledge.notes.checks import check_line
from atlas.knowledge.notes.front_matter import Value
from atlas.knowledge.notes.importing.items import Item, NoteItem, ObservationItem, RelationItem, SourcePlace

LINKS = "LINKS_TO"
MAX_OBSERVATION = 20_000
_RELATION = lazy_regex(r"[-*+] ([^\[\]]{1,100}+)\[\[")
_LINK = lazy_regex(r"(?<!!)\[\[(?P<to>[^\[\]|#]{1,200})(?:#[^\[\]|]{0,200})?(?:\|[^\[\]]{0,200})?\]\]")
_SHOWN = lazy_regex(r"\[\[(?:[^\[\]|]{1,400}\|)?([^\[\]|]{1,400})\]\]")
_ITEM = lazy_regex(r"^\s*(?:[-*+]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?")
_HEADING = lazy_regex(r"^#{1,6}\s")


def vault_items(note: Note, text: str, title: str, name: str, created: str, place: SourcePlace) -> Iterator[Item]:
    """Yield the entity of a page and its relations. Raises ConfigError for a page without a name that can be kept."""
    own = check_line("name", note.name or title)
    stem = PurePosixPath(name).stem
    values: dict[str, Value] = {"name": own}
    if note.type and note.type != "note":
        values["type"] = check_line("type", note.type)
    if aliases := [one for one in dict.fromkeys((*note.aliases, stem)) if one.casefold() != own.casefold()]:
        values["aliases"] = [check_line("alias", one) for one in aliases]
    observations: list[ObservationItem] = []
    relations: dict[tuple[str, str], RelationItem] = {}
    for part in _parts(text):
        stated = _stated(part)
        found = [stated] if stated else [(LINKS, one["to"]) for one in _LINK.finditer(part)]
        for kind, target in found:
            # a link names a page by its path or its name
            to = PurePosixPath(target.strip()).name.removesuffix(".md")
            if to and to.casefold() not in (own.casefold(), stem.casefold()):
                relations.setdefault((kind, to), RelationItem(place, "entity", own, to, kind))
        if not stated and (said := _SHOWN.sub(r"\1", _ITEM.sub("", part)).strip()):
            observations.append(ObservationItem(check_line("observation", said, MAX_OBSERVATION), created))
    yield NoteItem(place, "entity", own, own, "", values, created, observations)
    yield from relations.values()


def _stated(part: str) -> tuple[str, str] | None:
    """Return type and target of `- relation [[Page]] (context)`, None for another line."""
    match = _RELATION.match(part)
    link = _LINK.match(part, match.end() - 2) if match else None
    rest = part[link.end() :].strip() if link else "-"
    if match is None or link is None or (rest and not (rest[0] == "(" and rest[-1] == ")")):
        return None
    return _type(match[1]), link["to"]


def _type(text: str) -> str:
    kind = "_".join(re.findall(r"\w+", text)).upper()
    if not kind:
        raise ConfigError(f"{text[:60]!r} is no type of a relation", "Write a word before the link.")
    return kind


def _parts(text: str) -> Iterator[str]:
    """Yield paragraphs and list items on one line each, without headings, fences and rules."""
    open_lines: list[str] = []
    in_fence = False
    for line in (*text.split("\n"), ""):
        is_fence = line.lstrip().startswith(("```", "~~~"))
        in_fence ^= is_fence
        is_break = not line.strip() or _HEADING.match(line) or line.strip() in ("---", "***", "___")
        starts = not in_fence and (is_break or _ITEM.match(line) is not None)
        if starts and open_lines:
            yield " ".join(" ".join(open_lines).split())
            open_lines = []
        if in_fence or is_fence or not is_break:
            open_lines.append(line)
    if open_lines:
        yield " ".join(" ".join(open_lines).split())
