"""Find the functions that return a type: by what their signatures declare, and by lines that return a new one.

Types of the language itself (`error`, `str`) have no edges: signatures that name them are found as text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from atlas.code.graph.aliases.alias_text import ALIAS_KINDS
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, Edge, EdgeType, Filter, Label, Node

MAX_EDGES = 20_000
MOST_SIGNATURES = 5_000
"""Functions with the word of a type whose signatures are read."""
MOST_FILES = 400
"""Files whose lines are looked at for `return X(`."""
MAX_LINE = 400
"""Characters of a line that are looked at."""
DECLARES_RESULTS = (".go", ".java", ".cs", ".rs", ".c", ".h", ".cc", ".cpp", ".hpp")
"""Endings of languages in which each function declares what it returns."""
_CALLABLE = (Label.FUNCTION, Label.METHOD)
_KEYWORD = lazy_regex(r"\b(?:def|fun|func|fn|function|let|const|val|var)\b")
"""Before the name of a function whose type stands behind its parameters."""
_OPEN, _CLOSE = "([{<", ")]}>"


def is_type(label: str, kind: str) -> bool:
    """Return whether a symbol is a type that a function may return."""
    return label in (Label.CLASS, Label.EXTERNAL_SYMBOL) or (label == Label.VALUE and kind in ALIAS_KINDS)


async def returning_lines(reader: Reader, uids: Sequence[str], names: Collection[str], project: str) -> list[Edge]:
    """Return the edges from functions that return a new instance, `return X(`, with those lines. Raises store errors.

    Only of files in which a function need not declare what it returns.
    """
    edges = await reader.store.edges(uids, Direction.IN, (EdgeType.CALLS,), MAX_EDGES)
    edges = [
        edge for edge in edges if edge.node.row.label in _CALLABLE and not edge.node.row.path.endswith(DECLARES_RESULTS)
    ]
    paths = list(dict.fromkeys(edge.node.row.path for edge in edges))[:MOST_FILES]
    contents = await reader.store.content(project, paths) if paths else {}
    texts = {path: content.decode("utf-8", "replace").splitlines() for path, content in contents.items()}
    returns = re.compile(
        rf"(?:\b(?:return|yield)\s+(?:await\s+)?|=>\s*)(?:new\s+)?(?:[\w$]+(?:\.|::))*(?:{_any(names)})(?:\.new)?\s*[(<]"
    )
    found: list[Edge] = []
    for edge in edges:
        text = texts.get(edge.node.row.path, [])
        lines = tuple(
            line for line in edge.row.lines if line <= len(text) and returns.search(text[line - 1][:MAX_LINE])
        )
        if lines:
            found.append(replace(edge, row=edge.row._replace(line=lines[0], further_lines=lines[1:])))
    return found


async def declared_as(reader: Reader, name: str, project: str) -> tuple[list[Node], bool]:
    """Return the functions whose declared result has a word, and whether there may be more. Raises store errors."""
    where = Filter(project=project, labels=_CALLABLE)
    hits = await reader.store.search_text(reader.split_words(name)[:1], where, MOST_SIGNATURES)
    word = re.compile(rf"(?<![\w$.])(?:{_any((name,))})(?![\w$])")
    nodes = await reader.store.symbols([hit.uid for hit in hits])
    found = [node for node in nodes if word.search(result_of(node.row.signature, node.row.name))]
    return found, len(hits) >= MOST_SIGNATURES


def _any(names: Collection[str]) -> str:
    return "|".join(map(re.escape, sorted(names)))


async def edges_of_returning(reader: Reader, uids: Sequence[str], names: Collection[str]) -> list[Edge]:
    """Return the edges from functions whose declared result names the types. Raises store errors."""
    edges = await reader.store.edges(uids, Direction.IN, (EdgeType.USES_TYPE,), MAX_EDGES)
    word = re.compile(rf"(?<![\w$])(?:{_any(names)})(?![\w$])")
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
