"""Composition of knowledge packs: articles -> a pack's file, and a pack's folder opened for reading.

Both need no settings: the models are the ones of the package, and the store is a file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.docs.graph import Extender, PackGraph, build_graph
from atlas.model import PROSE, Chunk, GraphDelta, ModelInfo, VectorRow

if TYPE_CHECKING:
    from atlas.contracts import Embedder
    from atlas.docs.article import Article
    from atlas.search import Reader

PACK_FILE = "pack.db"
CHUNKS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class BuiltFile:
    """What was written to a pack's file."""

    graph: PackGraph
    models: tuple[ModelInfo, ...]


def prose_embedder() -> Embedder:
    """Return the embedder of packs: the model of prose that ships with Code Atlas."""
    from atlas.embedders.static import PROSE_FOLDER, StaticEmbedder

    return StaticEmbedder(PROSE_FOLDER, PROSE)


async def write_pack(path: Path, name: str, articles: Sequence[Article], extend: Extender | None = None) -> BuiltFile:
    """Write the file of a new pack. Raises StoreError if it cannot be written."""
    from atlas.stores.sqlite.pack_file import write_pack_file

    graph = await asyncio.to_thread(build_graph, name, articles, extend)
    embedder = prose_embedder()
    model = await embedder.info()
    vectors: list[VectorRow] = []
    for chunks in _batches(chunks_of(graph.units), CHUNKS_AT_ONCE):
        embedded = await embedder.embed_chunks(chunks)
        vectors += [VectorRow(one.uid, one.digest, data) for one, data in zip(chunks, embedded, strict=True)]
    await asyncio.to_thread(write_pack_file, path, name, graph.units, [(model, vectors)])
    return BuiltFile(graph, (model,))


def open_pack_reader(folder: Path, name: str) -> Reader:
    """Return what reads a pack; the caller closes its store. Raises NotFound and StoreError as the store does."""
    from atlas.parsing import BM25_LIBRARY, Cl100kCounter, VectorIndex, digest_paths, split_words
    from atlas.search import Reader
    from atlas.search.languages import language_terms
    from atlas.stores.sqlite.store import EmbeddedStore

    store = EmbeddedStore.open_file(folder / PACK_FILE, vector_index=VectorIndex, bm25=BM25_LIBRARY)
    embedder = prose_embedder()
    return Reader(
        store=store,
        embedder=embedder,
        counter=Cl100kCounter(),
        project=name,
        root=folder,
        split_words=split_words,
        digest_paths=digest_paths,
        languages=language_terms([]),
        prose_embedder=embedder,
    )


def chunks_of(units: Iterable[GraphDelta]) -> Iterator[Chunk]:
    """Yield the texts to embed of some units."""
    for unit in units:
        for row in unit.nodes or ():
            if row.chunk_digest:
                text = (unit.content or b"")[row.start_byte : row.end_byte].decode("utf8", "replace")
                yield Chunk(row.uid, row.chunk_digest, row.chunk_name, text, is_file=False)


def _batches(chunks: Iterable[Chunk], size: int) -> Iterator[list[Chunk]]:
    batch: list[Chunk] = []
    for chunk in chunks:
        batch.append(chunk)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
