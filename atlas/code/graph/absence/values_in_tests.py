"""Where tests write what a function makes: the code of an error, a key. They test it without an edge that says so.

`assert error.code == "NOT_FOUND"` tests what makes such errors, though its name stands nowhere in the test. Reads the
graph and the indexed texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from atlas.code.graph.absence.name_lines import NameLine, find_name_lines
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

MOST_VALUES, MOST_PLACES, MAX_EDGES = 3, 14, 200
MOST_USERS = 3
"""Functions outside of tests that use a constant; one of more says little about each of them."""
_DISTINCT = lazy_regex(r"[A-Z][A-Z0-9]{1,60}(?:_[A-Z0-9]{1,60}){1,12}|[A-Z]{2,12}\d{2,8}")
"""Names of constants and codes of errors that mean little else."""
_LITERAL = lazy_regex(rf"[\"'`](?P<code>{_DISTINCT.pattern})[\"'`]")
_CALLABLE = (Label.FUNCTION, Label.METHOD)
_FOLDERS = 3
"""Folders of a path that are written once for all below."""


async def values_in_tests(reader: Reader, nodes: Sequence[Node]) -> list[str]:
    """Return a clause for each constant or code of functions that tests write, with the places. Raises store errors."""
    found: list[str] = []
    for node in nodes:
        names = await _names(reader, node) if node.row.label in _CALLABLE else []
        for name in names[:MOST_VALUES]:
            lines = (await find_name_lines(reader, name, node.project, prose=False)).lines
            tests = await _tests(reader, lines, node.project)
            places = [each for each in lines if each.path in tests]
            if places:
                found.append(
                    f"`{name}`, which it uses, stands in {counted(len(places), 'line')} of tests: {_at(places)}"
                )
    return found


async def _names(reader: Reader, node: Node) -> list[str]:
    """Return the constants that a function uses and few others do, and the codes that it writes itself."""
    edges = await reader.store.edges([node.row.uid], Direction.OUT, (EdgeType.REFERENCES,), MAX_EDGES)
    values = {edge.node.row.uid: edge.node.row.name for edge in edges if edge.node.row.label == Label.VALUE}
    named = {uid: name for uid, name in values.items() if _DISTINCT.fullmatch(name)}
    users = await reader.store.edges(list(named), Direction.IN, (EdgeType.REFERENCES,), MAX_EDGES) if named else []
    by: dict[str, set[str]] = {}
    for edge in users:
        if edge.node.row.label in _CALLABLE and not edge.node.row.is_test:
            by.setdefault(edge.row.target, set()).add(edge.node.row.uid)
    few = [name for uid, name in named.items() if len(by.get(uid, ())) <= MOST_USERS]
    text = (
        (await reader.store.content(node.project, [node.row.path])).get(node.row.path, b"").decode("utf-8", "replace")
    )
    body = "\n".join(text.split("\n")[node.row.start_line - 1 : node.row.end_line])
    return list(dict.fromkeys([*few, *(match["code"] for match in _LITERAL.finditer(body))]))


async def _tests(reader: Reader, lines: Sequence[NameLine], project: str) -> set[str]:
    """Return the paths of lines that are files of tests."""
    found: set[str] = set()
    for path in dict.fromkeys(each.path for each in lines):
        nodes = await reader.store.find(path, Match.PATH, Filter(project=project), 1)
        found.update(path for each in nodes if each.row.is_test)
    return found


def _at(places: Sequence[NameLine]) -> str:
    """Return places with the folders that several share written once."""
    more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
    return f"{', '.join(_folded(places[:MOST_PLACES]))}{more}"


def _folded(places: Sequence[NameLine]) -> Iterator[str]:
    before = ""
    for each in places:
        folders = "/".join(each.path.split("/")[:-1][:_FOLDERS])
        if folders and folders == before:
            yield f"…{each.path.removeprefix(folders)}:{each.line}"
        else:
            yield f"{each.path}:{each.line}"
        before = folders
