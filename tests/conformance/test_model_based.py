"""Any sequence of writes leaves the embedded store, and the one on a Bolt server, equal to the one made of plain dicts."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Coroutine, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from reference_store.store import MemoryStore

from atlas.adapters.stores.bolt import speculative_write
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.contracts import Store
from atlas.core.model import (
    CODE,
    PROSE,
    STRUCTURE_PATH,
    Decision,
    Direction,
    EdgeRow,
    FileRecord,
    Filter,
    GraphDelta,
    Match,
    ModelInfo,
    VectorRow,
)
from tests.conformance.rows import PythonVectorIndex, node, query, unit, vector, words
from tests.neo4j.empty import empty_neo4j, reopened_neo4j
from tests.neo4j.memgraph import empty_memgraph, reopened_memgraph

PROJECTS = ("p", "q")
PATHS = (STRUCTURE_PATH, "a.py", "b/a.py", "b/test_c.py")
NAMES = ("a.f", "a.f#2", "a.g", "A.f", "b.C", "b.C.f", "b.C.g", "b.test_f")
WORDS = ("f", "g", "c", "alpha", "beta", "py")
MODELS = (
    ModelInfo("test", "tiny", 2, "one"),
    ModelInfo("test", "tiny", 2, "two"),
    ModelInfo("test", "tiny", 2, "one", PROSE),
)
FILTERS = (Filter(), Filter(project="q"), Filter(path="b/"), Filter(path="*a.py"), Filter(include_tests=False))

_DECISIONS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from([(True, "added"), (True, "deleted"), (False, "layout")])),
    max_size=3,
)

_Result = TypeVar("_Result")


@st.composite
def units(draw: st.DrawFn) -> GraphDelta:
    """A unit with some of a few names, so that units rival for uids and edges often lead nowhere."""
    project, path = draw(st.sampled_from(PROJECTS)), draw(st.sampled_from(PATHS))
    language = "python" if path else ""
    shape = draw(st.sampled_from(["gone", "record", "full", "full", "full"]))
    decisions = [Decision(f"{project}:{name}", *said) for name, said in draw(_DECISIONS)]
    if shape == "gone":
        return GraphDelta(project, path, None, decisions=decisions)
    if shape == "record":
        mtime, stale = draw(st.integers(0, 3)), draw(st.booleans())
        record = FileRecord(path, language, "", 1, mtime, problems=("1: syntax: x",), stale=stale)
        return GraphDelta(project, path, record, decisions=decisions)
    nodes = [
        node(
            name,
            path,
            project=project,
            label=draw(st.sampled_from(["Function", "Claim"])),
            language=language,
            line=draw(st.integers(1, 2)),
            span=(draw(st.integers(0, 3)), draw(st.integers(4, 6))),
            text=draw(st.sampled_from(["", "x", "y"])),
            docstring=draw(st.sampled_from(["", "alpha"])),
            is_test="test" in path,
        )
        for name in draw(st.lists(st.sampled_from(NAMES), max_size=5, unique=True))
    ]
    texts = [words(row, draw(st.sampled_from(["", "beta"]))) for row in nodes if draw(st.integers(0, 4))]
    edges = [
        EdgeRow(
            row.uid,
            f"{project}:{draw(st.sampled_from(NAMES))}",
            draw(st.sampled_from(["CALLS", "INHERITS"])),
            draw(st.integers(1, 2)),
            draw(st.sampled_from(["import", "self"])),
            draw(st.sampled_from([0.5, 1.0])),
            draw(st.sampled_from([(), (3,), (3, 5)])),
        )
        for row in nodes
        for _ in range(draw(st.integers(0, 2)))
    ]
    content = draw(st.sampled_from([b"", b"abcdef", b"uvwxyz"]))
    return unit(path, nodes, edges, project=project, texts=texts, content=content, decisions=decisions)


async def applied(store: Store, batches: list[list[GraphDelta]], count: int) -> list[Sequence[GraphDelta]]:
    """Hand over the batches and take `count` of them as written."""

    async def handed_over() -> AsyncGenerator[Sequence[GraphDelta]]:
        for batch in batches:
            yield batch

    async with aclosing(handed_over()) as given, aclosing(store.apply_batches(given)) as written:
        return [await anext(written) for _ in range(count)]


class StoresAgree(RuleBasedStateMachine):
    """Both stores get the same writes; every read has to agree afterwards."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp())
        self.memory: Store = MemoryStore()
        self.other: Store = self.run(self.opened())

    async def opened(self) -> Store:
        """The store that is compared, as it was left."""
        return EmbeddedStore.open(self.folder, writing=True, vector_index=PythonVectorIndex)

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        return self.runner.run(work)

    @initialize()
    def projects(self) -> None:
        for store in (self.memory, self.other):
            for project in PROJECTS:
                self.run(store.open_project(project, "/" + project))

    @rule(deltas=st.lists(units(), min_size=1, max_size=4))
    def apply(self, deltas: list[GraphDelta]) -> None:
        assert self.run(self.other.apply(deltas)) == self.run(self.memory.apply(deltas))

    @rule(deltas=st.lists(units(), min_size=1, max_size=3), following=st.lists(units(), min_size=1, max_size=3))
    def apply_two(self, deltas: list[GraphDelta], following: list[GraphDelta]) -> None:
        """The store may begin with the second batch while it writes the first."""
        assert self.run(applied(self.other, [deltas, following], 2)) == [deltas, following]
        self.run(self.memory.apply(deltas))
        self.run(self.memory.apply(following))

    @rule(deltas=st.lists(units(), min_size=1, max_size=3), following=st.lists(units(), min_size=1, max_size=3))
    def apply_one_of_two(self, deltas: list[GraphDelta], following: list[GraphDelta]) -> None:
        """The second batch is not waited for: nothing of it is there."""
        assert self.run(applied(self.other, [deltas, following], 1)) == [deltas]
        self.run(self.memory.apply(deltas))

    @rule(data=st.data(), model=st.sampled_from(MODELS), project=st.sampled_from(PROJECTS), keep=st.integers(0, 2))
    def embed(self, data: st.DataObject, model: ModelInfo, project: str, keep: int) -> None:
        chunks = self.run(self.memory.stale_chunks(project, model, 100))[keep:]
        values = data.draw(
            st.lists(st.sampled_from([-1.0, 0.25, 1.0]), min_size=2 * len(chunks), max_size=2 * len(chunks))
        )
        rows = [
            VectorRow(chunk.uid, chunk.digest, vector(node("any"), *values[2 * index : 2 * index + 2]).data)
            for index, chunk in enumerate(chunks)
        ]
        for store in (self.memory, self.other):
            self.run(store.put_vectors(project, model, rows))

    @rule()
    def reopen(self) -> None:
        self.run(self.other.aclose())
        self.other = self.run(self.opened())

    @invariant()
    def same_answers(self) -> None:
        expected, actual = (self.run(_answers(store)) for store in (self.memory, self.other))
        for question in expected:
            assert actual[question] == expected[question], question

    def teardown(self) -> None:
        self.run(self.other.aclose())
        self.runner.close()
        shutil.rmtree(self.folder)


async def _answers(store: Store) -> dict[str, object]:
    """Everything that a store can be asked, by question; all at once, as clients of a server ask."""
    questions = dict(_questions(store))
    return dict(zip(questions, await asyncio.gather(*questions.values()), strict=True))


def _questions(store: Store) -> Iterator[tuple[str, Awaitable[object]]]:
    uids = [f"{project}:{name}" for project in PROJECTS for name in NAMES]
    yield "symbols", store.symbols(uids)
    for direction in Direction:
        yield f"edges {direction}", store.edges(uids, direction)
        yield f"degrees {direction}", store.degrees(uids, direction)
        yield f"edges each {direction}", store.edges(uids, direction, each=1)
    yield "decisions", store.decisions(uids)
    for project in PROJECTS:
        yield f"digests {project}", store.symbol_digests(project, PATHS)
        yield f"manifest {project}", store.manifest(project)
        yield f"paths {project}", store.paths(project)
        yield f"content {project}", store.content(project, PATHS)
        for model in MODELS:
            about = f"{project} {model.fingerprint} {model.space}"
            yield f"stale {about}", _stale(store, project, model)
            yield f"stale among {about}", _stale(store, project, model, uids[::2])
    for where in FILTERS:
        for match, text in FINDS:
            yield f"find {match} {text} {where}", store.find(text, match, where, 3)
        for word in WORDS:
            yield f"words {word} {where}", _words(store, word, where)
        for space in (CODE, PROSE):
            yield f"vectors {space} {where}", _nearest(store, where, space)
    yield "stats", _stats(store)


FINDS = (
    (Match.SUFFIX, "f"),
    (Match.SUFFIX, "C.f"),
    (Match.FOLDED, "a.f"),
    (Match.PREFIX, ""),
    (Match.PREFIX, "t"),
    (Match.EXACT, "b.C"),
    (Match.NEAR, "tset_f"),
    (Match.NEAR, "b.D.f"),
    (Match.PATH, STRUCTURE_PATH),
    (Match.PATH, "a.py"),
    (Match.PATH, "b/test_c.py"),
)


async def _stale(store: Store, project: str, model: ModelInfo, uids: Sequence[str] | None = None) -> object:
    return {chunk.uid: chunk for chunk in await store.stale_chunks(project, model, 100, uids=uids)}


async def _words(store: Store, word: str, where: Filter) -> object:
    return {hit.uid for hit in await store.search_text([word], where, 100)}


async def _nearest(store: Store, where: Filter, space: str) -> object:
    return [(hit.uid, round(hit.score, 6)) for hit in await store.search_vector(query(1, 0.5), where, 100, space)]


async def _stats(store: Store) -> object:
    return {
        stats.project: (
            *(stats.generation, stats.files, stats.nodes, stats.edges, stats.languages, stats.chunks, stats.vectors),
            *(stats.strategies, stats.problems, stats.unresolved, stats.models, stats.stale_files, stats.decisions),
        )
        for stats in await store.stats()
    }


class BoltAgrees(StoresAgree):
    """The same on a Bolt server, which is asked fewer times: each question is a transaction over a socket."""

    def __init__(self) -> None:
        self.started = False
        # what does not follow must not hold up an index for a new model: that is tested elsewhere
        self.patience = pytest.MonkeyPatch()
        self.patience.setattr(speculative_write, "ABANDON_SECONDS", 0.1)
        super().__init__()

    def teardown(self) -> None:
        super().teardown()
        self.patience.undo()

    async def opened(self) -> Store:
        if self.started:
            return await reopened_neo4j()
        self.started = True
        return await empty_neo4j()


class MemgraphAgrees(StoresAgree):
    """The same on a Memgraph."""

    def __init__(self) -> None:
        self.started = False
        super().__init__()

    async def opened(self) -> Store:
        if self.started:
            return await reopened_memgraph()
        self.started = True
        return await empty_memgraph()


TestStoresAgree = StoresAgree.TestCase
TestStoresAgree.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
TestBoltAgrees = BoltAgrees.TestCase
TestBoltAgrees.settings = settings(max_examples=2, stateful_step_count=8, deadline=None)
TestMemgraphAgrees = pytest.mark.memgraph(MemgraphAgrees.TestCase)
TestMemgraphAgrees.settings = TestBoltAgrees.settings
