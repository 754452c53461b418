"""Lines of text that have a name, by file, as lines of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from atlas.code.graph.absence.name_lines import NameLines
from atlas.code.tools.citations import local_name
from atlas.core.wording import counted

FEW_LINES = 10
"""Lines that are all quoted; of more only those that set the name."""
MOST_SHOWN = 24
LINE_CHARACTERS = 80
BEHIND = 16
"""Characters behind the name, which tell what it is set to."""
_WITHOUT_EDGE = " without an edge"


def is_head(line: str) -> bool:
    """Return whether a line only announces those that follow."""
    return line.startswith("  in ") and line.endswith(":") and _WITHOUT_EDGE in line


def name_lines(name: str, text: NameLines | None, *, is_symbol: bool) -> Iterator[str]:
    """Yield the lines that have a name, by file; of a symbol those for which the graph has no edge."""
    if text is None or (is_symbol and not text.lines):
        return
    if not text.lines:
        yield f"`{name}` {'is no symbol; not all files were read for it' if text.more else 'occurs in no indexed file'}"
        return
    total = counted(len(text.lines), "line", more=text.more)
    setting = _setting(text)
    yield f"  in {total}{_WITHOUT_EDGE}{setting}:" if is_symbol else f"`{name}` is no symbol; in {total}{setting}:"
    is_few = len(text.lines) <= FEW_LINES
    files: dict[str, list[str]] = {}
    for each in text.lines[:MOST_SHOWN]:
        inside = f" {local_name(each.inside.row)}" if each.inside is not None else ""
        act = " sets" if each.sets else " may change" if each.may_change else ""
        quoted = f"{act}: {_around(each.text, name)}" if is_few or act or each.logged else ""
        quoted += f" (only handed to {each.logged})" if each.logged else ""
        files.setdefault(each.path, []).append(f"{each.line}{inside}{quoted}")
    yield from (f"  {path}: {'; '.join(lines)}" for path, lines in files.items())
    tests = [each for each in text.lines if each.behind]
    if not is_symbol and is_few and len(tests) == 1:
        yield f"  {tests[0].path}:{tests[0].line} then:"
        yield from (f"    {line}" for line in tests[0].behind)
    if len(text.lines) > MOST_SHOWN:
        yield f"  and {counted(len(text.lines) - MOST_SHOWN, 'more line')}"


def _setting(text: NameLines) -> str:
    """Return how many lines set the name, and how many more may change what it holds."""
    sets, may = sum(each.sets for each in text.lines), sum(each.may_change for each in text.lines)
    said = [f"{sets} of them {'sets' if sets == 1 else 'set'} it"] if sets else []
    said += [f"{may}{' more' if sets else ''} may change it"] if may else []
    others = ["the rest read or name it"] if said and sets + may < len(text.lines) else []
    return "".join(f", {each}" for each in (*said, *others))


def _around(text: str, name: str) -> str:
    """Return the part of a line that has the name."""
    last = re.split(r"[.:#/]", name.strip("()"))[-1]
    start = max(0, text.find(last) + len(last) + BEHIND - LINE_CHARACTERS)
    return f"...{text[start + 3 : start + LINE_CHARACTERS]}" if start else text[:LINE_CHARACTERS]
