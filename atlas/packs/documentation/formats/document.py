"""The bytes of one document with what its source knows about it: what every reader of a format takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from atlas.packs.documentation.formats.inclusion import NOTHING, Inclusion

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Document:
    """A file or page to read. Fields that `Article` has as well mean the same here."""

    key: str
    data: bytes
    path: str = ""
    """File name, or path of the URL: its ending tells the format."""
    url: str = ""
    """Address after redirects; relative links of a page are resolved against it."""
    media_type: str = ""
    """Of the response, such as `text/html`; "" for files."""
    charset: str = ""
    """As the response states it."""
    retrieved: str = ""
    licence: str = ""
    source: str = ""
    source_version: str = ""
    parents: tuple[str, ...] = ()
    cut: bool = False
    """The source had more bytes than its limit."""
    inclusion: Inclusion = NOTHING
    """Files of the same source that it may include."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the response, names in lower case: `link`, `x-robots-tag` and `content-language` are read."""
