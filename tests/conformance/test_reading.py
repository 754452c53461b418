"""What every store promises about names, edges, words and vectors."""

from __future__ import annotations

from collections import Counter

import pytest

from atlas.code.question_store import for_question
from atlas.code.reader import GenerationCache
from atlas.core.contracts import Store
from atlas.core.errors import NotFound, QueryError, StoreError
from atlas.core.model import Direction, Filter, Match, ModelInfo, NodeRow
from tests.conformance.rows import MODEL, PROJECT, edge, gone, node, query, unit, vector, words

ALL = Filter()
QUERY = query(1, 0, 0, 0)

SAVE = node("app.models.User.save", "app/models.py", label="Method", docstring="store the user")
SAVE_AGAIN = node("app.models.User.save#2", "app/models.py", label="Method", span=(50, 60))
USER = node("app.models.User", "app/models.py", label="Class", span=(0, 100))
MODULE = node("app.models", "app/models.py", label="Module", span=(0, 200))
USER_TEST = node("tests.test_models.UserTest.save", "tests/test_models.py", label="Method", is_test=True)
JS_FILE = node("web/src/user.js", "web/src/user.js", label="File", name="user.js", language="javascript")
JS_SAVE = node("web/src/user.js#saveUser", "web/src/user.js", name="saveUser", language="javascript", is_generated=True)
BRACKETS = node("web/[id]/page.js#load", "web/[id]/page.js", name="load", language="javascript")
ROWS = (SAVE, SAVE_AGAIN, USER, MODULE, USER_TEST, JS_FILE, JS_SAVE, BRACKETS)


@pytest.fixture
async def filled(store: Store) -> Store:
    by_path: dict[str, list[NodeRow]] = {}
    for row in ROWS:
        by_path.setdefault(row.path, []).append(row)
    edges = [
        edge("app.models.User.save", "app.models.User.save#2", line=9, confidence=0.5),
        edge("app.models.User.save", "app.models.User", line=5, confidence=0.9),
        edge("app.models.User.save", "app.models.User", line=4, confidence=0.9),
        edge("app.models.User.save", "tests.test_models.UserTest.save", line=1, confidence=0.9),
        edge("app.models.User.save", "app.models", "USES_TYPE", line=1, confidence=1.0),
        edge("app.models.User", "app.models.User.save", "DEFINES_METHOD", line=2, confidence=1.0),
    ]
    language = {row.path: row.language for row in ROWS}
    await store.apply(
        [
            unit(path, rows, edges if path == "app/models.py" else (), language=language[path])
            for path, rows in by_path.items()
        ]
    )
    return store


async def found(store: Store, text: str, match: Match, where: Filter = ALL, limit: int = 10) -> list[str]:
    return [hit.row.qualified_name for hit in await store.find(text, match, where, limit)]


NAMES = [
    (Match.UID, "p:app.models.User", ["app.models.User"]),
    (Match.UID, "app.models.User", []),
    (Match.EXACT, "app.models.User", ["app.models.User"]),
    (Match.EXACT, "models.User", []),
    (Match.EXACT, "web/src/user.js", ["web/src/user.js"]),
    (Match.SUFFIX, "User", ["app.models.User"]),
    (Match.SUFFIX, "user", []),
    (Match.SUFFIX, "ser", []),
    (Match.SUFFIX, "models.User", ["app.models.User"]),
    (Match.SUFFIX, "save", ["app.models.User.save", "app.models.User.save#2", "tests.test_models.UserTest.save"]),
    (Match.SUFFIX, "User.save", ["app.models.User.save", "app.models.User.save#2"]),
    (Match.SUFFIX, "User.save#2", ["app.models.User.save#2"]),
    (Match.SUFFIX, "User::save", ["app.models.User.save", "app.models.User.save#2"]),
    (Match.SUFFIX, "User#save", ["app.models.User.save", "app.models.User.save#2"]),
    (Match.SUFFIX, "src/user.js", ["web/src/user.js"]),
    (Match.SUFFIX, "user.js", ["web/src/user.js"]),
    (Match.SUFFIX, "user.js#saveUser", ["web/src/user.js#saveUser"]),
    (Match.SUFFIX, "other.User", []),
    (Match.SUFFIX, "..", []),
    (Match.SUFFIX, "", []),
    (Match.FOLDED, "MODELS.user", ["app.models.User"]),
    (Match.FOLDED, "saveuser", ["web/src/user.js#saveUser"]),
    (Match.PREFIX, "us", ["app.models.User", "web/src/user.js"]),
    (Match.PREFIX, "SAVEu", ["web/src/user.js#saveUser"]),
    (Match.PREFIX, "%", []),
    (
        Match.PATH,
        "app/models.py",
        ["app.models", "app.models.User", "app.models.User.save", "app.models.User.save#2"],
    ),
    (Match.PATH, "models.py", []),
    (Match.NEAR, "Usr", ["app.models.User"]),
    (Match.NEAR, "svae", ["app.models.User.save", "app.models.User.save#2", "tests.test_models.UserTest.save"]),
    (
        Match.NEAR,
        "UserTst.save",
        ["tests.test_models.UserTest.save", "app.models.User.save", "app.models.User.save#2"],
    ),
    (Match.NEAR, "savUesr", ["web/src/user.js#saveUser"]),
    (Match.NEAR, "aveUser", ["web/src/user.js#saveUser"]),
    (Match.NEAR, "SAVE_USER", ["web/src/user.js#saveUser"]),
    (Match.NEAR, "_save_usr", ["web/src/user.js#saveUser"]),
    (Match.NEAR, "nothing_alike", []),
    (Match.NEAR, "src/usr.js", ["web/src/user.js"]),
]


async def test_names(filled: Store) -> None:
    said = [(match, text, await found(filled, text, match)) for match, text, _ in NAMES]
    assert said == NAMES


FILTERS = [
    (Filter(project=PROJECT), {row.uid for row in ROWS}),
    (Filter(path="app/"), {SAVE.uid, SAVE_AGAIN.uid, USER.uid, MODULE.uid}),
    (Filter(path="app/models.py"), {SAVE.uid, SAVE_AGAIN.uid, USER.uid, MODULE.uid}),
    (Filter(path="*/user.js"), {JS_FILE.uid, JS_SAVE.uid}),
    (Filter(path="web/*.js"), {JS_FILE.uid, JS_SAVE.uid, BRACKETS.uid}),
    (Filter(path="web/[id]/*"), {BRACKETS.uid}),
    (Filter(path="web/[id]"), {BRACKETS.uid}),
    (Filter(path="app/model?.py"), {SAVE.uid, SAVE_AGAIN.uid, USER.uid, MODULE.uid}),
    (Filter(path="app/*x"), set()),
    (Filter(labels=("Class", "Module")), {USER.uid, MODULE.uid}),
    (Filter(languages=("javascript",)), {JS_FILE.uid, JS_SAVE.uid, BRACKETS.uid}),
    (Filter(languages=("javascript",), include_generated=False), {JS_FILE.uid, BRACKETS.uid}),
    (Filter(labels=("Method",), include_tests=False), {SAVE.uid, SAVE_AGAIN.uid}),
    (Filter(labels=("Nothing",)), set()),
]


async def test_filters_mean_the_same_everywhere(filled: Store) -> None:
    await filled.put_vectors(PROJECT, MODEL, [vector(row, 1, 0.5, 0, 0) for row in ROWS])
    words_of_all = ["app", "tests", "web"]
    for where, expected in FILTERS:
        assert {hit.uid for hit in await filled.search_text(words_of_all, where, 100)} == expected, where
        assert {hit.uid for hit in await filled.search_vector(QUERY, where, 100)} == expected, where
        names = [await filled.find(name, Match.PREFIX, where, 100) for name in ("s", "u", "m", "l")]
        assert {hit.row.uid for hits in names for hit in hits} == expected, where


async def test_a_filter_means_what_it_does_now(store: Store) -> None:
    """The nearest hundred are tests, so that those behind them are looked for: what a filter lets through changes."""

    def rows(name: str, count: int, is_test: bool) -> list[NodeRow]:
        return [node(f"{name}.n{number:03}", f"{name}.py", is_test=is_test) for number in range(count)]

    near = rows("near", 100, is_test=True)
    await store.apply([unit("near.py", near)])
    await store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0.1, 0, 0) for row in near])
    for middle_is_test in (True, False, True):
        middle, far = rows("middle", 30, middle_is_test), rows("far", 30, not middle_is_test)
        await store.apply([unit("middle.py", middle), unit("far.py", far)])
        await store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0.5, 0, 0) for row in middle])
        await store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0.9, 0, 0) for row in far])
        for _ in range(2):
            found = [hit.uid for hit in await store.search_vector(QUERY, Filter(include_tests=False), 5)]
            assert found == [row.uid for row in (far if middle_is_test else middle)[:5]]


async def test_words_are_counted_by_file(filled: Store) -> None:
    counts = await filled.count_words(["save", "user", "zzz"], Filter(project=PROJECT))
    found = [hit.uid for hit in await filled.search_text(["save"], ALL, 100)]
    rows = {row.uid: row for row in ROWS}
    expected: dict[str, int] = {}
    for uid in found:
        expected[rows[uid].path] = expected.get(rows[uid].path, 0) + 1
    assert counts.words["save"] == expected and counts.words["zzz"] == {}
    assert counts.nodes["app/models.py"] == sum(row.path == "app/models.py" for row in ROWS)
    assert set(counts.nodes) == {*counts.words["save"], *counts.words["user"]}
    tests_only = await filled.count_words(["save"], Filter(project=PROJECT, path="tests/"))
    assert set(tests_only.words["save"]) == {path for path in expected if path.startswith("tests/")}


async def test_counted_words_follow_writes(filled: Store) -> None:
    """A definition that moves to another file is counted there, also by a store that keeps the files of nodes."""
    everything = Filter(project=PROJECT)
    before = await filled.count_words(["save"], everything)
    assert before.words["save"].get("tests/test_models.py") == 1
    moved = node("tests.test_models.UserTest.save", "tests/test_user.py", label="Method", is_test=True)
    await filled.apply([unit("tests/test_models.py", [node("tests.test_models", "tests/test_models.py")])])
    await filled.apply([unit("tests/test_user.py", [moved, node("tests.test_user.save", "tests/test_user.py")])])
    after = await filled.count_words(["save"], everything)
    expected = {path: count for path, count in before.words["save"].items() if path != "tests/test_models.py"}
    assert after.words["save"] == {**expected, "tests/test_user.py": 2}
    assert after.nodes["tests/test_user.py"] == 2


async def test_structure_is_found_by_its_empty_path(filled: Store) -> None:
    root = node("p", "", label="Project", language="")
    await filled.apply([unit("", [root])])
    assert await found(filled, "", Match.PATH) == ["p"]


async def test_limits(filled: Store) -> None:
    await filled.put_vectors(PROJECT, MODEL, [vector(row, 1, 0.5, 0, 0) for row in ROWS])
    assert await found(filled, "save", Match.SUFFIX, limit=1) == ["app.models.User.save"]
    assert len(await filled.search_text(["app"], ALL, 2)) == 2
    assert len(await filled.search_vector(QUERY, ALL, 2)) == 2
    assert len(await filled.edges([SAVE.uid], Direction.OUT, limit=2)) == 2
    for match in Match:
        assert await found(filled, "save", match, limit=0) == []
    assert await filled.search_text(["app"], ALL, 0) == []
    assert await filled.search_vector(QUERY, ALL, 0) == []
    assert await filled.edges([SAVE.uid], Direction.OUT, limit=0) == []


async def test_edges_come_in_order(filled: Store) -> None:
    edges = await filled.edges([SAVE.uid, USER.uid, SAVE.uid, "p:nothing"], Direction.OUT)
    assert [(e.row.type, e.row.confidence, e.node.row.path, e.row.line) for e in edges] == [
        ("CALLS", 0.9, "app/models.py", 4),
        ("CALLS", 0.9, "app/models.py", 5),
        ("CALLS", 0.9, "tests/test_models.py", 1),
        ("CALLS", 0.5, "app/models.py", 9),
        ("USES_TYPE", 1.0, "app/models.py", 1),
        ("DEFINES_METHOD", 1.0, "app/models.py", 2),
    ]
    first = await filled.edges([USER.uid, SAVE.uid], Direction.OUT, limit=1)
    assert [e.row.type for e in first] == ["DEFINES_METHOD"]


async def test_edges_by_direction_and_type(filled: Store) -> None:
    incoming = await filled.edges([USER.uid], Direction.IN)
    assert [(e.row.target, e.node.row.uid, e.row.line) for e in incoming] == [
        (USER.uid, SAVE.uid, 4),
        (USER.uid, SAVE.uid, 5),
    ]
    typed = await filled.edges([SAVE.uid], Direction.OUT, ["USES_TYPE", "NOTHING"])
    assert [e.node.row.uid for e in typed] == [MODULE.uid]
    assert await filled.edges([], Direction.IN) == []


async def test_word_search_ranks_names_over_text(store: Store) -> None:
    rows = [node(f"a.other{number}", span=(number, number + 1)) for number in range(20)]
    named, documented, mentions = node("a.parse"), node("a.doc", docstring="parse"), node("a.body")
    texts = [*map(words, [*rows, named, documented]), words(mentions, "parse")]
    await store.apply([unit("a.py", [*rows, named, documented, mentions], texts=texts)])
    hits = await store.search_text(["parse"], ALL, 10)
    assert [hit.uid for hit in hits] == [named.uid, documented.uid, mentions.uid]
    assert all(hit.score > 0 for hit in hits)
    both = await store.search_text(["parse", "body", "parse"], ALL, 10)
    assert {hit.uid for hit in both} == {named.uid, documented.uid, mentions.uid}
    assert both[0].uid == mentions.uid or both[0].score >= both[-1].score


async def test_words_with_spaces_are_a_phrase(store: Store) -> None:
    together, apart = node("a.together"), node("a.apart")
    texts = [words(together, "no such table here"), words(apart, "table such no")]
    await store.apply([unit("a.py", [together, apart], texts=texts)])
    assert [hit.uid for hit in await store.search_text(["no such table"], ALL, 10)] == [together.uid]
    assert [hit.uid for hit in await store.search_text(["table such", "nowhere"], ALL, 10)] == [apart.uid]
    assert len(await store.search_text(["no such table", "such"], ALL, 10)) == 2


async def test_equal_scores_are_ordered_by_uid(store: Store) -> None:
    rows = [node(f"m{number}.same", f"m{number}.py") for number in (3, 1, 2, 0)]
    texts = {row.path: words(row)._replace(qualified_name="same", path="x") for row in rows}
    await store.apply([unit(row.path, [row], texts=[texts[row.path]]) for row in rows])
    await store.put_vectors(PROJECT, MODEL, [vector(row, 0, 1, 0, 0) for row in rows])
    expected = ["p:m0.same", "p:m1.same", "p:m2.same"]
    assert [hit.uid for hit in await store.search_text(["same"], ALL, 3)] == expected
    assert [hit.uid for hit in await store.search_vector(query(0, 1, 0, 0), ALL, 3)] == expected


HOSTILE = [
    '"',
    '""',
    "a OR b",
    "name:save",
    "NEAR(a b)",
    "^save",
    "save*",
    "-save",
    "'; DROP TABLE node; --",
    "\0",
    "{",
    "((",
    "é",
    "\u0301",
    "x" * 100_000,
    "日" * 2_000,
    "हिन्दी" * 300,
]


async def test_no_text_is_an_operator(filled: Store) -> None:
    for hostile in HOSTILE:
        for match in Match:
            await filled.find(hostile, match, Filter(path=hostile, labels=(hostile,), languages=(hostile,)), 5)
        await filled.search_text([hostile, hostile * 2], Filter(path=hostile), 5)
        assert await filled.symbols([hostile]) == [], ascii(hostile[:20])
        assert await filled.edges([hostile], Direction.IN, [hostile]) == [], ascii(hostile[:20])
        assert len(await filled.symbols([SAVE.uid])) == 1, ascii(hostile[:20])


async def test_nothing_asked_nothing_found(filled: Store) -> None:
    assert await filled.search_text([], ALL, 5) == []
    assert await filled.search_text(["", " "], ALL, 5) == []
    assert await filled.search_vector(QUERY, ALL, 5) == []
    assert await filled.search_text(["word"] * 20_000, ALL, 5) == []


async def test_nearest_first(filled: Store) -> None:
    rows = [vector(SAVE, 1, 0, 0, 0), vector(USER, 0.6, 0.8, 0, 0), vector(MODULE, -1, 0, 0, 0)]
    await filled.put_vectors(PROJECT, MODEL, rows)
    hits = await filled.search_vector(query(2, 0, 0, 0), ALL, 5)
    assert [(hit.uid, round(hit.score, 3)) for hit in hits] == [(SAVE.uid, 1.0), (USER.uid, 0.6), (MODULE.uid, -1.0)]
    assert await filled.search_vector(query(0, 0, 0, 0), ALL, 5) == []
    with pytest.raises(NotFound):
        await filled.search_vector(query(2, 0, 0, 0), Filter(project="unknown"), 5)


async def test_search_sees_vectors_come_change_and_go(filled: Store) -> None:
    async def nearest() -> list[str]:
        return [hit.uid for hit in await filled.search_vector(QUERY, ALL, 5)]

    await filled.put_vectors(PROJECT, MODEL, [vector(SAVE, 0, 1, 0, 0), vector(USER_TEST, 0.1, 1, 0, 0)])
    assert await nearest() == [USER_TEST.uid, SAVE.uid]
    await filled.put_vectors(PROJECT, MODEL, [vector(SAVE, 1, 0, 0, 0)])
    assert await nearest() == [SAVE.uid, USER_TEST.uid]
    await filled.apply([gone("tests/test_models.py")])
    assert await nearest() == [SAVE.uid]
    await filled.apply([unit("tests/test_models.py", [USER_TEST])])
    assert await nearest() == [SAVE.uid]


async def test_stale_chunks(store: Store) -> None:
    long = "é" * 2000 + "x" * 2000
    content = b"\xffabc" + long.encode()
    first = node("a.first", span=(0, 4))
    second = node("a.second", span=(4, len(content)))
    module = node("a", label="Module", span=(0, 2))
    silent = node("a.silent", text="")
    await store.apply([unit("a.py", [first, second, module, silent], content=content)])
    chunks = {chunk.uid: chunk for chunk in await store.stale_chunks(PROJECT, MODEL, 10)}
    assert chunks.keys() == {first.uid, second.uid, module.uid}
    assert (chunks[first.uid].text, chunks[first.uid].digest) == ("�abc", first.chunk_digest)
    assert chunks[second.uid].text == long[:3000]
    assert [chunks[row.uid].is_file for row in (first, module)] == [False, True]
    await store.put_vectors(PROJECT, MODEL, [vector(first, 1, 0, 0, 0)])
    assert {chunk.uid for chunk in await store.stale_chunks(PROJECT, MODEL, 10)} == {second.uid, module.uid}
    (stats,) = await store.stats(PROJECT)
    assert (stats.chunks, stats.vectors, stats.model()) == (3, 1, MODEL)
    changed = node("a.first", span=(0, 4), text="other")
    await store.apply([unit("a.py", [changed, second, module, silent], content=content)])
    assert {chunk.uid for chunk in await store.stale_chunks(PROJECT, MODEL, 10)} == {first.uid, second.uid, module.uid}
    assert [hit.uid for hit in await store.search_vector(QUERY, ALL, 5)] == [first.uid]
    assert (await store.stats(PROJECT))[0].vectors == 0


async def test_stale_chunks_by_pages(store: Store) -> None:
    rows = [node(f"{path[0]}.n{number}", path) for path in ("b.py", "a.py", "c.py") for number in range(5)]
    await store.apply([unit(path, [row for row in rows if row.path == path]) for path in ("b.py", "a.py", "c.py")])
    uids: list[str] = []
    while page := await store.stale_chunks(PROJECT, MODEL, 4, uids[-1] if uids else ""):
        uids.extend(chunk.uid for chunk in page)
    assert len(uids) == len(rows) and set(uids) == {row.uid for row in rows}
    assert uids == [chunk.uid for chunk in await store.stale_chunks(PROJECT, MODEL, 100)]


async def test_stale_chunks_of_some_nodes(store: Store) -> None:
    rows = [node(f"{path[0]}.n{number}", path) for path in ("b.py", "a.py", "c.py") for number in range(5)]
    await store.apply([unit(path, [row for row in rows if row.path == path]) for path in ("b.py", "a.py", "c.py")])
    await store.open_project("q", "/other")
    await store.apply([unit("a.py", [node("a.n1", project="q")], project="q")])
    await store.put_vectors(PROJECT, MODEL, [vector(rows[1], 1, 0, 0, 0)])
    wanted = [rows[12].uid, rows[1].uid, rows[8].uid, rows[0].uid, rows[8].uid, "p:nothing", "q:a.n1"]
    whole = await store.stale_chunks(PROJECT, MODEL, 100)
    some = await store.stale_chunks(PROJECT, MODEL, 100, uids=wanted)
    assert some == [chunk for chunk in whole if chunk.uid in wanted]
    assert {chunk.uid for chunk in some} == {rows[12].uid, rows[8].uid, rows[0].uid}
    assert await store.stale_chunks(PROJECT, MODEL, 2, uids=wanted) == some[:2]
    assert await store.stale_chunks(PROJECT, MODEL, 2, some[1].uid, wanted) == some[2:]
    assert await store.stale_chunks(PROJECT, MODEL, 100, uids=[]) == []


async def test_a_vector_of_another_text_is_dropped(filled: Store) -> None:
    await filled.put_vectors(
        PROJECT,
        MODEL,
        [vector(node("app.models.User.save", text="older"), 1, 0, 0, 0), vector(node("no.such"), 1, 0, 0, 0)],
    )
    assert await filled.search_vector(QUERY, ALL, 5) == []


async def test_vectors_of_another_project_are_dropped(store: Store) -> None:
    await store.open_project("q", "/other")
    await store.apply([unit("a.py", [node("a.one")])])
    await store.put_vectors("q", MODEL, [vector(node("a.one"), 1, 0, 0, 0)])
    assert await store.search_vector(QUERY, ALL, 5) == []


async def test_vectors_of_another_model_do_not_count(filled: Store) -> None:
    other = ModelInfo("test", "tiny", 2, "two")
    await filled.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0) for row in ROWS])
    assert await filled.stale_chunks(PROJECT, MODEL, 100) == []
    assert len(await filled.stale_chunks(PROJECT, other, 100)) == len(ROWS)
    await filled.put_vectors(PROJECT, other, [vector(SAVE, 0, 1)])
    assert [hit.uid for hit in await filled.search_vector(query(0, 1), ALL, 100)] == [SAVE.uid]
    assert len(await filled.stale_chunks(PROJECT, other, 100)) == len(ROWS) - 1
    (stats,) = await filled.stats(PROJECT)
    assert (stats.vectors, stats.model()) == (1, other)


async def test_vectors_of_the_wrong_length_are_refused(filled: Store) -> None:
    with pytest.raises(StoreError, match="bytes"):
        await filled.put_vectors(PROJECT, MODEL, [vector(USER, 1, 0, 0, 0), vector(SAVE, 1, 0)])
    await filled.put_vectors(PROJECT, MODEL, [vector(SAVE, 1, 0, 0, 0)])
    assert len(await filled.stale_chunks(PROJECT, MODEL, 100)) == len(ROWS) - 1
    with pytest.raises(QueryError, match="dimensions"):
        await filled.search_vector(query(1, 0, 0), ALL, 5)


async def test_many_vectors_behind_a_narrow_filter(store: Store) -> None:
    crowd = [node(f"a.n{number}", span=(number, number + 1)) for number in range(200)]
    lone = node("z.far", "z.py")
    await store.apply([unit("a.py", crowd), unit("z.py", [lone])])
    await store.put_vectors(PROJECT, MODEL, [*(vector(row, 1, 0, 0, 0) for row in crowd), vector(lone, 0, 1, 0, 0)])
    assert [hit.uid for hit in await store.search_vector(QUERY, Filter(path="z.py"), 3)] == [lone.uid]
    assert [hit.uid for hit in await store.search_vector(QUERY, Filter(labels=("Function",), path="z*"), 3)] == [
        lone.uid
    ]


async def test_few_edges_of_each_type(filled: Store) -> None:
    edges = await filled.edges([USER.uid, SAVE.uid], Direction.OUT, each=1)
    assert [(e.row.source, e.row.type, e.row.line) for e in edges] == [
        (USER.uid, "DEFINES_METHOD", 2),
        (SAVE.uid, "CALLS", 4),
        (SAVE.uid, "USES_TYPE", 1),
    ]
    whole = await filled.edges([SAVE.uid], Direction.OUT)
    assert await filled.edges([SAVE.uid], Direction.OUT, each=100) == whole
    assert await filled.edges([SAVE.uid], Direction.OUT, limit=2, each=100) == whole[:2]
    assert [e.row.line for e in await filled.edges([USER.uid], Direction.IN, ["CALLS"], each=1)] == [4]


async def test_degrees_count_what_edges_show(filled: Store) -> None:
    await filled.apply([gone("tests/test_models.py")])
    outgoing = await filled.degrees([SAVE.uid, USER.uid, "p:nothing"], Direction.OUT)
    for uid in (SAVE.uid, USER.uid):
        assert outgoing[uid] == Counter(edge.row.type for edge in await filled.edges([uid], Direction.OUT))
    assert outgoing.keys() == {SAVE.uid, USER.uid}
    assert outgoing[USER.uid] == {"DEFINES_METHOD": 1}
    assert sum((await filled.degrees([USER.uid], Direction.IN))[USER.uid].values()) == 2
    assert await filled.degrees([SAVE.uid, USER.uid], Direction.OUT, ["USES_TYPE"]) == {SAVE.uid: {"USES_TYPE": 1}}


async def test_the_best_of_many_edges(store: Store) -> None:
    """Most edges are alike: which are handed out is decided by path and uid, not by the order in which they came."""
    callers = [node(f"c{number:02}", "a.py" if number < 20 else "b.py") for number in range(40)]
    calls = [edge(row.name, "hub", line=7, confidence=0.9 if row.name == "c33" else 0.5) for row in callers]
    await store.apply([unit("z.py", [node("hub", "z.py")])])
    await store.apply([unit("b.py", callers[:19:-1], calls[:19:-1]), unit("a.py", callers[19::-1], calls[19::-1])])
    names = ["c33", *(row.name for row in callers if row.name != "c33")]
    for each in (1, 2, 3, 21, 22, 40):
        found = await store.edges([f"{PROJECT}:hub"], Direction.IN, ["CALLS"], each=each)
        assert [edge.node.row.name for edge in found] == names[:each]
        assert await store.edges([f"{PROJECT}:hub"], Direction.IN, limit=each) == found


async def test_what_is_kept_of_a_generation_is_read_again_after_a_write(store: Store) -> None:
    cache, reads = GenerationCache(), list[str]()

    async def read() -> int:
        reads.append("")
        return len(reads)

    await store.apply([unit("a.py", [node("a.one")])])
    assert [await cache.get(store, PROJECT, "count", read) for _ in range(2)] == [1, 1]
    await store.apply([unit("a.py", [node("a.two")])])
    assert [await cache.get(store, PROJECT, "count", read) for _ in range(2)] == [2, 2]
    # of a project that is not there, nothing says when it changes
    assert [await cache.get(store, "unknown", "count", read) for _ in range(2)] == [3, 4]


async def test_nodes_whose_properties_have_a_text(store: Store) -> None:
    rows = [node(f"a.{name}")._replace(properties=f'{{"of":"{name}"}}' if name else "") for name in ("", "one", "two")]
    await store.apply([unit("a.py", rows)])
    uids = [row.uid for row in rows]
    assert [each.row for each in await store.symbols(uids, '"two"')] == rows[2:]
    assert [each.row for each in await store.symbols(uids, '"of"')] == rows[1:]
    assert await store.symbols(uids, "%") == []


async def test_a_question_reads_what_the_store_has_and_reads_it_once(filled: Store) -> None:
    asked = for_question(filled)
    uids = [row.uid for row in ROWS]
    for limit in (3, 1, 5, 2, 20):
        assert await asked.find("save", Match.SUFFIX, ALL, limit) == await filled.find("save", Match.SUFFIX, ALL, limit)
        assert await asked.search_text(["save"], ALL, limit) == await filled.search_text(["save"], ALL, limit)
        assert await asked.edges(uids, Direction.OUT, (), limit) == await filled.edges(uids, Direction.OUT, (), limit)
    for some in (uids[:2], ["p:unknown", *uids[::-1], *uids[:2]], []):
        assert await asked.symbols(some) == await filled.symbols(some)
    for some in (["app/models.py"], ["unknown.py", "web/src/user.js", "app/models.py"]):
        assert await asked.content(PROJECT, some) == await filled.content(PROJECT, some)
        assert await asked.records(PROJECT, some) == await filled.records(PROJECT, some)
    assert await asked.paths(PROJECT) == await filled.paths(PROJECT)
    before = await asked.symbols(uids)
    await filled.apply([unit("app/models.py", [])])
    assert await asked.symbols(uids) == before
    assert len(await for_question(filled).symbols(uids)) < len(before)


async def test_lines_of_edges_are_those_of_the_edges(filled: Store) -> None:
    calls = ["CALLS"]
    assert await filled.edge_lines([USER.uid], calls) == {("app/models.py", 4), ("app/models.py", 5)}
    assert await filled.edge_lines([SAVE_AGAIN.uid, USER_TEST.uid], calls, 0.8) == {("app/models.py", 1)}
    assert await filled.edge_lines([USER.uid], ["USES_TYPE"]) == await filled.edge_lines([], calls) == set()
