"""The definitions that a line of text stands in, by indentation and the words that begin a definition. Pure.

For places that are found by scanning texts, which the graph does not know as symbols.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

LINES_AROUND = 200
"""Lines above a line in which the definitions around it are looked for."""
_DEFINES = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|internal|static|abstract|final|async|pub(?:\([^)]*\))?|unsafe"
    r"|data|sealed|open|override|virtual|suspend) )*"
    r"(?:class|struct|interface|trait|object|module|namespace|enum|def|fn|func|function|fun|impl(?:<[^>]*>)?)\s(?P<name>[^\n({]{1,80})"
)


def definitions_around(lines: Sequence[str], line: int) -> Iterator[tuple[int, str]]:
    """Yield the lines (1-based) and names of the definitions around a line, the innermost first."""
    text = lines[line - 1]
    depth = len(text) - len(text.lstrip())
    if (match := _DEFINES.match(text)) is not None:
        yield line, _defined(match["name"])
    for number in range(line - 1, max(0, line - LINES_AROUND), -1):
        if depth == 0:
            return
        above = lines[number - 1]
        own = len(above) - len(above.lstrip())
        if above.strip(" \t{(") and own < depth and above[own] not in ")]}":
            depth = own
            if (match := _DEFINES.match(above)) is not None:
                yield number, _defined(match["name"])


def _defined(said: str) -> str:
    return said.replace(" for ", ".").split("(")[0].split(" ")[0].split("<")[0].strip(" :;{")
