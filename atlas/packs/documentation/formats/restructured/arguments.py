"""Arguments, options and body of a directive. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atlas.packs.documentation.formats.restructured.reader import Directive

OPTION_LINE = re.compile(r":(?P<name>[\w-]++):(?:\s++(?P<value>.*+)|\s*+)$")


def divide(directive: Directive) -> tuple[list[str], dict[str, str], list[str], int]:
    """Return further argument lines, options, body and the number of the body's first line."""
    content = directive.content
    at = 0
    arguments: list[str] = []
    while at < len(content) and content[at].strip() and not OPTION_LINE.match(content[at]):
        arguments.append(content[at])
        at += 1
    options: dict[str, str] = {}
    last = ""
    while at < len(content) and content[at].strip():
        if found := OPTION_LINE.match(content[at]):
            last = found["name"]
            options[last] = found["value"] or ""
        elif last:
            options[last] += f" {content[at].strip()}"
        at += 1
    return arguments, options, content[at:], directive.line + 1 + at
