"""Whether arguments and results fit what a tool declares, in time that no schema can make long. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import mcp_types as types


def argument_problem(tool: types.Tool, arguments: object) -> str:
    """Return why arguments do not fit a tool's own schema, "" if they do or if the schema itself is broken."""
    if not isinstance(arguments, dict):
        return f"the arguments must be a JSON object, not {type(arguments).__name__}"
    given = cast("dict[str, object]", arguments)
    missing = _missing(tool.input_schema, given)
    return f"missing arguments: {', '.join(missing)}" if missing else ""


def result_problem(tool: types.Tool, result: types.CallToolResult) -> str:
    """Return why a result does not fit a tool's schema of results, "" if it does or nothing is declared.

    Looks at required and typed members of the outermost object only. A full validation evaluates patterns and
    references that the server chose, which takes any time.
    """
    schema = tool.output_schema
    if schema is None or result.is_error:
        return ""
    returned: object = result.structured_content
    if not isinstance(returned, dict):
        return "it declares structured content and returned none"
    content = cast("dict[str, object]", returned)
    missing = _missing(schema, content)
    if missing:
        return f"missing in its structured content: {', '.join(missing)}"
    properties = schema.get("properties")
    for name, one in cast("dict[str, object]", properties).items() if isinstance(properties, dict) else ():
        kind = cast("dict[str, object]", one).get("type") if isinstance(one, dict) else None
        fits = _JSON_TYPES.get(kind) if isinstance(kind, str) else None
        if fits is not None and name in content and not fits(content[name]):
            return f"{name[:64]} in its structured content is no {kind}"
    return ""


def _missing(schema: Mapping[str, object], given: Mapping[str, object]) -> list[str]:
    required = schema.get("required")
    names = cast("list[object]", required) if isinstance(required, list) else []
    return [name for name in names if isinstance(name, str) and name not in given]


_JSON_TYPES: Mapping[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "null": lambda value: value is None,
}
