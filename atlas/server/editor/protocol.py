"""The language server: the editor's messages in, places and texts of the graph out. Nothing is written.

An index that does not exist is said once, with the command that makes it; every request is then answered with nothing.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from atlas import __version__
from atlas.app.session import Session
from atlas.code.atlas import Atlas
from atlas.core.errors import AtlasError
from atlas.core.invisible import printable
from atlas.core.model import Direction, Edge, EdgeType, Label, Node
from atlas.server.editor.graph_places import (
    SYMBOLS,
    PlacedSymbol,
    calls_of,
    hits_at,
    nodes_of_file,
    references_to,
    symbols_named,
)
from atlas.server.editor.places import IndexedTexts, LineMap, Span, spans_of, word_at

KINDS = {
    Label.CLASS: types.SymbolKind.Class,
    Label.FUNCTION: types.SymbolKind.Function,
    Label.METHOD: types.SymbolKind.Method,
    Label.VALUE: types.SymbolKind.Variable,
}
MAX_DOCSTRING = 1_000
"""Characters of a docstring in a hover."""
MAX_URIS = 10_000
"""Addresses of files that are kept: each takes longer to make than the places in its file."""

_Answer = TypeVar("_Answer")

AtPosition = types.DefinitionParams | types.ReferenceParams | types.HoverParams | types.CallHierarchyPrepareParams


class GraphForEditor:
    """Answers requests about the project of one session."""

    def __init__(self, session: Session, server: LanguageServer) -> None:
        self._session, self._server = session, server
        self._root, self._project = session.settings.root, session.settings.project_name
        self._texts = IndexedTexts()
        self._uris: dict[str, str] = {}
        self._has_told = False

    async def answer(self, ask: Callable[[Atlas], Awaitable[_Answer]], empty: _Answer) -> _Answer:
        """Return what `ask` finds in the index with its newer files, `empty` if there is none to ask."""
        try:
            return await ask(await self._session.fresh())
        except AtlasError as error:
            if not self._has_told:
                self._has_told = True
                text = " ".join(filter(None, (f"Code Atlas: {error.message}.", error.hint)))
                kind = types.MessageType.Warning
                self._server.window_show_message(types.ShowMessageParams(kind, printable(text)))
            return empty

    async def hits(self, atlas: Atlas, at: AtPosition) -> tuple[list[PlacedSymbol], types.Range | None]:
        """Return what stands at a position, and the range of its word."""
        path = self._path(at.text_document.uri)
        if path is None:
            return [], None
        indexed, mapped = await self._open_text(atlas, path)
        line = mapped.to_index(at.position.line)
        if line is None or line >= len(indexed):
            return [], None
        word, start, end = word_at(indexed[line], at.position.character)
        here = types.Range(types.Position(at.position.line, start), types.Position(at.position.line, end))
        nodes = await nodes_of_file(atlas, self._project, path)
        return await hits_at(atlas, nodes, line + 1, word), here

    async def locations(self, atlas: Atlas, wanted: Sequence[tuple[str, int, str]]) -> list[types.Location]:
        """Return the places of words on lines of the index (path, line from 1, word), in the editor's positions."""
        generation = await self._session.generation()
        store = atlas.reader.store
        texts = await self._texts.lines(store, self._project, [path for path, _, _ in wanted], generation)
        files: dict[str, tuple[str, LineMap]] = {}
        found: list[types.Location] = []
        for path, line, word in wanted:
            lines = texts.get(path)
            if lines is None or not 0 < line <= len(lines):
                continue
            if path not in files:
                files[path] = self._uri(path), self._map_of(path, lines)
            uri, mapped = files[path]
            shown = mapped.to_editor(line - 1)
            if shown is not None:
                found += [types.Location(uri, _range(one, shown)) for one in spans_of(word, lines[line - 1], line)]
        return found

    async def definition(self, atlas: Atlas, at: AtPosition) -> list[types.Location]:
        """Return where what stands at a position is defined."""
        hits, _ = await self.hits(atlas, at)
        rows = [hit.node.row for hit in hits if hit.node.row.path]
        places = await self.locations(atlas, [(row.path, max(row.line, 1), row.name) for row in rows])
        firsts: dict[tuple[str, int], types.Location] = {}
        for place in places:  # a line may have the name twice: `class save: save = 1`
            firsts.setdefault((place.uri, place.range.start.line), place)
        return list(firsts.values())

    async def references(self, atlas: Atlas, at: types.ReferenceParams) -> list[types.Location]:
        """Return the lines of all edges that lead to what stands at a position."""
        hits, _ = await self.hits(atlas, at)
        if not hits:
            return []
        found = await references_to(atlas, [hit.node.row.uid for hit in hits])
        name = hits[0].node.row.name.rpartition(".")[2]
        wanted = [(path, line, name) for path, line in found]
        if at.context.include_declaration:
            wanted += [(hit.node.row.path, hit.node.row.line, hit.node.row.name) for hit in hits if hit.node.row.path]
        return await self.locations(atlas, list(dict.fromkeys(wanted)))

    async def hover(self, atlas: Atlas, at: AtPosition) -> types.Hover | None:
        """Return what stands at a position, with the rule and the confidence that led there."""
        hits, here = await self.hits(atlas, at)
        if not hits:
            return None
        degrees = await atlas.reader.store.degrees([hit.node.row.uid for hit in hits], Direction.IN)
        parts = [_described(hit, degrees.get(hit.node.row.uid, {})) for hit in hits]
        text = printable("\n\n---\n\n".join(parts))
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), here)

    async def outline(self, atlas: Atlas, uri: str) -> list[types.DocumentSymbol]:
        """Return the symbols of a file, those inside of others below them."""
        path = self._path(uri)
        if path is None:
            return []
        indexed, mapped = await self._open_text(atlas, path)
        top: list[types.DocumentSymbol] = []
        open_ones: list[tuple[int, types.DocumentSymbol]] = []
        for node in await nodes_of_file(atlas, self._project, path):
            row = node.row
            if row.label not in SYMBOLS or not 0 < row.line <= len(indexed):
                continue
            name_line = mapped.to_editor(row.line - 1)
            if name_line is None:
                continue
            first = mapped.to_editor(row.start_line - 1)
            last = mapped.to_editor(min(row.end_line, len(indexed)) - 1)
            first = name_line if first is None else min(first, name_line)
            last = name_line if last is None else max(last, name_line)
            selected = _range(spans_of(row.name, indexed[row.line - 1], row.line)[0], name_line)
            whole = types.Range(types.Position(first, 0), types.Position(last + 1, 0))
            symbol = types.DocumentSymbol(
                printable(row.name) or "?",
                KINDS[Label(row.label)],
                whole,
                selected,
                printable(row.signature),
                children=[],
            )
            while open_ones and open_ones[-1][0] < row.end_line:
                open_ones.pop()
            siblings = open_ones[-1][1].children if open_ones else top
            assert siblings is not None
            list.append(siblings, symbol)  # type: ignore[arg-type]
            open_ones.append((row.end_line, symbol))
        return top

    async def workspace_symbols(self, atlas: Atlas, query: str) -> list[types.WorkspaceSymbol]:
        """Return the symbols of the project with a name."""
        nodes = [one for one in await symbols_named(atlas, self._project, query.strip()) if one.row.path]
        found: list[types.WorkspaceSymbol] = []
        for node in nodes:
            row = node.row
            place = (await self.locations(atlas, [(row.path, row.line, row.name)]))[:1]
            if place:
                within = row.qualified_name.removesuffix(row.name).rstrip(".")
                found.append(
                    types.WorkspaceSymbol(
                        place[0], printable(row.name), KINDS[Label(row.label)], container_name=printable(within)
                    )
                )
        return found

    async def call_items(self, atlas: Atlas, at: AtPosition) -> list[types.CallHierarchyItem]:
        """Return what stands at a position as items of the call hierarchy."""
        hits, _ = await self.hits(atlas, at)
        items = [await self._item(atlas, hit.node) for hit in hits]
        return [one for one in items if one is not None]

    async def incoming(self, atlas: Atlas, item: types.CallHierarchyItem) -> list[types.CallHierarchyIncomingCall]:
        """Return who calls an item."""
        found: list[types.CallHierarchyIncomingCall] = []
        for edge in await calls_of(atlas, str(item.data), Direction.IN):
            caller = await self._item(atlas, edge.node)
            if caller is not None:
                ranges = await self._ranges(atlas, edge.node.row.path, edge, item.name)
                found.append(types.CallHierarchyIncomingCall(caller, ranges))
        return found

    async def outgoing(self, atlas: Atlas, item: types.CallHierarchyItem) -> list[types.CallHierarchyOutgoingCall]:
        """Return whom an item calls."""
        path = self._path(item.uri)
        found: list[types.CallHierarchyOutgoingCall] = []
        for edge in await calls_of(atlas, str(item.data), Direction.OUT):
            called = await self._item(atlas, edge.node)
            if called is not None and path is not None:
                found.append(
                    types.CallHierarchyOutgoingCall(called, await self._ranges(atlas, path, edge, called.name))
                )
        return found

    async def _ranges(self, atlas: Atlas, path: str, edge: Edge, name: str) -> list[types.Range]:
        return [one.range for one in await self.locations(atlas, [(path, line, name) for line in edge.row.lines])]

    async def _item(self, atlas: Atlas, node: Node) -> types.CallHierarchyItem | None:
        row = node.row
        if not row.path:
            return None
        places = await self.locations(atlas, [(row.path, max(row.line, 1), row.name)])
        if not places:
            return None
        kind = KINDS.get(Label(row.label), types.SymbolKind.Module)
        place, detail = places[0], printable(row.qualified_name)
        return types.CallHierarchyItem(
            printable(row.name), kind, place.uri, place.range, place.range, detail=detail, data=row.uid
        )

    async def _open_text(self, atlas: Atlas, path: str) -> tuple[Sequence[str], LineMap]:
        """Return the lines of a file in the index, and how the editor's lines map to them."""
        generation = await self._session.generation()
        texts = await self._texts.lines(atlas.reader.store, self._project, [path], generation)
        lines = texts.get(path, ())
        return lines, self._map_of(path, lines)

    def _map_of(self, path: str, lines: Sequence[str]) -> LineMap:
        opened = self._server.workspace.text_documents
        document = opened.get(self._uri(path)) if opened else None
        if document is None:
            return _UNCHANGED
        text = document.source
        return LineMap(lines, text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))

    def _uri(self, path: str) -> str:
        uri = self._uris.get(path)
        if uri is None:
            uri = uris.from_fs_path(str(self._root / path))
            assert uri is not None
            if len(self._uris) >= MAX_URIS:
                self._uris.clear()
            self._uris[path] = uri
        return uri

    def _path(self, uri: str) -> str | None:
        """Return the path of a file below the project, None for any other."""
        name = uris.to_fs_path(uri)
        if name is None:
            return None
        path = Path(name)
        for one in (path, path.parent.resolve() / path.name):
            if one.is_relative_to(self._root):
                return one.relative_to(self._root).as_posix()
        return None


_UNCHANGED = LineMap((), ())


def _range(span: Span, line: int) -> types.Range:
    return types.Range(types.Position(line, span.start), types.Position(line, span.end))


def _described(hit: PlacedSymbol, counts: dict[str, int]) -> str:
    """Return a symbol as Markdown. What the project's files say stands in a fence that they cannot close."""
    row = hit.node.row
    text = row.signature or row.qualified_name
    about = row.docstring.strip().split("\n\n")[0][:MAX_DOCSTRING]
    place = f"{row.path}:{row.line}" if row.path else "outside of the project"
    lines = [_fenced(text, row.language), f"{row.kind or row.label} `{_inline(row.qualified_name)}`, {_inline(place)}"]
    if hit.edge is not None:
        edge = hit.edge.row
        lines.append(f"{edge.type} by rule `{edge.strategy}`, confidence {edge.confidence:.2f}")
    named = {EdgeType.CALLS: "called by", EdgeType.TESTS: "tested by", EdgeType.OVERRIDES: "overridden by"}
    shown = [f"{words} {counts[kind]}" for kind, words in named.items() if counts.get(kind)]
    if shown:
        lines.append(", ".join(shown))
    if about:
        lines.append(_fenced(about, "text"))
    return "\n\n".join(lines)


def _fenced(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def _inline(text: str) -> str:
    return text.replace("`", "'").replace("\n", " ")


class EditorServer(LanguageServer):
    """A server that knows whether its editor has announced the end, which decides the exit code."""

    has_shut_down = False


def make_language_server(session: Session) -> EditorServer:
    """Return the server; its requests are answered from the session, which `shutdown` closes."""
    server = EditorServer("code-atlas", __version__)
    graph = GraphForEditor(session, server)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(at: types.DefinitionParams) -> list[types.Location]:
        return await graph.answer(lambda atlas: graph.definition(atlas, at), [])

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(at: types.ReferenceParams) -> list[types.Location]:
        return await graph.answer(lambda atlas: graph.references(atlas, at), [])

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(at: types.HoverParams) -> types.Hover | None:
        return await graph.answer(lambda atlas: graph.hover(atlas, at), None)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def outline(of: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        return await graph.answer(lambda atlas: graph.outline(atlas, of.text_document.uri), [])

    @server.feature(types.WORKSPACE_SYMBOL)
    async def workspace_symbols(of: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        return await graph.answer(lambda atlas: graph.workspace_symbols(atlas, of.query), [])

    @server.feature(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    async def prepare(at: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem]:
        return await graph.answer(lambda atlas: graph.call_items(atlas, at), [])

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(of: types.CallHierarchyIncomingCallsParams) -> list[types.CallHierarchyIncomingCall]:
        return await graph.answer(lambda atlas: graph.incoming(atlas, of.item), [])

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(of: types.CallHierarchyOutgoingCallsParams) -> list[types.CallHierarchyOutgoingCall]:
        return await graph.answer(lambda atlas: graph.outgoing(atlas, of.item), [])

    @server.feature(types.SHUTDOWN)
    async def shutdown(_: None) -> None:
        await session.aclose()
        server.has_shut_down = True

    handlers = (definition, references, hover, outline, workspace_symbols, prepare, incoming, outgoing, shutdown)
    assert all(handlers), "pygls keeps them by the names of their messages"
    return server


def serve_editor(session: Session) -> int:
    """Serve one editor on stdin and stdout until it leaves.

    Return the exit code of the protocol: 0 after `shutdown`, else 1.
    """
    logging.getLogger("pygls").setLevel(logging.ERROR)
    server = make_language_server(session)
    # pygls closes what it writes to at the end
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as written:
        server.start_io(stdout=written)
    return 0 if server.has_shut_down else 1
