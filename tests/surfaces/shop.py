"""A small hand-made project, on disk and in a store: the ground on which the tools are tested, without a parser.

`shop` has a cart with discounts, a database with two implementations, a test, a document, an external package, a stub,
a skipped and a half-read file. Spans and bytes are real; edges are written by hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from atlas._parser import content_digest, count_tokens, digest_paths, split_words
from atlas.code.atlas import Atlas
from atlas.code.question.languages import LanguageRow, language_terms
from atlas.code.reader import Reader
from atlas.core.contracts import Embedder, Store
from atlas.core.model import (
    CODE,
    DOCUMENTS,
    Chunk,
    EdgeRow,
    EmbeddingStats,
    FileRecord,
    GraphDelta,
    ModelInfo,
    NodeRow,
    SearchText,
    Skipped,
    VectorRow,
)
from atlas.parsing import make_excerpts, search_terms

PROJECT = "shop"
FILES = {
    "shop/cart.py": '''"""Shopping carts."""

from shop.store import Store


class Cart:
    """A customer's basket of goods."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def total(self) -> int:
        """Sum the prices of everything in the basket."""
        return apply_discount(sum(self.store.load("prices")))

    def save(self) -> None:
        self.store.write("cart", self)


def apply_discount(amount: int) -> int:
    """Reduce the amount by ten percent for regular customers."""
    return amount * 9 // 10


def orphan() -> None:
    """Nobody needs this."""
''',
    "shop/cart.pyi": "def apply_discount(amount: int) -> int: ...\n",
    "shop/store.py": '''"""Where things are kept."""


class Store:
    """Keeps values by key."""

    def load(self, key: str) -> list[int]:
        """Return the values kept under a key."""
        raise NotImplementedError

    def write(self, key: str, value: object) -> None:
        """Keep a value under a key."""
        raise NotImplementedError


class MemoryStore(Store):
    """Keeps values in memory."""

    def load(self, key: str) -> list[int]:
        return [1, 2]


def save(value: object) -> None:
    """Keep a value somewhere."""
    print(value)
''',
    "tests/test_cart.py": '''from shop.cart import Cart


def test_total() -> None:
    """Sum the prices of everything in the basket."""
    assert Cart(None).total() == 2
''',
    "docs/guide.md": "# Guide\n\n## Discounts\n\nRegular customers: `apply_discount`.\n",
    "shop/half.py": "def broken(:\n",
}
DEFINITIONS = (
    ("shop.cart", "Module", "module", "shop/cart.py", "", ""),
    ("shop.cart.Cart", "Class", "class", "shop/cart.py", "class Cart", "    def save"),
    ("shop.cart.Cart.__init__", "Method", "constructor", "shop/cart.py", "    def __init__", "self.store = store"),
    ("shop.cart.Cart.total", "Method", "method", "shop/cart.py", "    def total", "return apply_discount"),
    ("shop.cart.Cart.save", "Method", "method", "shop/cart.py", "    def save", "self.store.write"),
    ("shop.cart.apply_discount", "Function", "function", "shop/cart.py", "def apply_discount", "return amount"),
    ("shop.cart.orphan", "Function", "function", "shop/cart.py", "def orphan", "Nobody needs"),
    ("shop.cart.apply_discount#2", "Function", "function", "shop/cart.pyi", "def apply_discount", "def apply_discount"),
    ("shop.store", "Module", "module", "shop/store.py", "", ""),
    ("shop.store.Store", "Class", "class", "shop/store.py", "class Store", "    def write"),
    ("shop.store.Store.load", "Method", "method", "shop/store.py", "    def load", "raise NotImplementedError"),
    ("shop.store.Store.write", "Method", "method", "shop/store.py", "    def write", "raise NotImplementedError"),
    ("shop.store.MemoryStore", "Class", "class", "shop/store.py", "class MemoryStore", "return [1, 2]"),
    ("shop.store.MemoryStore.load", "Method", "method", "shop/store.py", "    def load#2", "return [1, 2]"),
    ("shop.store.save", "Function", "function", "shop/store.py", "def save", "print(value)"),
    ("tests.test_cart", "Module", "module", "tests/test_cart.py", "", ""),
    ("tests.test_cart.test_total", "Function", "function", "tests/test_cart.py", "def test_total", "assert Cart"),
    ("docs/guide.md", "DocFile", "docfile", "docs/guide.md", "", ""),
    ("docs/guide.md#discounts", "DocSection", "docsection", "docs/guide.md", "## Discounts", "Regular customers"),
)
"""(qualified name, label, kind, path, first line's beginning (`#2`: its second occurrence), a part of the last line)"""
EDGES = (
    ("shop.cart.Cart.total", "shop.cart.apply_discount", "CALLS", 15, "module", 0.97),
    ("shop.cart.Cart.total", "shop.store.Store.load", "CALLS", 15, "local-type", 0.9),
    ("shop.cart.Cart.save", "shop.store.Store.write", "CALLS", 18, "local-type", 0.9),
    ("tests.test_cart.test_total", "shop.cart.Cart", "CALLS", 6, "import", 0.98),
    ("tests.test_cart.test_total", "shop.cart.Cart.total", "CALLS", 6, "constructor", 0.95),
    ("tests.test_cart.test_total", "shop.cart.Cart.total", "TESTS", 6, "constructor", 0.95),
    ("shop.store.MemoryStore", "shop.store.Store", "INHERITS", 16, "module", 0.99),
    ("shop.store.MemoryStore.load", "shop.store.Store.load", "OVERRIDES", 19, "inherited", 0.95),
    ("shop.cart", "shop.store.Store", "IMPORTS", 3, "import", 0.99),
    ("docs/guide.md#discounts", "shop.cart.apply_discount", "DOCUMENTS", 5, "unique-name", 0.8),
    ("shop.cart", "ext:json.dumps", "IMPORTS", 3, "import", 0.9),
)
HELD = {"Module": "DEFINES", "Class": "DEFINES", "DocFile": "CONTAINS"}


class WordEmbedder:
    """Vectors of 64 hashed words: texts that share words are near. Enough to tell one small text from another."""

    dimension = 64

    place = ""
    losses = EmbeddingStats()

    async def info(self) -> ModelInfo:
        return ModelInfo("test", "hashed-words", self.dimension, "0")

    async def embed_chunks(self, chunks: Iterable[Chunk]) -> list[bytes]:
        from array import array
        from struct import pack

        return [pack(f"<{self.dimension}e", *array("f", self._vector(f"{c.name} {c.text}"))) for c in chunks]

    async def embed_query(self, text: str) -> bytes:
        from struct import pack

        return pack(f"<{self.dimension}f", *self._vector(text))

    async def aclose(self) -> None:
        pass

    def _vector(self, text: str) -> list[float]:
        values = [0.0] * self.dimension
        for word in split_words(text):
            if word.isascii() and len(word) > 3:
                values[int(content_digest(word.encode())[:8], 16) % self.dimension] += 1.0
        length = sum(value * value for value in values) ** 0.5
        return [value / length if length else 0.0 for value in values]


class Counter:
    """The extension's exact counter."""

    encoding = "cl100k_base"

    def count(self, text: str) -> int:
        return count_tokens(text)


def write_files(root: Path) -> None:
    """Put the project's files on disk."""
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


async def fill(store: Store, root: Path, *, finish: bool = True) -> None:
    """Index the project's files into a store, vectors included; without `finish` as if the pass was stopped then."""
    await store.open_project(PROJECT, str(root))
    await store.apply([*(_file_delta(root, path) for path in FILES), _structure()])
    if finish:
        await store.finish(PROJECT, [Skipped("shop/secrets.py", "secret"), Skipped("logo.png", "binary")])
    embedder = WordEmbedder()
    for space in (CODE, DOCUMENTS):
        model = replace(await embedder.info(), space=space)
        chunks = await store.stale_chunks(PROJECT, model, 1000)
        vectors = await embedder.embed_chunks(chunks)
        rows = [VectorRow(chunk.uid, chunk.digest, data) for chunk, data in zip(chunks, vectors, strict=True)]
        await store.put_vectors(PROJECT, model, rows)


def open_shop(store: Store, root: Path, embedder: Embedder | None = None) -> Atlas:
    """Return an Atlas over a filled store."""
    languages = language_terms(map(LanguageRow._make, search_terms()))
    reader = Reader(
        store, embedder or WordEmbedder(), Counter(), PROJECT, root, split_words, digest_paths, languages,
        excerpts=make_excerpts(),
    )  # fmt: skip
    return Atlas(reader)


def _file_delta(root: Path, path: str) -> GraphDelta:
    data = FILES[path].encode()
    nodes = [_node(definition, data) for definition in DEFINITIONS if definition[3] == path]
    status = (root / path).stat()
    record = FileRecord(
        path=path,
        language="markdown" if path.endswith(".md") else "python",
        digest=content_digest(data),
        size=len(data),
        mtime_ns=status.st_mtime_ns,
        lines=data.count(b"\n"),
        unit_digest=content_digest(path.encode() + data),
        unresolved=2 if path == "shop/cart.py" else 0,
        resolved=3,
        is_test=path.startswith("tests/"),
        problems=("1: syntax: unexpected `(`",) if path == "shop/half.py" else (),
    )
    own = {node.uid for node in nodes}
    edges = [_edge(*edge) for edge in EDGES if f"{PROJECT}:{edge[0]}" in own]
    return GraphDelta(PROJECT, path, record, nodes, [*edges, *_holding(nodes)], [_text(n, data) for n in nodes], data)


def _node(definition: tuple[str, str, str, str, str, str], data: bytes) -> NodeRow:
    qualified_name, label, kind, path, first, last = definition
    lines = data.decode().splitlines(keepends=True)
    start, end = 1, max(len(lines), 1)
    if first:
        text, _, occurrence = first.partition("#") if "#2" in first else (first, "", "")
        starts = [number for number, line in enumerate(lines, 1) if line.startswith(text)]
        start = starts[1 if occurrence else 0]
        end = next(number for number, line in enumerate(lines, 1) if number >= start and last in line)
    if label == "Class":
        end = (
            next((n for n in range(start + 1, len(lines)) if lines[n - 1].strip() and lines[n - 1][0] != " "), end + 2)
            - 1
        )
    body = lines[start - 1 : end]
    start_byte = sum(len(line.encode()) for line in lines[: start - 1])
    end_byte = start_byte + sum(len(line.encode()) for line in body)
    documented = body[0] if label == "Module" else body[1] if len(body) > 1 and '"""' in body[1] else ""
    name = qualified_name.rpartition("/" if "/" in qualified_name else ".")[2].partition("#")[0]
    digest = content_digest(data[start_byte:end_byte])[:16]
    return NodeRow(
        uid=f"{PROJECT}:{qualified_name}",
        label=label,
        kind=kind,
        name="Discounts" if label == "DocSection" else name,
        qualified_name=qualified_name,
        path=path,
        language="markdown" if path.endswith(".md") else "python",
        line=start,
        start_line=start,
        end_line=end,
        start_byte=start_byte,
        end_byte=end_byte,
        signature="" if label in ("Module", "DocFile") else body[0].strip().rstrip(":"),
        docstring=documented.strip().strip('"') if '"""' in documented else "",
        is_test=path.startswith("tests/"),
        is_generated=False,
        exported=not name.startswith("_"),
        modifiers="declaration" if path.endswith(".pyi") else "",
        signature_digest=digest,
        body_digest=digest,
        docstring_digest="",
        text_digest=digest,
        chunk_digest=digest,
        chunk_name=path if label in ("Module", "DocFile", "DocSection") else ".".join(qualified_name.split(".")[-2:]),
    )


def _text(node: NodeRow, data: bytes) -> SearchText:
    source = data[node.start_byte : node.end_byte].decode() if node.label not in ("Module", "Class") else ""
    columns = (node.name, node.qualified_name, node.docstring, source, node.path)
    return SearchText(node.uid, *(" ".join(split_words(column)) for column in columns))


def _edge(source: str, target: str, edge_type: str, line: int, strategy: str, confidence: float) -> EdgeRow:
    return EdgeRow(f"{PROJECT}:{source}", f"{PROJECT}:{target}", edge_type, line, strategy, confidence)


def _holding(nodes: list[NodeRow]) -> list[EdgeRow]:
    """Edges from modules, classes and documents to what they define."""
    edges: list[EdgeRow] = []
    for child in nodes:
        name = child.qualified_name
        parent = name.rpartition("#")[0] if child.label == "DocSection" else name.rpartition(".")[0]
        holder = next((node for node in nodes if node.qualified_name == parent), None)
        if holder is not None:
            edge_type = "DEFINES_METHOD" if child.label == "Method" else HELD[holder.label]
            edges.append(EdgeRow(holder.uid, child.uid, edge_type, 0, "structure", 1.0))
    return edges


def _structure() -> GraphDelta:
    def node(name: str, label: str, kind: str) -> NodeRow:
        plain = name.rpartition(".")[2]
        places = (0, 0, 0, 0, 0)
        return NodeRow(
            f"{PROJECT}:{name}", label, kind, plain, name, "", "", *places, "", "", False, False, True, "", *[""] * 6
        )

    nodes = [
        node("shop", "Project", "project"),
        node("ext:json", "ExternalPackage", "external_package"),
        node("ext:json.dumps", "ExternalSymbol", "external_symbol"),
    ]
    tops = ("shop.cart", "shop.store", "tests.test_cart", "docs/guide.md")
    edges = [EdgeRow(f"{PROJECT}:shop", f"{PROJECT}:{name}", "CONTAINS", 0, "structure", 1.0) for name in tops]
    record = FileRecord(path="", unit_digest=content_digest(b"structure"))
    return GraphDelta(PROJECT, "", record, nodes, edges)
