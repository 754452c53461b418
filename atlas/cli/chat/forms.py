"""Questions of servers (elicitation): a form of fields, or an address to open, answered line by line.

A value is checked against the field's schema before it is sent; an empty line takes the default or leaves the field
out. Whatever a server says stands behind a bar on lines of its own, and the lines that wait for an answer name the
server, so that a form cannot pass for a question of the chat.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import date, datetime
from itertools import zip_longest
from typing import Any, cast
from urllib.parse import urlsplit

import mcp_types as types

from atlas.core.invisible import one_line, printable
from atlas.core.lazy_regex import lazy_regex
from atlas.core.wording import counted

Value = str | int | float | bool | list[str] | None

_TRUE, _FALSE = ("true", "yes", "y", "1"), ("false", "no", "n", "0")


MAX_FIELDS = 20
"""A longer form is declined."""

MAX_MESSAGE, MAX_LINES, MAX_LABEL = 2000, 20, 300
"""Characters and lines of a message, and characters of a line about a field."""

MAX_VALUE = 10_000
"""Characters of an answer."""


async def fill_form(
    server: str, params: types.ElicitRequestParams, ask: Callable[[str], Awaitable[str]], show: Callable[[str], None]
) -> types.ElicitResult:
    """Return the user's answer: accepted with values, declined, or cancelled where he gives none."""
    name = one_line(server, 64)
    show(f"? the server {name} asks:")
    for line in printable(params.message[:MAX_MESSAGE]).split("\n")[:MAX_LINES]:
        show(f"  | {line}")
    try:
        if isinstance(params, types.ElicitRequestURLParams):
            return await _opened(name, params.url, ask, show)
        schema = _mapping(params.requested_schema)
        fields = _mapping(schema.get("properties"))
        if len(fields) > MAX_FIELDS:
            show(f"  it wants {counted(len(fields), 'answer')}; declined")
            return types.ElicitResult(action="decline")
        if (await ask(f"answer {name}? [y]es, [d]ecline: ")).strip().lower() not in _TRUE:
            return types.ElicitResult(action="decline")
        required = schema.get("required")
        needed = cast("list[object]", required) if isinstance(required, list) else []
        values: dict[str, Value] = {}
        for key, field in fields.items():
            value = await _field(name, key, _mapping(field), ask, show, needed=key in needed)
            if value is not None:
                values[key] = value
        return types.ElicitResult(action="accept", content=values)
    except (EOFError, KeyboardInterrupt):
        return types.ElicitResult(action="cancel")


async def _opened(
    server: str, url: str, ask: Callable[[str], Awaitable[str]], show: Callable[[str], None]
) -> types.ElicitResult:
    """Return whether the user has opened an address. One that leads elsewhere than it seems to is declined."""
    try:
        parts = urlsplit(url)
        host, is_plain = parts.hostname or "", parts.scheme in ("http", "https") and "@" not in parts.netloc
    except ValueError:
        host, is_plain = "", False
    if not host or not is_plain or len(url) > MAX_MESSAGE or not url.isascii() or not url.isprintable():
        show(f"  | {one_line(url, MAX_LABEL)}")
        show("  this is no plain address of the web; declined")
        return types.ElicitResult(action="decline")
    show(f"  | {url}")
    show(f"  it wants you to open this address, on {host}")
    said = await ask(f"done for {server}? [y]es, [d]ecline: ")
    return types.ElicitResult(action="accept" if said.strip().lower() in _TRUE else "decline")


async def _field(
    server: str,
    name: str,
    field: Mapping[str, Any],
    ask: Callable[[str], Awaitable[str]],
    show: Callable[[str], None],
    *,
    needed: bool,
) -> Value:
    described = field.get("title") or field.get("description") or ""
    choices = _choices(field)
    kind = field.get("format") or field.get("type", "string")
    named = (one if title in ("", one) else f"{one} ({title})" for one, title in choices.items())
    several = "some" if field.get("type") == "array" else "one"
    wanted = f"{several} of {', '.join(named)}" if choices else kind
    shown = f"{name}: {described} ({wanted})"
    default = field.get("default")
    default = ", ".join(map(str, cast("list[object]", default))) if isinstance(default, list) else default
    shown += f" [{default}]" if default is not None else ""
    show(f"  | {one_line(shown, MAX_LABEL)}")
    while True:
        said = (await ask(f"  answer to {server}{'' if needed else ', optional'}: ")).strip()[:MAX_VALUE]
        if not said:
            if default is not None or not needed:
                return field.get("default")
            show("  a value is required; Ctrl-C cancels")
            continue
        try:
            return read_value(said, field, choices)
        except ValueError as error:
            show(f"  {one_line(str(error), MAX_LABEL)}")


def read_value(said: str, field: Mapping[str, Any], choices: Mapping[str, str]) -> Value:
    """Return what was typed as the field's type. Raises ValueError that says what is expected.

    `choices` are the values to choose from with their titles; both are understood.
    """
    kind = field.get("type", "string")
    if kind == "array":
        return _several(said, field, choices)
    if choices:
        return _chosen(said, choices)
    if kind == "boolean":
        if said.lower() not in (*_TRUE, *_FALSE):
            raise ValueError("it must be yes or no")
        return said.lower() in _TRUE
    if kind in ("integer", "number"):
        try:
            number = int(said) if kind == "integer" else float(said)
        except ValueError:
            raise ValueError(f"it must be {'a whole number' if kind == 'integer' else 'a number'}") from None
        low, high = field.get("minimum"), field.get("maximum")
        if (low is not None and number < low) or (high is not None and number > high):
            raise ValueError(f"it must be between {low} and {high}")
        return number
    least, most = int(field.get("minLength") or 0), int(field.get("maxLength") or 1 << 30)
    if not least <= len(said) <= most:
        raise ValueError(f"it must have {least} to {most} characters")
    written = str(field.get("format"))
    if written in _FORMATS and not _FORMATS[written](said):
        raise ValueError(f"it must be {_EXAMPLES[written]}")
    return said


def _several(said: str, field: Mapping[str, Any], choices: Mapping[str, str]) -> list[str]:
    parts = [part.strip() for part in said.split(",") if part.strip()]
    found = [_chosen(part, choices) if choices else part for part in parts]
    least, most = int(field.get("minItems") or 0), int(field.get("maxItems") or 1 << 30)
    if not least <= len(found) <= most:
        raise ValueError(f"there must be {least} to {most} values, separated by commas")
    return found


def _chosen(said: str, choices: Mapping[str, str]) -> str:
    for value, title in choices.items():
        if said == value or (title and said.casefold() == title.casefold()):
            return value
    raise ValueError(f"{said} is not one of {', '.join(choices)}")


def _choices(field: Mapping[str, Any]) -> dict[str, str]:
    """Return the values to choose from with their titles, in the forms of all revisions."""
    items = _mapping(field.get("items"))
    for holder in (field, items):
        if isinstance(holder.get("enum"), list):
            values = [str(one) for one in cast("list[object]", holder["enum"])]
            given = holder.get("enumNames")
            titles = [str(one) for one in cast("list[object]", given)] if isinstance(given, list) else []
            return dict(zip_longest(values, titles[: len(values)], fillvalue=""))
        for key in ("oneOf", "anyOf"):
            if isinstance(holder.get(key), list):
                options = [_mapping(one) for one in cast("list[object]", holder[key])]
                return {str(one["const"]): str(one.get("title") or "") for one in options if "const" in one}
    return {}


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


_FORMATS: Mapping[str, Callable[[str], object]] = {
    "email": lazy_regex(r"[^@\s]{1,64}+@[^@\s]{1,255}\.[^@\s.]+").fullmatch,
    "uri": lazy_regex(r"[A-Za-z][A-Za-z0-9+.-]*+:\S+").fullmatch,
    "date": _is_date,
    "date-time": _is_time,
}
_EXAMPLES = {
    "email": "an address such as ann@example.org",
    "uri": "an address such as https://example.org",
    "date": "a date such as 2026-11-25",
    "date-time": "a time with its zone, such as 2026-11-25T10:00:00Z",
}


def _mapping(value: object) -> Mapping[str, Any]:
    if hasattr(value, "model_dump"):
        return cast("Any", value).model_dump(by_alias=True, exclude_none=True)
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
