"""Questions of servers (elicitation): a form of fields, or an address to open, answered line by line.

A value is checked against the field's schema before it is sent; an empty line takes the default or leaves the field
out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
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
    shown += f" one of {', '.join(choices)}" if choices else f" {field.get('type', 'string')}"
    default = field.get("default")
    shown += f" [{default}]" if default is not None else ""
    while True:
        said = (await ask(f"  {name}{shown}{'' if needed else ', optional'}: ")).strip()
        if not said:
            if default is not None or not needed:
                return default
            show("  a value is required; Ctrl-C cancels")
            continue
        try:
            return read_value(said, field, choices)
        except ValueError as error:
            show(f"  {error}")


def read_value(said: str, field: Mapping[str, Any], choices: list[str]) -> Value:
    """Return what was typed as the field's type. Raises ValueError that says what is expected."""
    kind = field.get("type", "string")
    if kind == "array":
        parts = [part.strip() for part in said.split(",") if part.strip()]
        wrong = [part for part in parts if choices and part not in choices]
        if wrong:
            raise ValueError(f"not among {', '.join(choices)}: {', '.join(wrong)}")
        return parts
    if choices:
        if said not in choices:
            raise ValueError(f"it must be one of {', '.join(choices)}")
        return said
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
    return said


def _choices(field: Mapping[str, Any]) -> list[str]:
    """Return the values to choose from, in the forms of all revisions."""
    items = _mapping(field.get("items"))
    for holder in (field, items):
        if isinstance(holder.get("enum"), list):
            return [str(one) for one in cast("list[object]", holder["enum"])]
        for key in ("oneOf", "anyOf"):
            if isinstance(holder.get(key), list):
                options = cast("list[object]", holder[key])
                return [str(_mapping(one)["const"]) for one in options if "const" in _mapping(one)]
    return []


def _mapping(value: object) -> Mapping[str, Any]:
    if hasattr(value, "model_dump"):
        return cast("Any", value).model_dump(by_alias=True, exclude_none=True)
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
