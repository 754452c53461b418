"""Check tool arguments against the part of JSON Schema that the tools use.

A ConfigError names the argument, the expected and the actual value, so that an agent can correct the call. Importing a
complete validator would take longer than the startup of the server may.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, cast

from atlas.core.errors import ConfigError

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


def check_arguments(schema: Schema, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the given arguments (null counts as absent). Raises ConfigError for the first invalid one."""
    properties = cast("Mapping[str, Schema]", schema["properties"])
    given = {name: value for name, value in arguments.items() if value is not None}
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
