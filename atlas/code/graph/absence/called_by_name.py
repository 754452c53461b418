"""Find calls of a method by a text that holds its name: `dates[i][method]()` where another place says `'isAfter'`.

Which method such a call runs, only the text says that reaches it: both places are named, as what may call it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from atlas.code.graph.absence.occurrences import is_comment
from atlas.code.reader import Reader
from atlas.code.retrieve.written_files import innermost
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match, Node

MOST_FILES, MOST_LINES = 6, 4
"""Files with the name in quotes beside a call by name, and lines of each kind in one of them."""
MOST_READ = 60
MAX_LINE = 400
_COMPUTED = lazy_regex(
    r"[\w$\])]\s?\[\s?(?P<name>[A-Za-z_$][\w$.]{0,60})\s?\]\s?(?:\(|\.(?:call|apply|bind)\()"
    r"|\bgetattr\(\s?[\w.]{1,60}, ?(?P<attribute>[A-Za-z_]\w{0,60})"
    r"|(?:\.|\bpublic_|\b__)send(?:__)?\(\s?(?P<sent>[a-z_]\w{0,60})\b"
)
"""A member is called that a variable names."""
_SCRIPT = "script"
_CODE = (Label.FUNCTION, Label.METHOD, Label.CLASS, Label.MODULE)


async def called_by_name(
    reader: Reader, nodes: Sequence[Node], keep: Callable[[Node], bool] | None = None
) -> tuple[str, ...]:
    """Return a note with the files that have the name of a method as a text and call members by name; () without any.

    `keep` limits the files to those whose symbols are in a scope. Tests do not count. Raises store errors.
    """
    name, project = nodes[0].row.name, nodes[0].project
    if any(node.row.label not in (Label.METHOD, Label.FUNCTION) for node in nodes):
        return ()
    words = reader.split_words(name)[:1]
    where = Filter(project=project, labels=_CODE, include_tests=False)
    hits = await reader.store.search_text(words, where, MOST_READ) if words else []
    found = await reader.store.symbols([hit.uid for hit in hits])
    languages = {_family(node) for node in nodes}
    kept = [node for node in found if _family(node) in languages and (keep is None or keep(node))]
    paths = list(dict.fromkeys(node.row.path for node in kept if node.row.path and not node.row.is_generated))
    contents = await reader.store.content(project, paths)
    quoted = re.compile(rf"(?P<quote>['\"`]){re.escape(name)}(?P=quote)|(?<![\w:]):{re.escape(name)}\b")
    said: list[str] = []
    for path in sorted(paths):
        lines = contents.get(path, b"").decode("utf-8", "replace").splitlines()
        named = [number for number, line in enumerate(lines, 1) if _has(quoted, name, line)]
        calls = [number for number, line in enumerate(lines, 1) if _has(_COMPUTED, "", line)]
        if named and calls:
            said.append(await _said(reader, project, path, lines, named, calls))
    if not said:
        return ()
    more = f" and {len(said) - MOST_FILES} more files" if len(said) > MOST_FILES else ""
    return (f"a call by name may run it, where `{name}` is a text: {'; '.join(said[:MOST_FILES])}{more}",)


def _family(node: Node) -> str:
    """Return what languages that call each other's members have in common: the name, or its ending."""
    return _SCRIPT if node.row.language.endswith(_SCRIPT) else node.row.language


def _has(pattern: re.Pattern[str], name: str, line: str) -> bool:
    return name in line and len(line) <= MAX_LINE and pattern.search(line) is not None and not is_comment(line)


async def _said(
    reader: Reader, project: str, path: str, lines: Sequence[str], named: Sequence[int], calls: Sequence[int]
) -> str:
    """Return the lines of a file that have the name, with the functions around them, and those that call by name."""
    functions = Filter(project=project, labels=(Label.FUNCTION, Label.METHOD))
    inside = await reader.store.find(path, Match.PATH, functions, 10_000)
    places: list[str] = []
    for number in named[:MOST_LINES]:
        around = innermost(inside, number)
        places.append(f"{number}{f' in `{around.row.name}`' if around is not None else ''}")
    more = f" and {len(named) - MOST_LINES} more" if len(named) > MOST_LINES else ""
    called = ", ".join(f"{number} `{_call(lines[number - 1])}`" for number in calls[:MOST_LINES])
    return f"{path}:{', '.join(places)}{more}, called by name at {called}"


def _call(line: str) -> str:
    """Return the part of a line that calls a member by name."""
    match = _COMPUTED.search(line)
    assert match is not None
    start = max(line.rfind(" ", 0, match.start()), line.rfind("!", 0, match.start())) + 1
    return f"{line[start : match.end()].strip().rstrip('(')}{'(...)' if match['name'] else '...'}"
