"""Questions of servers (elicitation): a form of fields, or an address to open, answered line by line.

A value is checked against the field's schema before it is sent; an empty line takes the default or leaves the field
out.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import date, datetime
from itertools import zip_longest
from typing import Any, cast

import mcp_types as types

Value = str | int | float | bool | list[str] | None

_TRUE, _FALSE = ("true", "yes", "y", "1"), ("false", "no", "n", "0")


async def fill_form(
    server: str, params: types.ElicitRequestParams, ask: Callable[[str], Awaitable[str]], show: Callable[[str], None]
) -> types.ElicitResult:
    """Return the user's answer: accepted with values, declined, or cancelled where he gives none."""
    show(f"? {server} asks: {params.message}")
    try:
        if isinstance(params, types.ElicitRequestURLParams):
            show(f"  It wants you to open {params.url}")
            said = await ask("done? [y]es, [d]ecline: ")
            return types.ElicitResult(action="accept" if said.strip().lower() in _TRUE else "decline")
        if (await ask("answer? [y]es, [d]ecline: ")).strip().lower() not in _TRUE:
            return types.ElicitResult(action="decline")
        schema = _mapping(params.requested_schema)
        required = cast("list[str]", schema.get("required") or [])
        values: dict[str, Value] = {}
        for name, field in _mapping(schema.get("properties")).items():
            value = await _field(name, _mapping(field), ask, show, needed=name in required)
            if value is not None:
                values[name] = value
        return types.ElicitResult(action="accept", content=values)
    except (EOFError, KeyboardInterrupt):
        return types.ElicitResult(action="cancel")


async def _field(
    name: str,
    field: Mapping[str, Any],
    ask: Callable[[str], Awaitable[str]],
    show: Callable[[str], None],
    *,
    needed: bool,
) -> Value:
    described = field.get("title") or field.get("description") or ""
    choices = _choices(field)
    shown = f" ({described})" if described else ""
    kind = field.get("format") or field.get("type", "string")
    named = (one if title in ("", one) else f"{one} ({title})" for one, title in choices.items())
    several = "some" if field.get("type") == "array" else "one"
    shown += f" {several} of {', '.join(named)}" if choices else f" {kind}"
    default = field.get("default")
    default = ", ".join(map(str, cast("list[object]", default))) if isinstance(default, list) else default
    shown += f" [{default}]" if default is not None else ""
    while True:
        said = (await ask(f"  {name}{shown}{'' if needed else ', optional'}: ")).strip()
        if not said:
            if default is not None or not needed:
                return field.get("default")
            show("  a value is required; Ctrl-C cancels")
            continue
        try:
            return read_value(said, field, choices)
        except ValueError as error:
            show(f"  {error}")


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
    "email": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+").fullmatch,
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+").fullmatch,
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
