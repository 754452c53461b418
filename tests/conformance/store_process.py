"""A process that writes to or reads from an embedded store until it is killed: `python -m tests.conformance.store_process`.

`write DIR` rewrites ten units batch after batch and prints each batch's number when it is stored. `read DIR SECONDS`
fails if it ever sees two batches at once. `fill DIR BYTES` writes until no file may grow further and prints the error's
message. `recover DIR` writes while no file may grow, and again when they may. `hold DIR` keeps others from writing
until it is told.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import time
from pathlib import Path

from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.errors import StoreError
from atlas.core.model import Filter, GraphDelta, Match
from tests.conformance.rows import MODEL, PROJECT, PythonVectorIndex, edge, node, unit, vector, words
from tests.raw_database import raw

UNITS = 10
NODES = 20


def batch(number: int) -> list[GraphDelta]:
    """Ten units whose every node, edge and text says the batch's number."""
    deltas: list[GraphDelta] = []
    for file in range(UNITS):
        path = f"m{file}.py"
        rows = [
            node(f"m{file}.f{index}", path, docstring=f"batch{number}", text=f"{number}", span=(index, index + 1))
            for index in range(NODES)
        ]
        edges = [edge(f"m{file}.f{index}", f"m{(file + 1) % UNITS}.f{index}", line=number) for index in range(NODES)]
        texts = [words(row, f"word{number} " * 50) for row in rows]
        deltas.append(unit(path, rows, edges, texts=texts, content=os.urandom(2000)))
    return deltas


async def write(folder: Path) -> None:
    store = EmbeddedStore.open(folder, writing=True, vector_index=PythonVectorIndex)
    await store.open_project(PROJECT, "/")
    for number in itertools.count(1):
        deltas = batch(number)
        await store.apply(deltas)
        await store.put_vectors(
            PROJECT, MODEL, [vector(row, number % 50, 1, 0, 0) for d in deltas for row in d.nodes or ()]
        )
        print(number, flush=True)


async def read(folder: Path, seconds: float) -> None:
    store = EmbeddedStore.open(folder, writing=False, vector_index=PythonVectorIndex)
    seen: set[str] = set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        nodes = await store.find("f", Match.PREFIX, Filter(), 10_000)
        batches = {found.row.docstring for found in nodes}
        assert len(nodes) == UNITS * NODES and len(batches) == 1, (len(nodes), batches)
        seen |= batches
    await store.aclose()
    assert len(seen) > 1, "the writer made no progress"


async def fill(folder: Path, most: int) -> None:
    import resource

    store = EmbeddedStore.open(folder, writing=True, vector_index=PythonVectorIndex)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    for number in itertools.count(2):
        try:
            await store.apply([unit(f"x{number}.py", [node(f"x{number}.f")], content=os.urandom(50_000))])
        except StoreError as error:
            print(type(error).__name__, "|", error.message, "|", error.hint, flush=True)
            os._exit(0)


async def recover(folder: Path) -> None:
    import resource

    store = EmbeddedStore.open(folder, writing=True, vector_index=PythonVectorIndex)
    await store.open_project(PROJECT, "/")
    first = batch(1)
    await store.apply(first)
    vectors = [vector(row, 1, 0, 0, 0) for delta in first for row in delta.nodes or ()]
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((folder / "atlas.db-wal").stat().st_size + 10_000, most))
    refused: list[str] = []
    for write in (lambda: store.apply(batch(2)), lambda: store.put_vectors(PROJECT, MODEL, vectors)):
        try:
            await write()
        except StoreError as error:
            refused.append(type(error).__name__)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    print(*refused)
    await store.put_vectors(PROJECT, MODEL, vectors)
    assert await store.stale_chunks(PROJECT, MODEL, 10) == []
    await store.apply(batch(3))
    nodes = await store.find("f", Match.PREFIX, Filter(), 10_000)
    assert {found.row.docstring for found in nodes} == {"batch3"} and len(nodes) == UNITS * NODES
    await store.aclose()
    print("whole")


async def limited(folder: Path) -> None:
    """Read, and try to write, where no file may grow over a kilobyte: shared memory cannot be made."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, most))
    reader = EmbeddedStore.open(folder, writing=False, vector_index=PythonVectorIndex)
    nodes = await reader.find("f", Match.PREFIX, Filter(), 10_000)
    print(len(nodes), *{found.row.docstring for found in nodes})
    try:
        EmbeddedStore.open(folder, writing=True, vector_index=PythonVectorIndex)
    except StoreError as error:
        print(error.message)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    writer = EmbeddedStore.open(folder, writing=True, vector_index=PythonVectorIndex)
    await writer.apply(batch(8))
    nodes = await reader.find("f", Match.PREFIX, Filter(), 10_000)
    print(len(nodes), *{found.row.docstring for found in nodes})
    await writer.aclose()
    await reader.aclose()


def hold(folder: Path) -> None:
    connection = raw(folder / "atlas.db")
    connection.execute("BEGIN IMMEDIATE")
    print("held", flush=True)
    sys.stdin.readline()
    connection.execute("ROLLBACK")
    connection.close()


if __name__ == "__main__":
    verb, directory, *rest = sys.argv[1:]
    if verb == "write":
        asyncio.run(write(Path(directory)))
    elif verb == "read":
        asyncio.run(read(Path(directory), float(rest[0])))
    elif verb == "recover":
        asyncio.run(recover(Path(directory)))
    elif verb == "limited":
        asyncio.run(limited(Path(directory)))
    elif verb == "hold":
        hold(Path(directory))
    else:
        asyncio.run(fill(Path(directory), int(rest[0])))
