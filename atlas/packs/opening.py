"""Composition of knowledge packs: a pack's folder opened for reading, installed packs, and their file written.

Packs need no settings: their models are the ones of the package, and their store is a file.
"""

from __future__ import annotations

import asyncio
import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.core.errors import AtlasError, NotFound, QueryError, StoreError
from atlas.core.model import PROSE, Chunk, GraphDelta, ModelInfo, VectorRow
from atlas.packs.documentation import rows
from atlas.packs.documentation.graph import Extender, PackGraph, build_graph
from atlas.packs.documentation.pack.folder import (
    InstalledPack,
    installed_packs,
    load_manifest,
    make_private,
    open_packed,
)
from atlas.packs.documentation.pack.manifest import MANIFEST_FILE, MAX_TEXT_FILE, PACK_FILE, Manifest
from atlas.packs.records import check_file
from atlas.runtime.process.installation_key import packs_folder

if TYPE_CHECKING:
    from atlas.core.contracts import Embedder, Store, Table
    from atlas.core.language_model import LanguageModel
    from atlas.packs.documentation.article import Article
    from atlas.packs.questions.values import PackReader, Reranker

CHUNKS_AT_ONCE = 1000
VECTORS_AT_ONCE = 5000
BROKEN = (AtlasError, ArithmeticError, LookupError, TypeError, ValueError)
"""What reading a pack raises whose content is not as this program builds it. The check of its file, the first reading
of its texts and these keep one bad pack from stopping questions to the others."""

USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    **{"title": ("name",), "id": ("uid",), "text": ("content", "docstring"), "content": ("docstring",)},
    **{"type": ("kind",), "relation": ("type",)},
}
"""What a property is called here that other graphs call so."""

Step = Callable[[str, int, int], None]
"""Is told phase (`extract`, `embed`, `write`), what is done, and the total; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class BuiltFile:
    """What was written to a pack's file."""

    graph: PackGraph
    models: tuple[ModelInfo, ...]
    embedded: int
    """Passages whose vectors were made now; the others were taken from an earlier build."""


@dataclass(frozen=True, slots=True)
class OpenPack:
    """A pack opened for reading; close it with `aclose`."""

    folder: Path
    manifest: Manifest
    reader: PackReader

    @property
    def store(self) -> Store:
        """The graph of the pack."""
        return self.reader.store

    async def cypher(self, query: str, parameters: Mapping[str, object], limit: int, seconds: float) -> Table:
        """Return the rows of a read-only query. Raises QueryError, also for a name that no graph of a pack has."""
        from atlas.adapters.stores.cypher.parser import parse
        from atlas.adapters.stores.cypher.syntax import named_labels, named_properties

        parsed = parse(query)
        for name, of_edge in named_labels(parsed):
            names = sorted(rows.EDGE_PROPERTIES if of_edge else rows.PROPERTIES)
            if name not in names:
                near = difflib.get_close_matches(name, names, 3, 0.5)
                hint = f"nearest: {', '.join(near)}" if near else f"there are: {', '.join(names)}"
                what = "relationship type" if of_edge else "label"
                raise QueryError(f"a pack has no {what} `{name}`", hint)
        for one in named_properties(parsed):
            own = rows.EDGE_PROPERTIES if one.of_edge else rows.PROPERTIES
            every = rows.OF_EDGES if one.of_edge else rows.COMMON
            known = every.union(*(own.get(label, ()) for label in one.labels or own))
            if one.name not in known:
                of = " or ".join(sorted(one.labels)) or ("a relationship" if one.of_edge else "a node")
                usual = [name for name in USUAL_NAMES.get(one.name, ()) if name in known]
                near = usual or difflib.get_close_matches(one.name, sorted(known), 3, 0.5)
                hint = f"nearest: {', '.join(near)}" if near else f"properties: {', '.join(sorted(known - every))}"
                raise QueryError(f"{of} has no property `{one.name}`", hint)
        return await self.store.cypher(query, parameters, limit, seconds)

    async def aclose(self) -> None:
        """Close; idempotent."""
        await self.reader.store.aclose()
        if self.reader.embedder is not None:
            await self.reader.embedder.aclose()


def prose_embedder() -> Embedder:
    """Return the embedder of packs: the model of prose that ships with Code Atlas."""
    from atlas.adapters.embedders.static import PROSE_FOLDER, StaticEmbedder

    return StaticEmbedder(PROSE_FOLDER, PROSE)


async def write_pack(
    path: Path,
    name: str,
    articles: Sequence[Article],
    extend: Extender | None = None,
    known: Mapping[str, bytes] | None = None,
    step: Step = lambda phase, done, total: None,
) -> BuiltFile:
    """Write the file of a new pack. `known` are vectors of an earlier build by digest of their text.

    Raises StoreError if it cannot be written.
    """
    from atlas.adapters.stores.sqlite.pack_file import write_pack_file

    total = len(articles)
    graph = await asyncio.to_thread(build_graph, name, articles, extend, lambda done: step("extract", done, total))
    embedder = prose_embedder()
    model = await embedder.info()
    vectors: list[VectorRow] = []
    embedded = 0
    passages = graph.counts.get("Chunk", 0)
    for chunks in _batches(chunks_of(graph.units), CHUNKS_AT_ONCE):
        new = [one for one in chunks if known is None or one.digest not in known]
        made = dict(zip((one.uid for one in new), await embedder.embed_chunks(new), strict=True))
        vectors += [VectorRow(one.uid, one.digest, made.get(one.uid) or (known or {})[one.digest]) for one in chunks]
        embedded += len(new)
        step("embed", len(vectors), passages)
    step("write", 0, 0)
    await asyncio.to_thread(write_pack_file, path, name, graph.units, [(model, vectors)])
    return BuiltFile(graph, (model,), embedded)


async def known_vectors(store: Store, project: str) -> dict[str, bytes]:
    """Return the vectors of a pack by digest of their text; none if another model has made them."""
    states = await store.projects()
    model = await prose_embedder().info()
    found: dict[str, bytes] = {}
    after = ""
    while any(model in state.models for state in states):
        page = await store.vectors(project, VECTORS_AT_ONCE, after, PROSE)
        found.update((row.digest, row.data) for row in page)
        if len(page) < VECTORS_AT_ONCE:
            break
        after = page[-1].uid
    return found


def open_pack(
    folder: Path, model: LanguageModel | None = None, reranker: Reranker | None = None, *, check: bool = True
) -> OpenPack:
    """Open a pack for reading, after a check of its file that is made once.

    Without `check` the file has just been written or checked. Raises NotFound, SchemaMismatch and StoreError.
    """
    from atlas.adapters.stores.sqlite.store import EmbeddedStore
    from atlas.packs.questions.values import PackReader
    from atlas.parsing import Cl100kCounter, VectorIndex

    manifest = load_manifest(folder)
    try:
        if check:
            check_file(folder / PACK_FILE)
        store = EmbeddedStore.open_file(folder / PACK_FILE, vector_index=VectorIndex)
    except NotFound as error:
        raise StoreError(f"the pack in {folder} has no {PACK_FILE}", "install it again") from error
    except StoreError as error:
        raise type(error)(error.message, "install or build the pack again") from error
    reader = PackReader(
        store=store,
        project=manifest.name,
        embedder=prose_embedder(),
        counter=Cl100kCounter(),
        name=manifest.name,
        version=manifest.version,
        settings=_text(folder / "kg_config.json"),
        vocabulary=_text(folder / "vocabulary.json"),
        examples=_text(folder / "eval" / "questions.jsonl"),
        model=model,
        reranker=reranker,
    )
    return OpenPack(folder, manifest, reader)


def list_packs() -> list[InstalledPack]:
    """Return the installed packs, by name and version. What earlier versions let other users read becomes private.

    A folder that the user has named (ATLAS_PACKS) may be shared on purpose and stays as it is.
    """
    root = packs_folder()
    if "ATLAS_PACKS" not in os.environ:
        with suppress(OSError):
            make_private(root)
    return installed_packs(root)


def find_pack(name: str | Path) -> Path:
    """Return the folder of a pack that a person names: a path with a separator, or what `installed_pack` takes.

    Raises NotFound.
    """
    if isinstance(name, Path) or is_path(name):
        folder = Path(name).expanduser().resolve()
        load_manifest(folder)
        return folder
    try:
        return installed_pack(name)
    except NotFound as error:
        if not Path(name, MANIFEST_FILE).is_file():
            raise
        raise NotFound(error.message, f"name the folder as a path: .{os.sep}{name}", error.near) from error


def is_path(name: str) -> bool:
    """Return whether a name is a path: it has a separator, or is that of the current folder or the one above."""
    return name in (".", "..") or any(separator in name for separator in (os.sep, "/", "\\"))


def installed_pack(name: str) -> Path:
    """Return the folder of an installed pack: NAME, or NAME@VERSION or NAME==VERSION; of several versions the newest.

    A damaged one counts only where there is no other. Raises NotFound.
    """
    wanted, _, version = name.replace("==", "@").partition("@")
    every = list_packs()
    packs = [one for one in every if one.folder.parent.name == wanted]
    found = [one for one in packs if not version or one.folder.name == version]
    if not found:
        names = {one.folder.parent.name for one in every}
        near = sorted({p.folder.name for p in packs}) if packs else difflib.get_close_matches(wanted, sorted(names), 5)
        what = f"version {version} of the pack {wanted}" if packs else f"pack {wanted}"
        raise NotFound(f"there is no {what}", "`atlas pack list` shows the installed ones", near[:5])
    whole = [one for one in found if one.manifest is not None]
    return max(whole or found, key=lambda one: version_key(one.folder.name)).folder


def version_key(version: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts versions by their numbers; a letter stands before the end: 5.0rc1 < 5.0."""
    import re

    parts = re.findall(r"\d+|[a-zA-Z]+", version)
    return (*((2, int(part[:18]), "") if part.isdigit() else (0, 0, part) for part in parts), (1, 0, ""))


def chunks_of(units: Iterable[GraphDelta]) -> Iterator[Chunk]:
    """Yield the texts to embed of some units."""
    for unit in units:
        for row in unit.nodes or ():
            if row.chunk_digest:
                text = (unit.content or b"")[row.start_byte : row.end_byte].decode("utf8", "replace")
                yield Chunk(row.uid, row.chunk_digest, row.chunk_name, text, is_file=False)


def _text(path: Path) -> str:
    """Return a small text file of a pack, "" if there is none."""
    with suppress(OSError), open_packed(path) as file:
        data = file.read(MAX_TEXT_FILE + 1)
        return data.decode("utf8", "replace") if len(data) <= MAX_TEXT_FILE else ""
    return ""


def _batches(chunks: Iterable[Chunk], size: int) -> Iterator[list[Chunk]]:
    batch: list[Chunk] = []
    for chunk in chunks:
        batch.append(chunk)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
