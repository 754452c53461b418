"""What every store promises about `apply`, `finish` and what can be read back."""

from __future__ import annotations

import dataclasses

import pytest

from atlas.core.contracts import Store
from atlas.core.errors import NotFound
from atlas.core.model import (
    STRUCTURE_PATH,
    Decision,
    Direction,
    FileRecord,
    Filter,
    GraphDelta,
    Match,
    NodeRow,
    Skipped,
    SymbolDigests,
)
from atlas.core.project_state import ProjectState
from tests.conformance.rows import MODEL, PROJECT, edge, gone, node, query, unit, vector, words

ALL = Filter()


async def everything(store: Store, project: str = PROJECT) -> object:
    """All that can be read of a project, but for generations and times."""
    manifest = await store.manifest(project)
    nodes = [row for path in manifest for row in await store.find(path, Match.PATH, Filter(project=project), 10_000)]
    nodes += [row for row in await store.find(STRUCTURE_PATH, Match.PATH, Filter(project=project), 10_000)]
    uids = [row.row.uid for row in nodes]
    return (
        manifest,
        nodes,
        await store.edges(uids, Direction.OUT, limit=10_000),
        await store.edges(uids, Direction.IN, limit=10_000),
        await store.content(project, list(manifest)),
        sorted(chunk.uid for chunk in await store.stale_chunks(project, MODEL, 10_000)),
    )


async def names(store: Store, word: str) -> set[str]:
    return {hit.uid for hit in await store.search_text([word], ALL, 100)}


async def test_a_unit_can_be_read_back(store: Store) -> None:
    one, two = node("a.one", docstring="says", line=3), node("a.two", span=(10, 20))
    delta = unit("a.py", [one, two], [edge("a.one", "a.two", line=4)], content=b"x" * 30, problems=("1: syntax: bad",))
    await store.apply([delta])
    assert await store.manifest(PROJECT) == {"a.py": delta.record}
    assert await store.content(PROJECT, ["a.py", "nowhere.py"]) == {"a.py": b"x" * 30}
    assert [found.row for found in await store.symbols([two.uid, "p:nothing", one.uid])] == [two, one]
    (found,) = await store.edges([one.uid], Direction.OUT)
    assert (found.row, found.node.row, found.node.project) == (edge("a.one", "a.two", line=4), two, PROJECT)
    assert isinstance(found.node.row.is_test, bool)


async def test_generations_grow(store: Store) -> None:
    assert await store.open_project(PROJECT, "/somewhere") == 0
    first = await store.apply([unit("a.py", [node("a.one")])])
    second = await store.apply([unit("a.py", [node("a.two")])])
    assert 0 < first < second == await store.open_project(PROJECT, "/elsewhere")
    assert (await store.stats(PROJECT))[0].root == "/elsewhere"


async def test_no_deltas_are_nothing(store: Store) -> None:
    await store.apply([])
    assert await store.manifest(PROJECT) == {}


async def test_applying_twice_equals_once(store: Store) -> None:
    one = node("a.one")
    deltas = [unit("a.py", [one, node("a.two")], [edge("a.one", "a.two")]), unit("b.py", [node("b.x", "b.py")])]
    await store.apply(deltas)
    await store.put_vectors(PROJECT, MODEL, [vector(one, 1, 0, 0, 0)])
    before = await everything(store)
    await store.apply(deltas)
    await store.apply(deltas + deltas)
    assert await everything(store) == before
    assert await names(store, "one") == {one.uid}


async def test_a_rewritten_unit_holds_only_the_new_content(store: Store) -> None:
    await store.apply([unit("a.py", [node("a.one"), node("a.two")], [edge("a.one", "a.two"), edge("a.two", "a.one")])])
    one = node("a.one", docstring="changed")
    await store.apply([unit("a.py", [one, node("a.three")], [edge("a.one", "a.three", "REFERENCES")])])
    assert await store.symbols(["p:a.two"]) == []
    assert [found.row for found in await store.symbols([one.uid])] == [one]
    assert [found.row.type for found in await store.edges([one.uid], Direction.OUT)] == ["REFERENCES"]
    assert await store.edges([one.uid], Direction.IN) == []
    assert await names(store, "two") == set()
    assert await names(store, "changed") == {one.uid}


async def test_words_follow_their_text(store: Store) -> None:
    row = node("a.one")
    await store.apply([unit("a.py", [row], texts=[words(row, "alpha beta")])])
    assert await names(store, "alpha") == {row.uid}
    await store.apply([unit("a.py", [row], texts=[words(row, "beta gamma")])])
    assert (await names(store, "alpha"), await names(store, "gamma")) == (set(), {row.uid})
    await store.apply([unit("a.py", [row], texts=[])])
    assert await names(store, "gamma") == set()


async def test_a_deleted_unit_leaves_nothing(store: Store) -> None:
    await store.apply([unit("a.py", [node("a.one")]), unit("b.py", [node("b.x", "b.py")])])
    kept = (await store.manifest(PROJECT))["b.py"]
    await store.apply([gone("a.py"), gone("never.py")])
    assert await store.manifest(PROJECT) == {"b.py": kept}
    assert await store.paths(PROJECT) == ["b.py"]
    assert await store.symbols(["p:a.one"]) == []
    assert await store.content(PROJECT, ["a.py"]) == {}
    assert await names(store, "one") == set()


async def test_a_record_alone_keeps_the_rest(store: Store) -> None:
    delta = unit("a.py", [node("a.one")], content=b"here")
    await store.apply([delta])
    touched = dataclasses.replace(delta.record or FileRecord("a.py"), mtime_ns=99)
    await store.apply([GraphDelta(PROJECT, "a.py", touched)])
    assert await store.manifest(PROJECT) == {"a.py": touched}
    assert await store.content(PROJECT, ["a.py"]) == {"a.py": b"here"}
    assert len(await store.symbols(["p:a.one"])) == 1


async def test_a_file_is_marked_stale_and_fresh_again(store: Store) -> None:
    delta = unit("a.py", [node("a.one")], content=b"here")
    record = delta.record or FileRecord("a.py")
    await store.apply([delta, unit("b.py")])
    marked = dataclasses.replace(record, size=99, mtime_ns=99, stale=True)
    generation = await store.apply([GraphDelta(PROJECT, "a.py", marked)])
    assert (await store.manifest(PROJECT))["a.py"] == marked
    assert await store.records(PROJECT, ["a.py"]) == {"a.py": marked}
    (stats,) = await store.stats(PROJECT)
    assert (stats.stale_files, stats.files, stats.generation) == (1, 2, generation)
    assert len(await store.symbols(["p:a.one"])) == 1
    await store.apply([delta])
    assert (await store.records(PROJECT, ["a.py"]))["a.py"] == record
    assert (await store.stats(PROJECT))[0].stale_files == 0


async def test_decisions_are_kept_per_symbol_and_counted(store: Store) -> None:
    one, two = node("a.one"), node("a.two")
    added = [Decision(one.uid, True, "added"), Decision(two.uid, True, "added")]
    await store.apply([unit("a.py", [one, two], decisions=added)])
    assert await store.decisions([two.uid, "p:nothing", one.uid]) == added[::-1]
    stopped = Decision(one.uid, False, "comment")
    changed = unit("a.py", [node("a.one", line=5)], decisions=[stopped, Decision(two.uid, True, "deleted")])
    await store.apply([changed])
    assert await store.decisions([one.uid, two.uid]) == [stopped]
    assert (await store.stats(PROJECT))[0].decisions == {"added": 2, "comment": 1, "deleted": 1}
    await store.apply([gone("a.py")])
    assert await store.decisions([one.uid]) == []
    await store.apply([unit("a.py", [one])])
    assert await store.decisions([one.uid]) == []
    assert (await store.stats(PROJECT))[0].decisions == {"added": 2, "comment": 1, "deleted": 1}


async def test_decisions_of_a_delta_that_is_known_are_not_counted_again(store: Store) -> None:
    one = node("a.one")
    delta = unit("a.py", [one], decisions=[Decision(one.uid, True, "added")])
    await store.apply([delta])
    await store.apply([delta, delta])
    assert (await store.stats(PROJECT))[0].decisions == {"added": 1}
    removed = dataclasses.replace(gone("a.py"), decisions=[Decision(one.uid, True, "deleted")])
    await store.apply([removed])
    await store.apply([removed, removed])
    assert (await store.stats(PROJECT))[0].decisions == {"added": 1, "deleted": 1}


async def test_a_record_alone_can_carry_decisions(store: Store) -> None:
    one = node("a.one")
    delta = unit("a.py", [one])
    await store.apply([delta, unit("b.py", [node("b.x", "b.py")])])
    record = dataclasses.replace(delta.record or FileRecord("a.py"), digest="0" * 32)
    layout = [Decision(one.uid, False, "layout"), Decision("p:b.x", False, "layout")]
    await store.apply([GraphDelta(PROJECT, "a.py", record, decisions=layout)])
    assert await store.decisions([one.uid, "p:b.x"]) == layout[:1]
    assert (await store.stats(PROJECT))[0].decisions == {"layout": 2}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_a_decision_is_that_of_the_unit_that_holds_the_symbol(store: Store, order: tuple[int, int]) -> None:
    row = node("m.f", "a.py")
    await store.apply([unit("a.py", [row]), unit("b.py", [])])
    moved = [
        unit("a.py", [], decisions=[Decision(row.uid, True, "deleted")]),
        unit("b.py", [node("m.f", "b.py")], decisions=[Decision(row.uid, True, "added")]),
    ]
    await store.apply([moved[index] for index in order])
    assert await store.decisions([row.uid]) == [Decision(row.uid, True, "added")]


async def test_digests_of_symbols_by_file(store: Store) -> None:
    one, two, other = node("a.one", docstring="says"), node("a.two", text=""), node("b.x", "b.py")
    await store.apply([unit("a.py", [one, two]), unit("b.py", [other]), unit("empty.py"), unit("", [node("p", "")])])
    found = await store.symbol_digests(PROJECT, ["a.py", "empty.py", "no.py", "a.py"])
    assert found == {"a.py": {row.uid: _digests(row) for row in (one, two)}, "empty.py": {}}
    assert list(await store.symbol_digests(PROJECT, [STRUCTURE_PATH])) == [STRUCTURE_PATH]
    assert await store.symbol_digests(PROJECT, []) == {}


def _digests(row: NodeRow) -> SymbolDigests:
    return SymbolDigests(row.signature_digest, row.body_digest, row.docstring_digest, row.text_digest, row.chunk_digest)


async def test_edges_survive_their_target(store: Store) -> None:
    caller = unit("a.py", [node("a.one")], [edge("a.one", "b.x")])
    await store.apply([caller])
    assert await store.edges(["p:a.one"], Direction.OUT) == []
    target = unit("b.py", [node("b.x", "b.py")])
    await store.apply([target])
    assert len(await store.edges(["p:a.one"], Direction.OUT)) == 1
    await store.apply([gone("b.py")])
    assert await store.edges(["p:a.one"], Direction.OUT) == []
    assert await store.edges(["p:b.x"], Direction.IN) == []
    await store.apply([target])
    assert [found.row for found in await store.edges(["p:b.x"], Direction.IN)] == [edge("a.one", "b.x")]
    assert (await store.stats(PROJECT))[0].edges == {"CALLS": 1}


async def test_a_uid_belongs_to_the_unit_that_claimed_it_last(store: Store) -> None:
    first = unit("a.py", [node("m.f", "a.py", line=1)], [edge("m.f", "m.f", line=1)])
    second = unit("b.py", [node("m.f", "b.py", line=2)], [edge("m.f", "m.f", line=2)])
    await store.apply([first])
    await store.apply([second])
    assert [found.row.path for found in await store.symbols(["p:m.f"])] == ["b.py"]
    assert [found.row.line for found in await store.edges(["p:m.f"], Direction.OUT)] == [2]
    await store.apply([gone("a.py")])
    assert [found.row.path for found in await store.symbols(["p:m.f"])] == ["b.py"]
    await store.apply([first, gone("b.py")])
    assert [found.row.path for found in await store.symbols(["p:m.f"])] == ["a.py"]
    await store.apply([second, unit("a.py", [])])
    assert [found.row.path for found in await store.symbols(["p:m.f"])] == ["b.py"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_a_uid_that_moves_between_files_keeps_its_vector(store: Store, order: tuple[int, int]) -> None:
    row = node("m.f", "a.py")
    await store.apply([unit("a.py", [row]), unit("b.py", [])])
    await store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0)])
    moved = [unit("a.py", []), unit("b.py", [node("m.f", "b.py")])]
    await store.apply([moved[index] for index in order])
    assert [found.row.path for found in await store.symbols(["p:m.f"])] == ["b.py"]
    assert await store.stale_chunks(PROJECT, MODEL, 10) == []
    assert [hit.uid for hit in await store.search_vector(query(1, 0, 0, 0), ALL, 5)] == ["p:m.f"]


async def test_a_node_that_is_not_embedded_any_more_loses_its_vector(store: Store) -> None:
    """A function that becomes a constant of the same name keeps its uid and has no chunk: nothing would replace it."""
    row = node("m.f")
    await store.apply([unit("m.py", [row], content=b"def f(): pass")])
    await store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0)])
    await store.apply([unit("m.py", [node("m.f", text="")], content=b"f = g")])
    assert await store.search_vector(query(1, 0, 0, 0), ALL, 5) == []
    await store.apply([unit("m.py", [row], content=b"def f(): pass")])
    assert [chunk.uid for chunk in await store.stale_chunks(PROJECT, MODEL, 5)] == ["p:m.f"]


async def test_an_edge_of_a_node_that_is_not_in_the_unit_is_left_out(store: Store) -> None:
    await store.apply([unit("a.py", [node("a.one")], [edge("b.x", "a.one")]), unit("b.py", [node("b.x", "b.py")])])
    assert await store.edges(["p:b.x"], Direction.OUT) == []


async def test_a_unit_twice_in_one_batch_ends_as_the_last(store: Store) -> None:
    await store.apply([unit("a.py", [node("a.one")]), gone("a.py"), unit("a.py", [node("a.two")])])
    assert [found.row.name for found in await store.find("a.py", Match.PATH, ALL, 10)] == ["two"]


async def test_projects_are_apart(store: Store) -> None:
    await store.open_project("q", "/other")
    await store.apply(
        [unit("a.py", [node("a.one")]), unit("a.py", [node("a.one", project="q")], project="q", content=b"q's own")]
    )
    assert [found.project for found in await store.find("one", Match.SUFFIX, Filter(project="q"), 10)] == ["q"]
    assert [stats.project for stats in await store.stats()] == ["p", "q"]
    assert await store.content("q", ["a.py"]) == {"a.py": b"q's own"}
    await store.apply([gone("a.py")])
    assert [found.project for found in await store.find("one", Match.SUFFIX, ALL, 10)] == ["q"]
    assert len(await store.manifest("q")) == 1


async def test_a_dropped_project_leaves_nothing(store: Store) -> None:
    await store.open_project("q", "/other")
    many = [unit(f"m{number}.py", [node(f"m{number}.f", project="q")], project="q") for number in range(3)]
    await store.apply([unit("a.py", [node("a.one")], [edge("a.one", "a.one")]), *many])
    await store.finish("q", [Skipped("x.bin", "binary")])
    await store.drop_project("q")
    assert [state.project for state in await store.projects()] == ["p"]
    assert await store.find("f", Match.SUFFIX, ALL, 10) == []
    with pytest.raises(NotFound):
        await store.manifest("q")
    with pytest.raises(NotFound):
        await store.drop_project("q")
    assert len(await store.edges(["p:a.one"], Direction.OUT)) == 1
    assert await store.open_project("q", "/other") == 0
    assert (await store.skipped("q"), await store.manifest("q")) == ([], {})
    await store.apply([unit("new.py", [node("new.f", project="q")], project="q")])
    assert [stats.nodes for stats in await store.stats()] == [{"Function": 1}] * 2


async def test_unknown_projects_are_named(store: Store) -> None:
    unknown = Filter(project="nope")
    for read in (
        store.manifest("nope"),
        store.skipped("nope"),
        store.content("nope", ["a.py"]),
        store.stats("nope"),
        store.stale_chunks("nope", MODEL, 1),
        store.stale_chunks("nope", MODEL, 1, uids=["p:a"]),
        store.symbol_digests("nope", ["a.py"]),
        store.put_vectors("nope", MODEL, []),
        store.finish("nope"),
        store.apply([unit("a.py", project="nope")]),
        store.find("x", Match.SUFFIX, unknown, 1),
        store.search_text(["x"], unknown, 1),
        store.search_vector(query(1, 0, 0, 0), unknown, 1),
    ):
        with pytest.raises(NotFound, match="nope") as caught:
            await read
        assert caught.value.near == (PROJECT,)


async def test_a_refused_batch_changes_nothing(store: Store) -> None:
    await store.apply([unit("a.py", [node("a.one")])])
    before = await everything(store)
    with pytest.raises(NotFound):
        await store.apply([unit("a.py", [node("a.two")]), unit("a.py", project="nope")])
    assert await everything(store) == before


async def test_finish_records_the_pass(store: Store) -> None:
    await store.apply(
        [unit("a.py", [node("a.one")], problems=("1: syntax: x",)), unit("", [node("p", "", label="Project")])]
    )
    refused = Skipped("b.bin", "binary", 70, 1_700_000_000_000_000_001)
    await store.finish(PROJECT, [Skipped("z.bin", "binary"), Skipped("k.pem", "secret"), refused])
    assert await store.skipped(PROJECT) == [
        refused,
        Skipped("k.pem", "secret"),
        Skipped("z.bin", "binary"),
    ]
    (stats,) = await store.stats(PROJECT)
    assert stats.indexed_at.endswith("+00:00")
    assert (stats.files, stats.languages, stats.problems) == (1, {"python": 1}, 1)
    assert (stats.nodes, stats.skipped) == ({"Function": 1, "Project": 1}, {"binary": 2, "secret": 1})
    assert (stats.resolved, stats.unresolved, stats.strategies, stats.edges) == (2, 0, {}, {})
    await store.finish(PROJECT)
    assert len(await store.skipped(PROJECT)) == 3
    touched = dataclasses.replace(refused, mtime_ns=5)
    await store.finish(PROJECT, [touched])
    assert await store.skipped(PROJECT) == [touched]
    await store.finish(PROJECT, [])
    assert (await store.stats(PROJECT))[0].skipped == {}


async def test_projects_and_records_tell_the_state_without_counting(store: Store) -> None:
    await store.open_project("a", "/other")
    delta = unit("a.py", [node("a.one")], problems=("1: syntax: x", "2: syntax: y"))
    generation = await store.apply([delta, unit("b.py")])
    assert await store.projects() == [
        ProjectState("a", "/other", 0, ""),
        ProjectState("p", "/somewhere", generation, ""),
    ]
    assert await store.records(PROJECT, ["a.py", "no.py"]) == {"a.py": delta.record}
    await store.finish(PROJECT)
    assert (await store.projects())[1].indexed_at == (await store.stats(PROJECT))[0].indexed_at


async def test_projects_tell_which_model_the_vectors_were_last_made_with(store: Store) -> None:
    row = node("a.one")
    await store.apply([unit("a.py", [row])])
    assert [state.models for state in await store.projects()] == [()]
    for model in (MODEL, dataclasses.replace(MODEL, fingerprint="other weights")):
        await store.put_vectors(PROJECT, model, [vector(row, 1, 0, 0, 0)])
        assert [state.models for state in await store.projects()] == [(model,)]
