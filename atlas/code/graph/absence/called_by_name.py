"""Find calls of a method by a text that holds its name: `dates[i][method]()` where another place says `'isAfter'`.

Which method such a call runs, only the text says that reaches it: both places are named, as what may call it. The name
may be put together as well: `"add_{$key}"` may be `add_cert`. No edge leads there, and no line has the whole name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from atlas.code.graph.absence.occurrences import is_comment
from atlas.code.reader import Reader
from atlas.code.retrieve.written_files import innermost
from atlas.core.invisible import escaped
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
LEAST = 3
"""Characters of a part of a name: shorter ones stand in any text."""
MOST_SHOWN = 4
"""Lines that are shown."""
MAX_TEXT = 60
_BORDER = lazy_regex(r"(?<=_)(?=[^_])|(?<=[a-z0-9])(?=[A-Z])")
_INSERTED = r"(?:#?\{|\$\{?\w|%[sd]|(?P=quote)\s?[.+&]\s?[\w$@])"
"""What is put behind the first part: an interpolation, a placeholder, or a value that is added."""
_BEFORE = r"(?:\}|%[sd]|[\w)\]]\s?[.+&]\s?(?P<second>['\"`]))"


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


async def built_names(reader: Reader, nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return the lines of code that may put the name of functions together, each with its text; raises store errors."""
    name, project = nodes[0].row.name, nodes[0].project
    parts = list(_parts(name))
    if not parts or any(node.row.label not in (Label.FUNCTION, Label.METHOD) for node in nodes):
        return ()
    where = Filter(project=project, labels=_CODE, include_tests=False)
    words = dict.fromkeys(word for part in parts for word in reader.split_words(part)[:1])
    hits = [hit.uid for word in words for hit in await reader.store.search_text([word], where, MOST_READ)]
    found = [*nodes, *await reader.store.symbols(list(dict.fromkeys(hits)))]
    contents = await reader.store.content(project, sorted({node.row.path for node in found if node.row.path}))
    pattern = re.compile("|".join(map(_pattern, parts, range(len(parts)))))
    return tuple(_built(contents, pattern, parts))[:MOST_SHOWN]


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


def _built(contents: Mapping[str, bytes], pattern: re.Pattern[str], parts: Sequence[str]) -> Iterator[str]:
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
