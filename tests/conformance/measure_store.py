"""Cost of the embedded store on a real tree: `python -m tests.conformance.measure_store TREE [FOLDER]`.

Prints CPU seconds of each writing verb, bytes by table, and p50/p95 CPU milliseconds of each reading verb. The graph is
made by `synthetic_graph`, vectors are random; the vector index is the extension's.
"""

from __future__ import annotations

import asyncio
import random
import struct
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Sized
from functools import partial
from pathlib import Path

from atlas._parser import VectorIndex
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.model import Direction, Filter, GraphDelta, Match, ModelInfo, VectorRow
from tests.conformance.synthetic_graph import deltas_of_tree
from tests.raw_database import raw

MODEL = ModelInfo("measure", "random", 256, "none")
ALL = Filter()
BATCH = 300
PAGE = 2000


def random_vector(source: random.Random, kind: str) -> bytes:
    return struct.pack(f"<256{kind}", *(source.gauss(0, 1 / 16) for _ in range(256)))


async def write(folder: Path, tree: Path) -> None:
    """Fill the store; print CPU seconds."""
    deltas: list[GraphDelta] = list(deltas_of_tree("p", tree))
    nodes, edges = (
        sum(len(rows or ()) for rows in column) for column in ((d.nodes for d in deltas), (d.edges for d in deltas))
    )
    print(
        f"{len(deltas)} units, {nodes} nodes, {edges} edges, {sum(len(d.content or b'') for d in deltas) / 1e6:.0f} MB of source"
    )
    store = EmbeddedStore.open(folder, writing=True, vector_index=VectorIndex)
    await store.open_project("p", str(tree))
    source = random.Random(1)
    made = [random_vector(source, "e") for _ in range(500)]
    start = time.process_time()
    for first in range(0, len(deltas), BATCH):
        await store.apply(deltas[first : first + BATCH])
    print(f"apply {time.process_time() - start:8.2f} CPU s")
    stale = put = 0.0
    after = ""
    while True:
        start = time.process_time()
        chunks = await store.stale_chunks("p", MODEL, PAGE, after)
        stale += time.process_time() - start
        if not chunks:
            break
        after = chunks[-1].uid
        rows = [VectorRow(chunk.uid, chunk.digest, made[index % 500]) for index, chunk in enumerate(chunks)]
        start = time.process_time()
        await store.put_vectors("p", MODEL, rows)
        put += time.process_time() - start
    print(f"stale_chunks {stale:.2f}, put_vectors {put:.2f} CPU s")
    for name, ask in (
        ("finish", lambda: store.finish("p", [])),
        ("nothing stale", lambda: store.stale_chunks("p", MODEL, PAGE)),
        ("first stats", lambda: store.stats("p")),
        ("apply again 300 units", lambda: store.apply(deltas[:BATCH])),
    ):
        start = time.process_time()
        await ask()
        print(f"{name} {time.process_time() - start:.3f} CPU s")
    await store.aclose()


def sizes(folder: Path) -> None:
    """Print megabytes by table and index."""
    connection = raw(folder / "atlas.db", writing=False)
    tables = connection.execute("SELECT name, sum(pgsize) / 1e6 FROM dbstat GROUP BY name ORDER BY 2 DESC").fetchall()
    print("  ".join(f"{name} {size:.1f}" for name, size in tables if size > 0.1), "MB")
    print(f"total {(folder / 'atlas.db').stat().st_size / 1e6:.1f} MB")


async def timed(name: str, calls: Iterable[Callable[[], Awaitable[Sized]]]) -> None:
    times: list[float] = []
    for call in calls:
        start = time.process_time()
        await call()
        times.append((time.process_time() - start) * 1e3)
    times.sort()
    print(f"{name:28} p50 {times[len(times) // 2]:7.2f}  p95 {times[int(len(times) * 0.95)]:7.2f} ms")


async def read(folder: Path) -> None:
    """Print p50 and p95 of the reading verbs over nodes drawn at random."""
    source = random.Random(3)
    connection = raw(folder / "atlas.db", writing=False)
    nodes = connection.execute(
        "SELECT s.uid, n.name, n.qualified_name FROM node n JOIN symbol_id s ON s.id = n.id"
    ).fetchall()
    hubs = connection.execute(
        "SELECT s.uid FROM edge e JOIN symbol_id s ON s.id = e.target GROUP BY e.target ORDER BY count(*) DESC LIMIT 20"
    ).fetchall()
    connection.close()
    some = source.sample(nodes, 300)
    words = sorted({word for _, name, _ in some for word in str(name).lower().split("_") if word})
    queries = [source.sample(words, 1 + number % 4) for number in range(200)]
    vectors = [random_vector(source, "f") for _ in range(60)]
    store = EmbeddedStore.open(folder, writing=False, vector_index=VectorIndex)

    def find(match: Match, make: Callable[[str, str], str]) -> list[Callable[[], Awaitable[Sized]]]:
        return [partial(store.find, make(str(n), str(q)), match, ALL, 10) for _, n, q in some]

    await timed(
        "symbols (10)", [partial(store.symbols, [str(s[0]) for s in source.sample(some, 10)]) for _ in range(200)]
    )
    await timed("find exact", find(Match.EXACT, lambda _, q: q))
    await timed("find suffix, name", find(Match.SUFFIX, lambda n, _: n))
    await timed("find suffix, two parts", find(Match.SUFFIX, lambda _, q: ".".join(q.split(".")[-2:])))
    await timed("find folded", find(Match.FOLDED, lambda n, _: n.upper()))
    await timed("find prefix of four", find(Match.PREFIX, lambda n, _: n[:4]))
    await timed("find near", find(Match.NEAR, lambda n, _: n[: len(n) // 2] + n[len(n) // 2 + 1 :]))
    await timed("edges out", [partial(store.edges, [str(s[0])], Direction.OUT) for s in some])
    await timed("edges in", [partial(store.edges, [str(s[0])], Direction.IN) for s in some])
    await timed("edges in, hubs, 50", [partial(store.edges, [str(u)], Direction.IN, limit=50) for (u,) in hubs])
    await timed("search_text", [partial(store.search_text, q, ALL, 50) for q in queries])
    common = [["self"], ["get"], ["test"], ["name"], ["self", "get", "args"], ["return", "value"]] * 5
    await timed("search_text, common words", [partial(store.search_text, q, ALL, 50) for q in common])
    no_tests = Filter(include_tests=False)
    await timed("search_text, no tests", [partial(store.search_text, q, no_tests, 50) for q in queries])
    await timed("search_vector, first", [lambda: store.search_vector(vectors[0], ALL, 20)])
    await timed("search_vector", [partial(store.search_vector, v, ALL, 20) for v in vectors])
    await timed("search_vector, no tests", [partial(store.search_vector, v, no_tests, 20) for v in vectors])
    await store.aclose()


if __name__ == "__main__":
    place = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp(prefix="atlas-measure-"))
    asyncio.run(write(place, Path(sys.argv[1])))
    sizes(place)
    asyncio.run(read(place))
