"""Values of the constants and settings that shown lines name: `timeout=DEFAULT_TIMEOUT` says no number by itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from atlas.code.graph.absence.name_lines import find_name_lines
from atlas.code.reader import Reader
from atlas.code.tools.citations import place_of
from atlas.core.english.stems import root_of
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match

MAX_NAMES = 6
MAX_VALUES = 3
MAX_SAME = 2
"""Constants of one name that are shown."""
MAX_TEXT = 100
_READ = 20
_OF_FILE = 500
_LIMITS = lazy_regex(r"default|timeout|time_out|delay|limit|max|min|size|interval|threshold", re.IGNORECASE)
_ASKS_VALUE = lazy_regex(
    r"\b(?:defaults?|values?|how (?:long|much|many|often|big|large|deep|far|wide|fast)|limits?|thresholds?|time-?outs?"
    r"|max(?:imum)?|min(?:imum)?|sizes?|intervals?|delays?|which number)\b",
    re.IGNORECASE,
)
_NAMED = lazy_regex(
    r"(?<![\w$'\"])(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+"
    r"|(?i:\w{0,40}(?:default|timeout|time_out|delay|limit|max|min|size|interval|threshold)\w{0,40}))(?![\w$]|\s{0,3}\(|\s{0,3}=(?!=))"
)
"""Not what is called or gets its value in the line."""


_SETTING = lazy_regex(
    r"\b_?(?:conf|config|configuration|settings?|options?|opts)(?:\.[a-z]\w{1,30})?\.(?P<name>[a-z]\w{3,60})(?![\w$(.]|\s{0,3}=(?!=))"
)
"""A setting that a line reads: `self._config.retry_delay`, `settings.response.failAction`."""
_SETS = lazy_regex(r"""^['"]?(?P<name>[\w$]+)['"]?\s{0,3}[:=].*(?:\bdefault\b|\d)""")
MOST_SETTINGS = 3


def asks_for_value(text: str) -> bool:
    """Return whether a question asks for a number or another value."""
    return _ASKS_VALUE.search(text) is not None


async def values_of(
    reader: Reader, project: str, lines: Iterable[str], known: Collection[str], words: Collection[str], path: str
) -> tuple[str, ...]:
    """Return the constants that lines name, each as `NAME = value path:line`; those with known uids are left out.

    Constants of the file count as well. Their names have a word of the question, and few constants have them. Raises
    store errors.
    """
    defined = await reader.store.find(path, Match.PATH, Filter(project=project, labels=(Label.VALUE,)), _OF_FILE)
    own = (node.row.name for node in defined if _LIMITS.search(node.row.name) and node.row.name.isupper())
    written = dict.fromkeys((*(name for line in lines for name in _NAMED.findall(line)), *own))
    asked = {root_of(word) for word in words}
    names = [name for name in written if not asked.isdisjoint(map(root_of, reader.split_words(name)))]
    return await _values(reader, project, names, known)


async def constants_named(
    reader: Reader, project: str, lines: Iterable[str], known: Collection[str]
) -> tuple[str, ...]:
    """Return the constants that lines name in capitals, as `values_of` does. Raises store errors."""
    names = dict.fromkeys(name for line in lines for name in _NAMED.findall(line) if name.isupper() and "_" in name)
    return await _values(reader, project, list(names), known)


async def _values(reader: Reader, project: str, names: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
    found: list[str] = []
    for name in names[:MAX_NAMES]:
        nodes = await reader.store.find(name, Match.SUFFIX, Filter(project=project, labels=(Label.VALUE,)), _READ)
        rows = [node.row for node in nodes if not node.row.is_test and " = " in node.row.signature]
        if not 0 < len(rows) <= MAX_SAME:
            continue
        for row in rows:
            value = " ".join(row.signature.partition(" = ")[2].split())
            if row.uid not in known and value and value != name:
                found.append(f"{name} = {value[:MAX_TEXT]} {place_of(row)}")
    return tuple(found[:MAX_VALUES])


async def settings_read(reader: Reader, project: str, lines: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """Return the defaults of the settings that lines read, each as `name = value path:line`. Raises store errors.

    Where no symbol has the name, a line of code that gives it a number or a default: `timeout: int().default(30)`.
    """
    read = (match["name"] for line in lines for match in _SETTING.finditer(line))
    names = [name for name in dict.fromkeys(read) if len(set(reader.split_words(name))) > MAX_SAME]
    found: list[str] = []
    for name in names[:MAX_NAMES]:
        nodes = await reader.store.find(name, Match.SUFFIX, Filter(project=project, labels=(Label.VALUE,)), _READ)
        rows = [node.row for node in nodes if not node.row.is_test]
        valued = [row for row in rows if " = " in row.signature and row.uid not in known]
        if len(valued) == 1 and (value := " ".join(valued[0].signature.partition(" = ")[2].split())) != name:
            found.append(f"{name} = {value[:MAX_TEXT]} {place_of(valued[0])}")
        elif not valued:
            set_by = await find_name_lines(reader, name, project, prose=False)
            told = [each for each in set_by.lines if (match := _SETS.match(each.text)) and match["name"] == name]
            if len(told) == 1:
                found.append(f"{told[0].text[:MAX_TEXT]} {told[0].path}:{told[0].line}")
    return tuple(found[:MOST_SETTINGS])
