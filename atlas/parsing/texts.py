"""The rows and search texts of a unit: from the extension, or from stored rows and the bytes of a file, for a copy.

Stores keep words in their own order and do not return them. Both ways give equal texts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from atlas._parser import Unit, split_words, stem_words
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import STRUCTURE_PATH, EdgeRow, NodeRow, SearchText, is_prose

_HOLDS = frozenset(("CONTAINS", "DEFINES", "DEFINES_METHOD"))

_NAME_MARK = "1"
_ID = lazy_regex(r"\[o-[0-9A-Za-z]{26}\]")
"""The id of an observation."""

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

_Span = tuple[int, int]

_Row = TypeVar("_Row")


def texts_of(path: str, nodes: Sequence[NodeRow], edges: Sequence[EdgeRow], content: bytes) -> list[SearchText]:
    """Return the search texts of a unit's nodes in order; `content` is the file's bytes, b"" for the structure unit."""
    spans = {node.uid: (node.start_byte, node.end_byte) for node in nodes}
    nested = _nested(nodes, edges, spans)
    headings = _headings(nodes, edges)
    of_path = _words(path)
    texts: list[SearchText] = []
    for node in nodes:
        own, prose = b"", is_prose(node.label, node.kind)
        if path != STRUCTURE_PATH:
            docstring = "" if prose else node.docstring
            own = _own_text(content, spans[node.uid], sorted(nested.get(node.uid, ())), docstring)
        if node.label == "DocFile" and path.endswith(".ipynb"):
            own = b""  # what a notebook says besides its cells is outputs and images
        source = own.decode("utf8", "replace")
        if prose:
            source = f"{_stems(node.chunk_name)}{_stems(_prose(source, node))}"
            source += "".join(f"{word} " for word in name_words(node.chunk_name)) if node.label == "Entity" else ""
        else:
            source = _words(source)
        qualified = "".join(map(_words, (node.qualified_name, *headings.get(node.uid, ()))))
        name = node.chunk_name if node.label == "Entity" else node.name
        words = (_words(name), qualified, _words(node.docstring))
        texts.append(SearchText(node.uid, *words, source, of_path))
    return texts


def name_words(text: str) -> list[str]:
    """Return the words of a text as they are indexed for the names of entities only."""
    return [f"{_NAME_MARK}{word}" for word in split_words(text)]


def _headings(nodes: Sequence[NodeRow], edges: Sequence[EdgeRow]) -> dict[str, list[str]]:
    """Return the titles of the sections around each section, innermost first."""
    titles = {node.uid: node.name for node in nodes if node.label == "DocSection"}
    around = {edge.target: edge.source for edge in edges if edge.type == "CONTAINS" and edge.source in titles}
    found: dict[str, list[str]] = {}
    for uid in titles:
        outer = around.get(uid)
        while outer is not None:
            found.setdefault(uid, []).append(titles[outer])
            outer = around.get(outer)
    return found


def _nested(nodes: Sequence[NodeRow], edges: Sequence[EdgeRow], spans: Mapping[str, _Span]) -> dict[str, set[_Span]]:
    """Return, for each node, the spans inside it that belong to nested nodes.

    A node that is written outside its owner (a method in Go or Rust) is nested in the node that encloses it.
    """
    nested: dict[str, set[_Span]] = {}
    apart = {node.uid: node for node in nodes if node.label != "File"}
    for edge in edges:
        if edge.type == "HAS_OBSERVATION" and edge.source in spans and edge.target in apart:
            # a list item ends with its line, behind the end of the entity's text
            nested.setdefault(edge.source, set()).add(spans[edge.target])
            del apart[edge.target]
        if edge.type in _HOLDS and edge.source in spans and edge.target in apart:
            around, span = spans[edge.source], spans[edge.target]
            if around[0] <= span[0] and span[1] <= around[1]:
                nested.setdefault(edge.source, set()).add(span)
                del apart[edge.target]
    # a file's node encloses the module that spans the whole file
    by_size = sorted(nodes, key=lambda node: (node.end_byte - node.start_byte, node.label == "File"))
    for uid in apart:
        start, end = spans[uid]
        for node in by_size:
            at, stop = spans[node.uid]
            if at <= start and end <= stop and stop - at > end - start:
                nested.setdefault(node.uid, set()).add((start, end))
                break
    return nested


def _prose(text: str, node: NodeRow) -> str:
    """Return the own text of a note without the id of an observation and with the month of its creation in words."""
    text = _ID.sub("", text, count=1)
    created = cast("dict[str, str]", json.loads(node.properties or "{}")).get("created", "")
    month = created[5:7]
    if not month.isdigit() or not 1 <= int(month) <= len(_MONTHS):
        return text
    date = f"{created[:10]} {_MONTHS[int(month) - 1]}"
    return text.replace(created, date, 1) if created in text else f"{text}\n{date}"


def _words(text: str) -> str:
    return "".join(f"{word} " for word in split_words(text))


def _stems(text: str) -> str:
    stems = stem_words(text)
    return f"{stems} " if stems else ""


def _own_text(content: bytes, span: _Span, holes: Sequence[_Span], docstring: str) -> bytes:
    """Return the text of a span without the spans of nested nodes and without the docstring, as valid UTF-8."""
    end = min(span[1], len(content))
    at = min(span[0], end)
    own: list[bytes] = []
    for start, stop in holes:
        if start > at:
            own += (_valid(content[at : min(start, end)]), b"\n")
        at = max(at, min(stop, end))
    own.append(_valid(content[at:end]))
    return _without_docstring(b"".join(own), docstring)


def _valid(text: bytes) -> bytes:
    return text.decode("utf8", "replace").encode("utf8")


def _without_docstring(text: bytes, docstring: str) -> bytes:
    """Remove the docstring from its first line to its last: only its lines are verbatim, not their indentation."""
    written = docstring.split("\n")
    several = len(written) > 1 and (len(written) > 2 or bool(written[1]))
    lines = [line for line in (one.strip() for one in written) if line]
    if not lines:
        return text
    first, last = lines[0].encode("utf8"), lines[-1].encode("utf8")
    start = text.find(first)
    if start < 0:
        return text
    after = start + len(first)
    if not several:
        return text[:start] + b" " + text[after:]
    reach = min(start + len(docstring.encode("utf8")) * 3 + 200, len(text))
    while reach < len(text) and text[reach] & 0xC0 == 0x80:
        reach += 1
    found = text.find(last, after, reach)
    return text if found < 0 else text[:start] + b" " + text[found + len(last) :]


def rows_of(unit: Unit, content: bytes) -> tuple[list[NodeRow], list[EdgeRow], list[SearchText]]:
    """Return nodes, outgoing edges and search texts of a unit; its facts were made from the bytes `content`."""
    return (
        _named(NodeRow, unit.nodes()),
        _named(EdgeRow, unit.edges()),
        _named(SearchText, unit.texts(content)),
    )


def _named(kind: type[_Row], rows: list[Any]) -> list[_Row]:
    """Return the tuples as ones of this kind. `_make` takes four times as long: half a million rows are 1 s."""
    return list(map(partial(cast(Any, tuple).__new__, kind), rows))
