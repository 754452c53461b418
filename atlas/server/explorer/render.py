"""The templates' environment: what a page is made of, how places become links, and what is escaped.

Jinja2 escapes every value that is not markup of our own; characters that a reader does not see, or that change the
direction of text, are shown as escape sequences. Nothing of a repository is ever markup, an attribute's name, or a URL
with another scheme than ours: links are built here alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from atlas.code.tools.citations import path_of, shortened
from atlas.code.tools.symbol.symbol_lines import TITLES
from atlas.code.tools.symbol.symbols import Neighbour
from atlas.core.invisible import escaped_text
from atlas.core.lazy_regex import lazy_regex

FOLDER = Path(__file__).parent
TEMPLATES = FOLDER / "templates"
PLACE_LINES = lazy_regex(r"(?:^| )(\d{1,7})(?![\w.])")
"""The first line number of a fact such as `Cart.total 15,18 (module 0.97)`."""


@cache
def environment() -> Environment:
    """Return the environment of all templates; made once, with the first page."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        enable_async=False,
    )
    known = cast("dict[str, object]", made.globals)
    known |= {"symbol_url": symbol_url, "file_url": file_url, "place_url": place_url, "search_url": search_url}
    known |= {"unit_url": unit_url}
    known |= {"url": url, "titles": TITLES}
    filters = cast("dict[str, object]", made.filters)
    filters |= {"line_of": line_of, "short": short_name}
    return made


class Fields(dict[str, Any]):
    """The fields of an item of an answer, for templates; those that it does not have are None."""

    def __missing__(self, key: str) -> None:
        """Return None."""


def render(template: str, values: Mapping[str, object]) -> bytes:
    """Return a page, or a part of one, in UTF-8."""
    # halves of surrogate pairs have no UTF-8
    return environment().get_template(template).render(values).encode("utf-8", "replace")


def _shown(value: object) -> object:
    if value is None:
        return ""
    return escaped_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def url(path: str, /, **values: object) -> str:
    """Return a path of ours with a query of the values that are given; empty ones are left out."""
    given = {name: value for name, value in values.items() if value not in ("", None, 0, False)}
    return f"{path}?{urlencode(given, errors='replace')}" if given else path


def symbol_url(name: str, /, **values: object) -> str:
    """Return the page of a symbol: its uid, its qualified name, or `path:line`."""
    return url("/symbol", name=name, **values)


def file_url(path: str, line: int | str = 0) -> str:
    """Return the page of a file or folder, at a line if one is given."""
    return url("/file", path=path, line=line) + (f"#L{line}" if line else "")


def place_url(place: str) -> str:
    """Return the page of a place: `path`, `path:line` or `path:first-last`."""
    path, _, lines = place.rpartition(":")
    first = lines.partition("-")[0]
    return file_url(path, first) if path and first.isdigit() else file_url(place)


def unit_url(name: str) -> str:
    """Return the page of a claim, decision, entity or observation."""
    return url("/unit", id=name)


def search_url(**values: object) -> str:
    """Return the page of a search."""
    return url("/search", **values)


def line_of(text: str) -> int:
    """Return the first line number that a fact of a report names, 0 for none."""
    found = PLACE_LINES.search(text[:1000])
    return int(found[1]) if found else 0


def short_name(neighbour: Neighbour) -> str:
    """Return the name of a neighbour without its project and what its path says."""
    return shortened(neighbour.uid.partition(":")[2] or neighbour.uid, path_of(neighbour.place))
