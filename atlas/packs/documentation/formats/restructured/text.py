"""A whole reStructuredText document: targets and substitutions are collected first, then its blocks are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atlas.packs.documentation.formats.document import NOTHING, Inclusion, SphinxSettings
from atlas.packs.documentation.formats.restructured.directives import run_directive
from atlas.packs.documentation.formats.restructured.reader import FIELD, LinePosition, RstReader, read_names
from atlas.packs.documentation.formats.restructured.settings import NO_SETTINGS, with_settings

if TYPE_CHECKING:
    from atlas.packs.documentation.formats.draft import Draft

TAB_SIZE = 8


def read_restructured(
    text: str, draft: Draft, inclusion: Inclusion = NOTHING, settings: SphinxSettings = NO_SETTINGS
) -> None:
    """Read a document into a draft; `inclusion` has the files that it may include, `settings` names of them all."""
    lines = [line.rstrip() for line in text.expandtabs(TAB_SIZE).split("\n")]
    reader = RstReader(draft, with_settings(read_names(lines), settings), run_directive)
    reader.inclusion = inclusion
    start = _document_fields(lines)
    reader.read(lines[start:], start + 1, LinePosition())


def read_lines(lines: list[str], first: int, draft: Draft) -> None:
    """Read a part of another document that is written in reStructuredText; `first` is the number of its first line."""
    lines = [line.expandtabs(TAB_SIZE).rstrip() for line in lines]
    RstReader(draft, read_names(lines), run_directive).read(lines, first, LinePosition())


def _document_fields(lines: list[str]) -> int:
    """Return the index after the fields in front of the title, such as `:orphan:`."""
    at = 0
    while at < len(lines) and (not lines[at].strip() or FIELD.match(lines[at]) or (at and lines[at][:1].isspace())):
        at += 1
    return at if at < len(lines) else 0
