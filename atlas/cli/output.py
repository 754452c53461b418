"""Output of commands: data on stdout, everything else on stderr; indexed text is sanitised first."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from atlas.cli.requests import CURSOR_OPTION as CURSOR_OPTION
from atlas.core.invisible import json_text
from atlas.core.invisible import printable as plain
from atlas.core.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from atlas.core.errors import AtlasError


def print_json(document: object) -> None:
    """Print one JSON document on stdout."""
    sys.stdout.write(json_text(document, indent=2 if sys.stdout.isatty() else None) + "\n")


def console(*, stderr: bool = False) -> Console:
    """Return a console; without a terminal, lines are not wrapped and not coloured."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 10_000
    return Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False, soft_wrap=True)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> Table:
    """Return a table of plain cells; numbers are right-aligned, and columns without any name have no heading."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    body = [list(row) for row in rows]
    named = any(columns)
    style = box.SIMPLE_HEAD if named else None
    result = Table(box=style, show_header=named, title=title or None, title_justify="left", pad_edge=False)
    for position, column in enumerate(columns):
        numeric = bool(body) and all(isinstance(row[position], (int, float)) for row in body)
        result.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in body:
        result.add_row(*(Text(plain(cell_text(cell))) for cell in row))
    return result


def cell_text(value: object) -> str:
    """Return a value as one table cell."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1 else f"{value:,.1f}"
    if isinstance(value, (dict, list, tuple)):
        return json_text(cast("object", value))
    return str(value)


COMMANDS = {
    "ask_pack": "pack query",
    "connect_propositions": "notes link",
    "find_contradictions": "notes contradictions",
    "find_scientific_lineage": "notes lineage",
    "get_entity": "memory show",
    "get_unit": "notes unit",
    "ingest_hypothesis": "notes add",
    "list_entities": "memory list",
    "list_packs": "pack list",
    "list_propositions": "notes list",
    "pack_article": "pack article",
    "remember_shortterm": "memory note",
    "retract_unit": "notes retract",
    "search_pack": "pack search",
    "semantic_search": "notes search",
    "update_unit": "notes update",
}
"""The command for each tool of notes, memory and packs whose name is not an English word."""
_TOOL = lazy_regex(rf"`?\b({'|'.join(COMMANDS)})\b`?")


def print_error(error: AtlasError, *, as_json: bool) -> None:
    """Report an error: `error:` and `hint:` lines on stderr, or with `as_json` one JSON object on stdout."""
    if as_json:
        print_json({"error": error_document(error)})
        return
    print(f"error: {one_line(error.message)}", file=sys.stderr)
    near: tuple[str, ...] = getattr(error, "near", ())
    if near:
        print(f"near:  {', '.join(one_line(name) for name in near)}", file=sys.stderr)
    if error.hint:
        print(f"hint:  {sentence(one_line(error.hint))}", file=sys.stderr)


def error_document(error: AtlasError) -> dict[str, object]:
    """Return an error as JSON-compatible values."""
    document: dict[str, object] = {
        "kind": type(error).__name__,
        "message": error.message,
        "hint": sentence(error.hint),
        "exit_code": error.exit_code,
    }
    for extra in ("near", "line", "column"):
        value = getattr(error, extra, None)
        if value:
            document[extra] = value
    return document


def sentence(hint: str) -> str:
    """Return a hint that begins with a capital letter unless it begins with a name or a command.

    Tools that it names, which agents call, become the commands that do the same.
    """
    first = hint.partition(" ")[0].rstrip(",:")
    is_word = first.isascii() and first.isalpha() and first.islower() and first not in ("atlas", "pip", "make")
    said = hint[:1].upper() + hint[1:] if is_word else hint
    return _TOOL.sub(lambda found: f"`atlas {COMMANDS[found[1]]}`", said)


def one_line(text: str) -> str:
    """Return text as one sanitised line."""
    return plain(" ".join(text.split()))
