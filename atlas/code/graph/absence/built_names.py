"""Find texts that put a name together: `"add_{$key}"` may be `add_cert`, which is then called by it.

No edge leads from such a text to the function, and no line has its whole name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from atlas.code.graph.absence.occurrences import is_comment
from atlas.code.reader import Reader
from atlas.core.invisible import escaped
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Node

LEAST = 3
"""Characters of a part of a name: shorter ones stand in any text."""
MOST_READ, MOST_SHOWN = 60, 4
"""Symbols with a word of the name whose files are read, and lines that are shown."""
MAX_LINE, MAX_TEXT = 400, 60
_FUNCTIONS = (Label.FUNCTION, Label.METHOD)
_BORDER = lazy_regex(r"(?<=_)(?=[^_])|(?<=[a-z0-9])(?=[A-Z])")
_INSERTED = r"(?:#?\{|\$\{?\w|%[sd]|(?P=quote)\s?[.+&]\s?[\w$@])"
"""What is put behind the first part: an interpolation, a placeholder, or a value that is added."""
_BEFORE = r"(?:\}|%[sd]|[\w)\]]\s?[.+&]\s?(?P<second>['\"`]))"


async def built_names(reader: Reader, nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return the lines of code that may put the name of functions together, each with its text; raises store errors."""
    name, project = nodes[0].row.name, nodes[0].project
    parts = list(_parts(name))
    if not parts or any(node.row.label not in _FUNCTIONS for node in nodes):
        return ()
    where = Filter(project=project, labels=(*_FUNCTIONS, Label.CLASS, Label.MODULE), include_tests=False)
    words = dict.fromkeys(word for part in parts for word in reader.split_words(part)[:1])
    hits = [hit.uid for word in words for hit in await reader.store.search_text([word], where, MOST_READ)]
    found = [*nodes, *await reader.store.symbols(list(dict.fromkeys(hits)))]
    contents = await reader.store.content(project, sorted({node.row.path for node in found if node.row.path}))
    pattern = re.compile("|".join(map(_pattern, parts, range(len(parts)))))
    return tuple(_found(contents, pattern, parts))[:MOST_SHOWN]


def _parts(name: str) -> Iterator[str]:
    """Yield the beginnings of a name up to the border of a word, then its ends, the latter with a mark before them."""
    borders = [match.start() for match in _BORDER.finditer(name)]
    yield from (name[:at] for at in borders if at >= LEAST)
    yield from (f"-{name[at:]}" for at in borders if len(name) - at >= LEAST)


def _pattern(part: str, number: int) -> str:
    if part.startswith("-"):
        return rf"{_BEFORE.replace('second', f's{number}')}_?{re.escape(part[1:])}['\"`]"
    quote = f"q{number}"
    return rf"(?P<{quote}>['\"`]):?{re.escape(part)}{_INSERTED.replace('quote', quote)}"


def _found(contents: dict[str, bytes], pattern: re.Pattern[str], parts: Sequence[str]) -> Iterator[str]:
    needles = [part.removeprefix("-") for part in parts]
    for path, content in contents.items():
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            if len(line) > MAX_LINE or not any(each in line for each in needles):
                continue
            match = pattern.search(line)
            if match is not None and not is_comment(line):
                text = line[match.start() :].strip()
                shown = text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}..."
                yield f"{path}:{number} {escaped(shown)}"
