"""Check tool arguments against the part of JSON Schema that the tools use.

What has only one meaning is accepted in another form: models write numbers and flags as text, and one item of a list
without the list. A ConfigError names the argument, the expected and the actual value, so that an agent can correct the
call. Importing a complete validator would take longer than the startup of the server may.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any, cast

from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex

Schema = Mapping[str, Any]

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_NAMES = {"string": "text", "integer": "a whole number", "array": "a list", "object": "an object"}

_NUMBER = lazy_regex(r"[+-]?[0-9]{1,9}(\.[0-9]{1,15})?")
MAX_PARSED = 100_000
"""Characters of a list or an object that is given as the text of its JSON."""


def check_arguments(schema: Schema, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the given arguments in the types of the schema (null counts as absent).

    Raises ConfigError for the first invalid one.
    """
    properties = cast("Mapping[str, Schema]", schema["properties"])
    given = {name: typed(properties.get(name, {}), value) for name, value in arguments.items() if value is not None}
    for name in given:
        if name not in properties:
            near = difflib.get_close_matches(name, properties, 1)
            hint = f"Did you mean {near[0]}?" if near else f"Arguments: {', '.join(properties) or 'none'}."
            raise ConfigError(f"unknown argument {_short(name)}", hint)
    for name in cast("list[str]", schema.get("required", [])):
        if name not in given:
            raise ConfigError(f"missing argument {name}", _describe(properties[name]))
    for name, value in given.items():
        check(name, properties[name], value)
    return given


def typed(schema: Schema, value: object) -> object:
    """Return the value that a schema wants and `value` can only mean, else `value` itself, which `check` refuses."""
    wanted = schema.get("type", "")
    if wanted == "array":
        listed = _listed(schema, value)
        if not isinstance(listed, list):
            return listed
        return [typed(schema.get("items", {}), item) for item in cast("list[object]", listed)]
    if isinstance(value, float) and wanted == "integer":
        return int(value) if value.is_integer() else value
    if not isinstance(value, str) or wanted not in ("integer", "number", "boolean", "object"):
        return value
    text = value.strip()
    if wanted == "object":
        return _parsed(text, dict, value)
    if wanted == "boolean":
        return {"true": True, "false": False}.get(text.lower(), value)
    if not _NUMBER.fullmatch(text):
        return value
    number = float(text)
    if wanted == "number":
        return number
    return int(number) if number.is_integer() else value


def _listed(schema: Schema, value: object) -> object:
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return _parsed(value, list, value)
    if schema.get("words"):
        return [word for part in value.split(",") if (word := part.strip())]
    return [value] if value.strip() else []


def _parsed(text: str, kind: type, otherwise: object) -> object:
    try:
        value: object = json.loads(text) if len(text) <= MAX_PARSED else otherwise
    except (ValueError, RecursionError):
        return otherwise
    return value if isinstance(value, kind) else otherwise


def check(name: str, schema: Schema, value: object) -> None:
    """Raise ConfigError unless `value` matches `schema`; `name` is the value's path in the arguments."""
    wanted = cast("str", schema.get("type", ""))
    kinds = _TYPES.get(wanted, (object,))
    if not isinstance(value, kinds) or (isinstance(value, bool) and wanted in ("integer", "number")):
        raise _wrong(name, schema, f"must be {_NAMES.get(wanted, f'a {wanted}')}", value)
    choices = cast("list[object]", schema.get("enum", []))
    if choices and value not in choices:
        raise _wrong(name, schema, f"must be one of {', '.join(map(str, choices))}", value)
    if isinstance(value, str):
        _check_size(name, schema, len(value), "Length", "characters")
    elif isinstance(value, list):
        items = cast("list[object]", value)
        _check_size(name, schema, len(items), "Items", "items")
        for position, item in enumerate(items):
            check(f"{name}[{position}]", schema.get("items", {}), item)
    elif isinstance(value, int | float):
        if value < schema.get("minimum", value):
            raise _wrong(name, schema, f"must be at least {schema['minimum']}", value)
        if value > schema.get("maximum", value):
            raise _wrong(name, schema, f"must be at most {schema['maximum']}", value)


def _check_size(name: str, schema: Schema, size: int, keyword: str, unit: str) -> None:
    low, high = cast("int", schema.get(f"min{keyword}", 0)), cast("int", schema.get(f"max{keyword}", size))
    if size < low:
        raise ConfigError(f"{name} must not be empty", _describe(schema))
    if size > high:
        raise ConfigError(f"{name} has {size:,} {unit}; at most {high:,} are allowed", "Shorten it.")


def _wrong(name: str, schema: Schema, rule: str, value: object) -> ConfigError:
    return ConfigError(f"{name} {rule}, not {_short(value)}", _describe(schema))


def _describe(schema: Schema) -> str:
    return str(schema.get("description", ""))


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def check_range(name: str, value: int, lowest: int, highest: int) -> None:
    """Raise ConfigError unless `lowest <= value <= highest`."""
    if not lowest <= value <= highest:
        raise ConfigError(f"{name} must be between {lowest} and {highest}, not {value}")
