"""`atlas lsp` behind a real client of the protocol, over stdio."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from atlas._parser import VectorIndex
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.model import Direction, Filter, Match
from atlas.server.editor.graph_places import REFERENCES
from atlas.server.editor.places import LineMap, Span, spans_of, utf16_length, word_at

from .processes import atlas, environment

FILES = {
    "shop/cart.py": '''"""Carts."""


class Cart:
    """What is bought.

    ``` a fence in a docstring
    """

    def total(self, rate: float) -> float:
        """Return the sum."""
        return apply(1.0, rate)


def apply(sum: float, rate: float) -> float:
    return sum * rate
''',
    "shop/till.py": """from shop.cart import Cart, apply as discount

NAME = "\N{SHOPPING TROLLEY}\N{SHOPPING TROLLEY}"; CART = Cart()


def pay(cart: Cart) -> float:
    label = "\N{SHOPPING TROLLEY}" + str(cart.total(0.5))
    unknown.missing(1)
    return discount(1, 2)
""",
    "tests/test_till.py": """from shop.till import pay
from shop.cart import Cart


def test_pay():
    assert pay(Cart()) == 0.5
""",
}


class Editor:
    """A client, and the project that it has open."""

    def __init__(self, client: LanguageClient, root: Path, data: Path) -> None:
        self.client, self.root, self.data = client, root, data
        self.messages: list[str] = []

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def at(
        self, path: str, line: int, word: str, nth: int = 0, text: str = ""
    ) -> tuple[types.TextDocumentIdentifier, types.Position]:
        """Where a word stands on a line, from 1, in UTF-16 units."""
        shown = (text or (self.root / path).read_text()).split("\n")[line - 1]
        start = -1
        for _ in range(nth + 1):
            start = shown.index(word, start + 1)
        column = len(shown[:start].encode("utf-16-le")) // 2
        return types.TextDocumentIdentifier(self.uri(path)), types.Position(line - 1, column)

    async def definition(self, *place: object, **more: object) -> list[str]:
        found = await self.client.text_document_definition_async(types.DefinitionParams(*self.at(*place, **more)))  # type: ignore[arg-type]
        return self.places(found)

    async def references(self, *place: object, declared: bool = False) -> list[str]:
        context = types.ReferenceContext(declared)
        found = await self.client.text_document_references_async(types.ReferenceParams(context, *self.at(*place)))  # type: ignore[arg-type]
        return self.places(found)

    async def hover(self, *place: object) -> str:
        found = await self.client.text_document_hover_async(types.HoverParams(*self.at(*place)))  # type: ignore[arg-type]
        return found.contents.value if found is not None else ""  # type: ignore[union-attr]

    def places(self, found: object) -> list[str]:
        """Locations as `path:line:start-end`, the line from 1."""
        assert isinstance(found, (list, tuple)) or found is None
        start = len(self.root.as_uri()) + 1
        return sorted(
            f"{one.uri[start:]}:{one.range.start.line + 1}:{one.range.start.character}-{one.range.end.character}"
            for one in found or ()
        )

    def open(self, path: str, text: str) -> None:
        item = types.TextDocumentItem(self.uri(path), "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))


@asynccontextmanager
async def editor(root: Path, data: Path) -> AsyncIterator[Editor]:
    client = LanguageClient("editor", "1")
    one = Editor(client, root, data)

    @client.feature(types.WINDOW_SHOW_MESSAGE)
    def shown(message: types.ShowMessageParams) -> None:
        one.messages.append(message.message)

    command = ("-P", "-m", "atlas", "lsp", "--project", str(root), "--data-dir", str(data))
    await client.start_io(sys.executable, *command, env=environment())
    asked = types.InitializeParams(
        capabilities=types.ClientCapabilities(), root_uri=root.as_uri(), process_id=os.getpid()
    )
    result = await client.initialize_async(asked)
    assert result.capabilities.definition_provider
    assert result.capabilities.rename_provider is None, "nothing writes"
    client.initialized(types.InitializedParams())
    yield one
    await client.shutdown_async(None)
    client.exit(None)
    await asyncio.wait_for(client.stop(), 30)


def written(root: Path) -> Path:
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / ".git").mkdir()
    return root


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Editor]:
    root, data = written(tmp_path / "p"), tmp_path / "data"
    done = await asyncio.to_thread(atlas, "index", "--project", str(root), "--data-dir", str(data))
    assert done.returncode == 0, done.stderr
    async with editor(root, data) as one:
        yield one


async def test_definitions_follow_edges_and_no_names(shop: Editor) -> None:
    assert await shop.definition("shop/till.py", 6, "Cart") == ["shop/cart.py:4:6-10"]
    assert await shop.definition("shop/till.py", 7, "total") == ["shop/cart.py:10:8-13"]
    assert await shop.definition("shop/cart.py", 12, "apply") == ["shop/cart.py:15:4-9"]
    assert await shop.definition("shop/cart.py", 15, "apply") == ["shop/cart.py:15:4-9"], "a definition leads to itself"
    assert await shop.definition("shop/till.py", 8, "missing") == [], "no edge, no place"
    assert await shop.definition("shop/till.py", 7, "label") == []
    assert await shop.definition("shop/till.py", 5, "") == []


async def test_positions_count_utf16_units(shop: Editor) -> None:
    assert await shop.definition("shop/till.py", 3, "Cart") == ["shop/cart.py:4:6-10"]
    line = FILES["shop/till.py"].split("\n")[6]
    start = len(line[: line.index("total")].encode("utf-16-le")) // 2
    assert start == line.index("total") + 1, "a character beyond the first plane is two units"
    assert f"shop/till.py:7:{start}-{start + 5}" in await shop.references("shop/cart.py", 10, "total")


async def test_references_are_those_of_the_graph(shop: Editor) -> None:
    store = EmbeddedStore.open(shop.data, writing=False, vector_index=VectorIndex)
    for name, line in (("Cart", 4), ("total", 10), ("apply", 15)):
        nodes = [one for one in await store.find(name, Match.SUFFIX, Filter(), 10) if one.row.line == line]
        edges = await store.edges([one.row.uid for one in nodes], Direction.IN, REFERENCES)
        graph = {(edge.node.row.path, at) for edge in edges for at in edge.row.lines}
        found = await shop.references("shop/cart.py", line, name)
        assert {(place.split(":")[0], int(place.split(":")[1])) for place in found} == graph
        assert graph
    await store.aclose()
    declared = await shop.references("shop/cart.py", 4, "Cart", declared=True)
    assert "shop/cart.py:4:6-10" in declared
    assert len(declared) == len(await shop.references("shop/cart.py", 4, "Cart")) + 1
    assert await shop.references("shop/till.py", 7, "total") == await shop.references("shop/cart.py", 10, "total")


async def test_hover_says_how_sure_it_is(shop: Editor) -> None:
    shown = await shop.hover("shop/till.py", 7, "total")
    assert "def total(self, rate: float) -> float" in shown
    assert "`shop.cart.Cart.total`, shop/cart.py:10" in shown
    assert "confidence 0." in shown
    assert "called by 1" in shown
    assert "Return the sum." in shown
    docstring = await shop.hover("shop/cart.py", 4, "Cart")
    assert docstring.count("```") % 2 == 0
    assert await shop.hover("shop/till.py", 8, "unknown") == ""


async def test_symbols_of_a_file_and_of_the_project(shop: Editor) -> None:
    document = types.TextDocumentIdentifier(shop.uri("shop/cart.py"))
    outline = await shop.client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    assert isinstance(outline, (list, tuple))
    tree = {one.name: [inner.name for inner in one.children or ()] for one in outline}  # type: ignore[union-attr]
    assert tree == {"Cart": ["total"], "apply": []}
    cart = outline[0]
    assert isinstance(cart, types.DocumentSymbol)
    assert (cart.range.start.line, cart.selection_range.start) == (3, types.Position(3, 6))
    found = await shop.client.workspace_symbol_async(types.WorkspaceSymbolParams("tot"))
    assert [(one.name, one.container_name) for one in found or ()] == [("total", "shop.cart.Cart")]
    assert await shop.client.workspace_symbol_async(types.WorkspaceSymbolParams("")) == []


async def test_the_call_hierarchy(shop: Editor) -> None:
    (item,) = (
        await shop.client.text_document_prepare_call_hierarchy_async(
            types.CallHierarchyPrepareParams(*shop.at("shop/cart.py", 10, "total"))
        )
        or ()
    )
    calls = await shop.client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(item))
    assert [(one.from_.name, [place.start.line for place in one.from_ranges]) for one in calls or ()] == [("pay", [6])]
    called = await shop.client.call_hierarchy_outgoing_calls_async(types.CallHierarchyOutgoingCallsParams(item))
    assert [(one.to.name, one.to.uri, [place.start.line for place in one.from_ranges]) for one in called or ()] == [
        ("apply", shop.uri("shop/cart.py"), [11])
    ]


async def test_what_was_typed_since_moves_lines_and_leads_nowhere(shop: Editor) -> None:
    text = "# one\n# two\n" + FILES["shop/till.py"].replace("discount(1, 2)", "discount(1, 2) + cart.total(3)")
    shop.open("shop/till.py", text)
    assert await shop.definition("shop/till.py", 8, "Cart", text=text) == ["shop/cart.py:4:6-10"]
    assert await shop.definition("shop/till.py", 11, "total", text=text) == [], "this line is not in the index yet"
    lines = {place.rsplit(":", 1)[0] for place in await shop.references("shop/cart.py", 10, "total")}
    assert lines == {"shop/till.py:9"}
    (shop.root / "shop/till.py").write_text(text)
    found = {place.rsplit(":", 1)[0] for place in await shop.references("shop/cart.py", 10, "total")}
    assert found == {"shop/till.py:9", "shop/till.py:11"}, "a saved file is indexed before the answer"


async def test_files_of_others_are_not_read(shop: Editor, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("Cart\n")
    place = types.TextDocumentIdentifier(outside.as_uri()), types.Position(0, 1)
    assert await shop.client.text_document_definition_async(types.DefinitionParams(*place)) == []
    unknown = types.TextDocumentIdentifier("untitled:Untitled-1"), types.Position(0, 1)
    assert await shop.client.text_document_hover_async(types.HoverParams(*unknown)) is None


async def test_a_project_without_an_index_is_said_once(tmp_path: Path) -> None:
    async with editor(written(tmp_path / "p"), tmp_path / "data") as one:
        for _ in range(2):
            assert await one.definition("shop/till.py", 6, "Cart") == []
        (message,) = one.messages
        assert "atlas index" in message


@pytest.mark.parametrize("announced", [True, False], ids=["shutdown", "exit alone"])
def test_the_process_ends_quietly_with_the_code_of_the_protocol(tmp_path: Path, announced: bool) -> None:
    methods = ["initialize", "shutdown", "exit"] if announced else ["initialize", "exit"]
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "atlas", "lsp", "--project", str(tmp_path), "--data-dir", str(tmp_path / "data")],
        input=b"".join(map(_message, methods)),
        env=environment(),
        capture_output=True,
        timeout=120,
    )
    assert ended.stderr == b""
    assert ended.returncode == (0 if announced else 1)
    assert ended.stdout.count(b"Content-Length: ") == len(methods) - 1


def _message(method: str) -> bytes:
    body: dict[str, object] = {"jsonrpc": "2.0", "method": method}
    if method != "exit":
        body |= {"id": method}
    if method == "initialize":
        body |= {"params": {"processId": None, "rootUri": None, "capabilities": {}}}
    written = json.dumps(body).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(written), written)


def test_words_and_spans() -> None:
    assert word_at("a = Cart()", 5) == ("Cart", 4, 8)
    assert word_at("a = Cart()", 8) == ("Cart", 4, 8), "behind the word counts as in it"
    assert word_at("é\N{SHOPPING TROLLEY} x", 4) == ("x", 4, 5)
    assert word_at(" + ", 1) == ("", 1, 1)
    assert utf16_length("é\N{SHOPPING TROLLEY}") == 3
    assert spans_of("f", "f(f)", 3) == [Span(2, 0, 1), Span(2, 2, 3)]
    assert spans_of("other", "  alias()  ", 1) == [Span(0, 2, 9)]


def test_lines_of_both_texts_are_matched() -> None:
    mapped = LineMap(["a", "b", "c"], ["x", "a", "c", "y"])
    assert [mapped.to_index(line) for line in range(4)] == [None, 0, 2, None]
    assert [mapped.to_editor(line) for line in range(3)] == [1, None, 2]
