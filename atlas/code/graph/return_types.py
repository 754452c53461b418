"""Find the functions that declare a type as their result, from the signatures of those that use it. Reads the graph."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from atlas.code.reader import Reader
from atlas.core.model import Direction, Edge, EdgeType, Label

MAX_EDGES = 20_000
_CALLABLE = (Label.FUNCTION, Label.METHOD)
_TYPES = ("type_alias", "type", "typedef")
_KEYWORD = re.compile(r"\b(?:def|fun|func|fn|function|let|const|val|var)\b")
"""Before the name of a function whose type stands behind its parameters."""
_OPEN, _CLOSE = "([{<", ")]}>"


def is_type(label: str, kind: str) -> bool:
    """Return whether a symbol is a type that a function may return."""
    return label in (Label.CLASS, Label.EXTERNAL_SYMBOL) or (label == Label.VALUE and kind in _TYPES)


async def edges_of_returning(reader: Reader, uids: Sequence[str], names: Collection[str]) -> list[Edge]:
    """Return the edges from functions whose declared result names the types. Raises store errors."""
    edges = await reader.store.edges(uids, Direction.IN, (EdgeType.USES_TYPE,), MAX_EDGES)
    word = re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, names))})(?![\w$])")
    return [
        edge
        for edge in edges
        if edge.node.row.label in _CALLABLE and word.search(result_of(edge.node.row.signature, edge.node.row.name))
    ]


def result_of(signature: str, name: str) -> str:
    """Return the part of a signature that declares the result: behind the parameters, in C's family before the name."""
    named = re.search(rf"(?<![\w$]){re.escape(name.partition('#')[0])}(?=\s*[(<\[=:])", signature)
    start = named.end() if named is not None else 0
    before = signature[: named.start()] if named is not None else ""
    opening = signature.find("(", start)
    if signature[start:].lstrip()[:1] in ("<", "["):
        # type parameters
        opening = signature.find(
            "(", _end_of(signature, start + len(signature[start:]) - len(signature[start:].lstrip()))
        )
    behind = signature[_end_of(signature, opening) :] if opening >= 0 else signature[start:]
    return behind if _KEYWORD.search(before) or not before.strip() else f"{before} {behind}"


def _end_of(text: str, start: int) -> int:
    """Return the position behind the bracket that closes the one at `start`; the end of the text if none does."""
    depth = 0
    for position in range(start, len(text)):
        sign = text[position]
        # `=>` and `->` are arrows
        if sign in _OPEN:
            depth += 1
        elif sign in _CLOSE and not (sign == ">" and text[position - 1] in "=-"):
            depth -= 1
            if depth <= 0:
                return position + 1
    return len(text)
