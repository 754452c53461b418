"""Writes of new units that are begun while the one before is committed, on a real Neo4j: unseen, and never half there."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest
from reference_store.store import MemoryStore

from atlas.adapters.stores.bolt import speculative_write
from atlas.adapters.stores.bolt.connection import Address, BoltConnection
from atlas.adapters.stores.bolt.store import BoltStore
from atlas.core.errors import LeaseLost
from atlas.core.model import STRUCTURE_PATH, Direction, EdgeRow, Filter, GraphDelta
from tests.conformance.rows import MODEL, PROJECT, edge, node, unit, vector
from tests.neo4j.empty import empty_neo4j, reopened_neo4j
from tests.neo4j.held import held
from tests.neo4j.server import open_uri

ONE = [unit("a.py", [node("a.one")], [edge("a.one", "b.two"), edge("a.one", "c.three")])]
TWO = [
    unit("b.py", [node("b.two", "b.py"), node("b.other", "b.py")], [edge("b.two", "a.one"), edge("b.two", "b.other")])
]
THREE = [unit("c.py", [node("c.three", "c.py")], [edge("c.three", "b.two"), edge("c.three", "nowhere")])]
UIDS = ["p:a.one", "p:b.two", "p:b.other", "p:c.three"]


@pytest.fixture
async def link() -> AsyncIterator[BoltConnection]:
    link = BoltConnection(Address(open_uri()))
    yield link
    await link.aclose()


async def opened() -> BoltStore:
    store = await empty_neo4j()
    await store.open_project(PROJECT, "/x")
    return store


class Batches:
    """A pass that hands over its batches step by step."""

    def __init__(self, store: BoltStore) -> None:
        self._known: asyncio.Queue[list[GraphDelta]] = asyncio.Queue()
        self._handed_over = self._hand_over()
        self._written = store.apply_batches(self._handed_over)

    async def write(self, *known: list[GraphDelta]) -> None:
        """Hand these over and wait until the next one is written."""
        for batch in known:
            self._known.put_nowait(batch)
        await anext(self._written)

    async def aclose(self) -> None:
        await self._written.aclose()
        await self._handed_over.aclose()

    async def _hand_over(self) -> AsyncGenerator[list[GraphDelta]]:
        while True:
            yield await self._known.get()


@asynccontextmanager
async def batches_of(store: BoltStore) -> AsyncIterator[Batches]:
    batches = Batches(store)
    try:
        yield batches
    finally:
        await batches.aclose()


async def generation(store: BoltStore) -> int:
    return (await store.projects())[0].generation


async def begun(link: BoltConnection) -> int:
    """How many transactions are open that hold new nodes."""
    rows = await link.command("SHOW TRANSACTIONS YIELD activeLockCount, status RETURN activeLockCount, status")
    return sum(locks > 0 for locks, _ in rows)


async def until(link: BoltConnection, number: int) -> None:
    """Wait until so many transactions are open; the server notices a connection that ends only after a moment."""
    async with asyncio.timeout(20):
        while await begun(link) != number:  # noqa: ASYNC110 the server has no event for it
            await asyncio.sleep(0.02)


async def seen(store: BoltStore) -> list[str]:
    return [found.row.uid for found in await store.symbols(UIDS)]


async def edges(store: BoltStore | MemoryStore, uids: list[str] = UIDS) -> list[EdgeRow]:
    return sorted(found.row for found in await store.edges(uids, Direction.OUT))


async def test_what_is_begun_is_unseen_until_its_turn_comes(link: BoltConnection) -> None:
    store = await opened()
    async with batches_of(store) as writing:
        await writing.write(ONE, TWO)
        await until(link, 1)
        assert await seen(store) == ["p:a.one"]
        assert await store.search_text(["two"], Filter(), 10) == []
        assert await store.content(PROJECT, ["b.py"]) == {}
        assert set(await store.manifest(PROJECT)) == {"a.py"}
        await writing.write(THREE)
        await until(link, 1)
        assert await seen(store) == UIDS[:3]
        await writing.write()
        assert await begun(link) == 0
        assert await seen(store) == UIDS
        assert [hit.uid for hit in await store.search_text(["three"], Filter(), 10)] == ["p:c.three"]
        assert await edges(store) == sorted(
            found for delta in (*ONE, *TWO, *THREE) for found in delta.edges if found.target != "p:nowhere"
        )
        await store.aclose()


async def test_batches_of_a_tree_make_the_same_graph_in_any_order() -> None:
    """Each file uses each: there are edges inside of a batch, to the one before, to older ones and to later ones."""
    for seed in range(3):
        choose = random.Random(seed)
        names = [(f"m{file}.f{number}", f"m{file}.py") for file in range(24) for number in range(5)]
        by_path: dict[str, GraphDelta] = {}
        for path in dict.fromkeys(path for _, path in names):
            own = [name for name, place in names if place == path]
            out = {(choose.choice(own), choose.choice(names)[0]) for _ in range(12)}
            by_path[path] = unit(path, [node(name, path) for name in own], [edge(*ends) for ends in sorted(out)])
        paths = choose.sample(sorted(by_path), len(by_path))
        batches = [[by_path[path] for path in paths[start : start + 3]] for start in range(0, len(paths), 3)]
        batches[0].insert(0, unit(STRUCTURE_PATH, []))
        store, expected = await opened(), MemoryStore()
        await expected.open_project(PROJECT, "/x")
        async with batches_of(store) as writing:
            for number, batch in enumerate(batches):
                await writing.write(*batches[number + 1 if number else 0 : number + 2])
                assert await generation(store) == await expected.apply(batch)
        uids = [f"p:{name}" for name, _ in names]
        assert await edges(store, uids) == await edges(expected, uids)
        assert await store.symbols(uids) == await expected.symbols(uids)
        assert await store.manifest(PROJECT) == await expected.manifest(PROJECT)
        await store.aclose()


async def test_what_does_not_follow_is_taken_back(link: BoltConnection) -> None:
    store = await opened()
    async with batches_of(store) as writing:
        await writing.write(ONE, TWO)
        await until(link, 1)
        await store.apply(THREE)
        await until(link, 0)
        assert await seen(store) == ["p:a.one", "p:c.three"]
        await writing.write()
        assert await seen(store) == UIDS
        await store.aclose()


async def test_who_closes_leaves_nothing_behind(link: BoltConnection) -> None:
    store = await opened()
    async with batches_of(store) as writing:
        await writing.write(ONE, TWO)
        await until(link, 1)
        await store.aclose()
        await until(link, 0)
        again = await reopened_neo4j()
        assert await seen(again) == ["p:a.one"]
        await again.aclose()


async def test_a_pass_that_ends_early_leaves_nothing_behind(link: BoltConnection) -> None:
    store = await opened()
    async with batches_of(store) as writing:
        await writing.write(ONE, TWO)
        await until(link, 1)
    await until(link, 0)
    await store.apply(TWO)
    assert await seen(store) == UIDS[:3]
    await store.aclose()


async def test_patience_ends_and_the_write_comes_late(link: BoltConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speculative_write, "ABANDON_SECONDS", 0.2)
    store = await opened()
    async with batches_of(store) as writing:
        await writing.write(ONE, TWO)
        await until(link, 1)
        await until(link, 0)
        await writing.write()
        assert await generation(store) == 2
        assert await seen(store) == UIDS[:3]
        await store.aclose()


async def test_a_symbol_of_the_last_write_changes_hands() -> None:
    """The second write waits for the first at the symbol, is refused then, and finds it when it looks."""
    store = await opened()
    async with batches_of(store) as writing:
        taken = [unit("b.py", [node("a.one", "b.py"), node("b.two", "b.py")], [edge("a.one", "b.two")])]
        await writing.write(ONE, taken)
        await writing.write()
        assert await seen(store) == ["p:a.one", "p:b.two"]
        assert {found.row.path for found in await store.symbols(UIDS)} == {"b.py"}
        assert await edges(store) == [edge("a.one", "b.two")]
        await store.aclose()


async def test_another_writer_gets_what_was_begun_out_of_its_way() -> None:
    """Who became the writer meanwhile waits for patience to end at most; the first one's turn never comes."""
    first = await opened()
    async with batches_of(first) as writing:
        await writing.write(ONE, TWO)
        second = await reopened_neo4j()
        await second.open_project(PROJECT, "/x")
        late = asyncio.create_task(second.apply([unit("b.py", [node("b.two", "b.py")])]))
        with pytest.raises(LeaseLost):
            await writing.write()
        await asyncio.wait_for(late, 20)
        assert await seen(second) == ["p:a.one", "p:b.two"]
        await first.aclose()
        await second.aclose()


async def test_a_write_that_fails_takes_what_follows_with_it(link: BoltConnection) -> None:
    first = await opened()
    async with batches_of(first) as writing:
        second = await reopened_neo4j()
        await second.open_project(PROJECT, "/x")
        with pytest.raises(LeaseLost):
            await writing.write(ONE, TWO)
        await until(link, 0)
        assert await seen(second) == []
        await first.aclose()
        await second.aclose()


async def test_who_is_cancelled_at_its_turn_has_written_nothing(link: BoltConnection) -> None:
    store = await opened()
    async with batches_of(store) as writing:
        await writing.write(ONE, TWO)
        async with held(link, PROJECT):
            turn = asyncio.create_task(writing.write(THREE))
            await asyncio.sleep(0.3)
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
        await until(link, 0)
        assert await seen(store) == ["p:a.one"]
        await store.apply(TWO)
        assert await seen(store) == UIDS[:3]
        await store.aclose()


async def test_vectors_of_a_new_model_come_while_the_next_write_is_begun(link: BoltConnection) -> None:
    """Their index is made between two writes."""
    store = await opened()
    async with batches_of(store) as writing:
        await writing.write(ONE, TWO)
        await until(link, 1)
        putting = asyncio.create_task(store.put_vectors(PROJECT, MODEL, [vector(node("a.one"), 1, 0, 0, 0)]))
        await asyncio.sleep(0.2)
        await asyncio.wait_for(writing.write(THREE), 20)
        await asyncio.wait_for(writing.write(), 20)
        await asyncio.wait_for(putting, 20)
        assert {chunk.uid for chunk in await store.stale_chunks(PROJECT, MODEL, 10)} == set(UIDS[1:])
        await store.aclose()
