"""Cost of the Bolt store beside the embedded one: `python -m tests.bench.bolt_speed TREE [bolt://HOST:PORT]`.

Indexes the tree into both through the real Indexer, then asks both through the real Reader. Without an address the
Neo4j of the tests is started. The tree is not changed; the database at the address is emptied first.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path

from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.stores.bolt.connection import Address
from atlas.adapters.stores.bolt.store import BoltStore
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.main import make_embedder, make_language_terms, make_source, make_writing_embedders
from atlas.code.atlas import Atlas
from atlas.code.find import Mode
from atlas.code.index.events import IndexSummary
from atlas.code.index.index import Indexer
from atlas.code.index.tiers.gate import SignificanceGate
from atlas.code.reader import Reader
from atlas.core.contracts import Store
from atlas.core.model import Direction, Filter, Match, Node
from atlas.parsing import Cl100kCounter, VectorIndex, digest_paths, split_words
from atlas.runtime.config.load import load_settings
from atlas.runtime.config.settings import Settings
from tests.neo4j.empty import emptied
from tests.neo4j.server import measured_uri

TRIALS = 200
QUESTIONS = (
    "how is a request routed to a view",
    "parse a date from a string",
    "where are database connections closed",
    "validate an email address",
    "cache key with version",
    "render a template to a response",
    "migration that adds a field",
    "password hashing",
    "load a model from its name",
    "split a path into parts",
)


def atlas_on(store: Store, settings: Settings) -> Atlas:
    """Return an index over any store, wired as the product wires it."""
    source = make_source(settings)
    embeds = settings.embedder.provider != "none"
    gate = SignificanceGate(store, settings.pipeline.body_threshold / 100, embeds=embeds)
    indexer = Indexer(source, store, MemoryBus(), gate, make_writing_embedders(settings))
    reader = Reader(
        store,
        make_embedder(settings),
        Cl100kCounter(),
        settings.project_name,
        settings.root,
        split_words,
        digest_paths,
        make_language_terms(settings),
    )
    return Atlas(reader, indexer)


def say(kind: str, summary: IndexSummary) -> None:
    phases = ", ".join(f"{name} {seconds:.1f}" for name, seconds in summary.phases)
    print(
        f"{kind}: {summary.seconds:.1f} s wall, {summary.cpu_seconds:.1f} CPU s here ({phases}); "
        f"{summary.files} files, {summary.written} units, {summary.vectors} vectors",
        flush=True,
    )


async def timed(name: str, calls: Iterable[Callable[[], Awaitable[object]]]) -> None:
    """Print p50 and p95 in wall milliseconds."""
    times: list[float] = []
    for call in calls:
        start = time.perf_counter()
        await call()
        times.append((time.perf_counter() - start) * 1e3)
    times.sort()
    print(f"  {name:24} p50 {times[len(times) // 2]:7.1f}  p95 {times[int(len(times) * 0.95)]:7.1f} ms", flush=True)


async def drawn(store: Store, project: str) -> list[Node]:
    """Return nodes drawn evenly from all files, the same in every store."""
    source = random.Random(7)
    paths = sorted(path for path in await store.manifest(project) if path)
    nodes: list[Node] = []
    for path in source.sample(paths, min(TRIALS, len(paths))):
        found = await store.find(path, Match.PATH, Filter(project), 1000)
        nodes += source.sample(found, min(3, len(found)))
    return nodes[:TRIALS]


async def ask(atlas: Atlas) -> None:
    store, everywhere = atlas.reader.store, Filter()
    nodes = await drawn(store, atlas.reader.project)
    hubs = (await store.cypher(HUBS, {}, 20, 60.0)).rows
    for round_name in ("first", "again"):
        print(f" {round_name}")
        await timed("get_node (resolve)", [partial(atlas.resolve, n.row.qualified_name, everywhere) for n in nodes])
        await timed("get_node by name", [partial(atlas.resolve, n.row.name, everywhere) for n in nodes])
        await timed("symbols", [partial(store.symbols, [n.row.uid]) for n in nodes])
        callers = [partial(store.edges, [n.row.uid], Direction.IN, ["CALLS"], 50) for n in nodes]
        await timed("callers", callers)
        await timed("callers of hubs", [partial(store.edges, [str(u)], Direction.IN, ["CALLS"], 50) for u, _ in hubs])
        await timed("edges out", [partial(store.edges, [n.row.uid], Direction.OUT) for n in nodes])
        await timed("text", [partial(atlas.search, text, everywhere, Mode.WORDS) for text in QUESTIONS * 3])
        await timed("hybrid", [partial(atlas.search, text, everywhere) for text in QUESTIONS * 3])
        await timed("hybrid, no tests", [partial(atlas.search, t, Filter(include_tests=False)) for t in QUESTIONS * 3])


HUBS = "MATCH (n)<-[r:CALLS]-() RETURN n.uid AS uid, count(r) AS calls ORDER BY calls DESC LIMIT 20"


async def opened(kind: str, settings: Settings, url: str, *, writing: bool) -> Store:
    if kind == "bolt":
        return await BoltStore.open(Address(url), writing=writing)
    return EmbeddedStore.open(settings.data_dir, writing=writing, vector_index=VectorIndex)


async def indexed(kind: str, settings: Settings, url: str) -> IndexSummary:
    """Index the tree into an empty store."""
    if kind == "bolt":
        await emptied(url)
    else:
        shutil.rmtree(settings.data_dir, ignore_errors=True)
    atlas = atlas_on(await opened(kind, settings, url, writing=True), settings)
    summary = await atlas.index(full=True)
    await atlas.aclose()
    return summary


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("url", nargs="?", default="")
    parser.add_argument("--only", choices=("embedded", "bolt"))
    parser.add_argument("--write", action="store_true", help="index only")
    parser.add_argument(
        "--times", type=int, default=1, help="full indexes, into both in turns: a JVM compiles meanwhile"
    )
    parser.add_argument("--keep", action="store_true", help="ask what the server holds already")
    asked = parser.parse_args()
    kinds = [asked.only] if asked.only else ["embedded", "bolt"]
    url = asked.url or (measured_uri() if "bolt" in kinds else "")
    with tempfile.TemporaryDirectory(prefix="atlas-bolt-speed-") as data:
        settings = load_settings(str(asked.tree), data)
        indexed_into = [kind for kind in kinds if not (asked.keep and kind == "bolt")]
        for turn in range(1, asked.times + 1):
            seconds: list[float] = []
            for kind in indexed_into:  # in turns: machines are faster in some minutes than in others
                summary = await indexed(kind, settings, url)
                say(kind, summary)
                seconds.append(summary.seconds)
            if len(seconds) > 1:
                print(f"turn {turn}: {seconds[1] / seconds[0]:.2f} times the embedded time", flush=True)
        for kind in [] if asked.write else kinds:
            print(kind)
            atlas = atlas_on(await opened(kind, settings, url, writing=False), settings)
            await ask(atlas)
            await atlas.aclose()


if __name__ == "__main__":
    asyncio.run(main())
