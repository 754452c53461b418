"""Convert node rows and edges to the values that answers cite. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable

from atlas.code.retrieve.expand import KINDS, Neighbourhood
from atlas.code.tools.symbol.symbols import Neighbour, NeighbourSection, Symbol
from atlas.core.english.sentences import docstring_sentence
from atlas.core.invisible import quoted
from atlas.core.model import Direction, Edge, Label, NodeRow

SUMMARY_CHARACTERS = 160
SIGNATURE_CHARACTERS = 120
"""A longer signature is cut in the line of a hit; `get_context` has it whole."""
LISTED_CHARACTERS = 40
"""A longer name is cut where names of one file are listed."""
FILE_KINDS = ("module", "file", "docfile")
"""Kinds of nodes whose name is their path."""
WINDOW_KINDS = ("code", "config", "markup", "text")
"""Kinds of windows of lines, which are cited by their first and last line."""
TITLED_KINDS = {"docsection": "section", "adr": "adr"}
"""Kinds of nodes that are cited by title, and how the kind is called."""
NOTE_KINDS = ("claim", "decision", "entity", "observation")
"""Kinds of notes: their name is text that a person wrote, and is quoted."""


def symbol_of(row: NodeRow) -> Symbol:
    """Return the citation of a node; signature and summary of a note are quoted."""
    is_note = row.kind in NOTE_KINDS
    summary = "" if is_note and row.name in row.docstring else summary_of(row.docstring)
    return Symbol(
        uid=row.uid,
        kind=row.kind,
        name=row.name,
        qualified_name=row.qualified_name,
        place=place_of(row),
        digest=row.text_digest,
        signature=quoted(row.signature) if is_note and row.signature else row.signature,
        summary=quoted(summary) if is_note and summary else summary,
    )


def shown_name(symbol: Symbol) -> str:
    """Return the displayed name of a symbol: the qualified name, or for a project, where that is an id, the name."""
    return symbol.name if symbol.kind == "project" else symbol.qualified_name


def hit_name(symbol: Symbol, *, is_qualified: bool = False) -> str:
    """Return kind and name on one line, with what the signature says after the name: `method Cart.add(self, item)`.

    Unless it is to be qualified, the name omits what the path says. The rest of the signature is cut at
    `SIGNATURE_CHARACTERS`.
    """
    if symbol.kind in FILE_KINDS:
        return symbol.kind
    if symbol.kind in TITLED_KINDS:
        return f"{TITLED_KINDS[symbol.kind]} {symbol.name}"
    if symbol.kind in NOTE_KINDS:
        return f"{symbol.kind} {quoted(symbol.name)} {symbol.qualified_name}"
    if symbol.kind in WINDOW_KINDS:
        return f"{symbol.kind} {symbol.signature or symbol.name}"
    name = symbol.qualified_name if is_qualified else shortened(symbol.qualified_name, path_of(symbol.place))
    start = _position(symbol.name, symbol.signature)
    rest = symbol.signature[start + len(symbol.name) :] if start >= 0 else f" {symbol.signature}".rstrip()
    rest = "" if rest.strip() == symbol.kind else rest
    marks = "async " if start > 0 and "async" in symbol.signature[:start].split() else ""
    if len(rest) > SIGNATURE_CHARACTERS:
        rest = f"{rest[:SIGNATURE_CHARACTERS].rstrip()}..."
    return f"{marks}{symbol.kind} {name}{rest}"


def _position(name: str, signature: str) -> int:
    """Return where a name stands in a signature as a whole word, or -1."""
    start = signature.find(name) if name else -1
    while start >= 0:
        end = start + len(name)
        if not any(map(_is_word, (signature[start - 1 : start], signature[end : end + 1]))):
            return start
        start = signature.find(name, start + 1)
    return -1


def _is_word(character: str) -> bool:
    return character.isalnum() or (character != "" and character in "_$")


def local_name(row: NodeRow) -> str:
    """Return a qualified name without the segments that repeat the path: `Cart.add` of `shop/cart.py`.

    A file is called by its kind: its path stands next to it.
    """
    if row.label in (Label.MODULE, Label.PACKAGE, Label.FILE, Label.DOC_FILE) and row.path:
        return row.kind
    return shortened(row.qualified_name, row.path)


def shortened(qualified_name: str, path: str) -> str:
    """Return a qualified name without the leading segments that repeat the path."""
    segments = qualified_name.split(".")
    folders = path.rpartition(".")[0].split("/") if path else []
    if folders and folders[-1] in ("__init__", "index", "mod", "lib", "main"):
        folders.pop()
    for count in range(min(len(folders), len(segments) - 1), 0, -1):
        if segments[:count] == folders[-count:]:
            return ".".join(segments[count:])
    return qualified_name


def parents_line(parents: Iterable[Symbol]) -> str:
    """Return the enclosing nodes as `class shop.cart.Cart < module shop.cart < project shop`."""
    return " < ".join(f"{parent.kind} {shown_name(parent)}" for parent in parents)


def short_title(name: str) -> str:
    """Return a name for a list of names: of a long one, such as the title of a section, its beginning."""
    return name if len(name) <= LISTED_CHARACTERS else f"{name[: LISTED_CHARACTERS - 3].rstrip()}..."


def place_of(row: NodeRow) -> str:
    """Return `path:line`, `path:first-last` for a window of lines, or "" for nodes without a path."""
    if row.kind in WINDOW_KINDS and row.start_line < row.end_line:
        return f"{row.path}:{row.start_line}-{row.end_line}"
    return f"{row.path}:{row.line or row.start_line or 1}" if row.path else ""


def path_of(place: str) -> str:
    """Return the path of a `path:line` place."""
    return place.rpartition(":")[0]


def summary_of(docstring: str) -> str:
    """Return the first sentence on one line, at most `SUMMARY_CHARACTERS` characters."""
    sentence = docstring_sentence(docstring)
    return sentence if len(sentence) <= SUMMARY_CHARACTERS else sentence[: SUMMARY_CHARACTERS - 3].rstrip() + "..."


def sections_of(around: Neighbourhood, kinds: Iterable[str], own_path: str) -> tuple[NeighbourSection, ...]:
    """Return the non-empty neighbour lists of `kinds`, in that order, for a node in `own_path`."""
    return tuple(
        NeighbourSection(
            kind,
            around.related[kind].total,
            tuple(neighbour_of(edge, KINDS[kind][0], own_path) for edge in around.related[kind].edges),
        )
        for kind in kinds
        if kind in around.related
    )


def neighbour_of(edge: Edge, direction: Direction, own_path: str) -> Neighbour:
    """Return the node at the other end of an edge; the evidence is a line in the file of the edge's source node."""
    row, far = edge.row, edge.node.row
    source_path = far.path if direction == Direction.IN else own_path
    return Neighbour(
        uid=far.uid,
        kind=far.kind,
        place=place_of(far),
        at=f"{source_path}:{row.line}" if row.line and source_path else "",
        type=row.type,
        strategy=row.strategy,
        confidence=round(row.confidence, 4),
        digest=far.text_digest,
    )
