"""What a note is about, followed through edits of the code: real files, a real index, a real repository."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from atlas.api import Atlas
from atlas.app.main import open_atlas
from atlas.config.load import load_settings
from atlas.errors import ConfigError, NotFound
from atlas.ids import make_uid
from atlas.notes.folder import KnowledgeFolder
from atlas.notes.ids import IdSource
from atlas.notes.note import Anchor
from atlas.notes.notebook import Notebook
from atlas.search.notes.anchors import AnchorState, State, anchor_states
from atlas.search.notes.resolve_anchor import resolve_anchor
from tests.git.repositories import GitRepository

TABLE = '''"""Tables."""

import os


def render(rows):
    """Draw a table."""
    widths = measure(rows)
    lines = [row.ljust(widths) for row in rows]
    return os.linesep.join(lines)


def measure(rows):
    return max(map(len, rows))


class Style:
    def save(self):
        return 1


class Theme:
    def save(self):
        return 2
'''
FILES: dict[str, str | None] = {"shop/table.py": TABLE, "README.md": "# Shop\n\nDraws tables.\n"}


@dataclass
class Shop:
    """A project with an open index and a notebook."""

    git: GitRepository
    atlas: Atlas
    book: Notebook

    async def note(self, *about: Anchor) -> str:
        """Write a claim with anchors and index it; return its uid."""
        note_id = self.book.ids.new("claim")
        path = self.book.add("claim", note_id, {}, "It is slow.", "slow")
        for anchor in about:
            self.book.anchor(path, note_id, anchor)
        await self.atlas.index()
        return make_uid(self.atlas.reader.project, note_id)

    async def states_after(self, uid: str, files: dict[str, str | None]) -> tuple[AnchorState, ...]:
        """Write files, index them and return the states of a note."""
        self.git.put(files)
        await self.atlas.index()
        return (await anchor_states(self.atlas.reader, [uid]))[uid]


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    git = GitRepository(tmp_path / "shop")
    git.commit("first", FILES)
    folder = KnowledgeFolder(git.root, ".knowledge", tmp_path / "locks")
    settings = load_settings(str(git.root), str(tmp_path / "data"), environment={"ATLAS_EMBEDDER_PROVIDER": "none"})
    async with open_atlas(settings, writing=True) as atlas:
        await atlas.index()
        yield Shop(git, atlas, Notebook(folder, IdSource(), tmp_path / "locks"))
    git.close()


async def test_what_an_agent_writes_becomes_an_anchor(shop: Shop) -> None:
    reader = shop.atlas.reader
    head = shop.git.repo.head().decode()
    render = await resolve_anchor(reader, "render")
    assert (render.kind, render.target, render.path, render.line) == ("symbol", "shop.table.render", "shop/table.py", 6)
    assert all(len(digest) == 16 for digest in (render.signature, render.body, render.docstring))
    assert render.commit == head
    for text in (
        "symbol: shop.table.render",
        "`table.render()`",
        "shop/table.py:8",
        str(reader.root / "shop/table.py:8"),
    ):
        assert await resolve_anchor(reader, text) == render
    table = await resolve_anchor(reader, "shop/table.py")
    assert (table.kind, table.target, table.signature, len(table.body)) == ("file", "shop/table.py", "", 16)
    assert await resolve_anchor(reader, "file:./shop/table.py") == table
    assert (await resolve_anchor(reader, "README.md")).kind == "file"
    assert await resolve_anchor(reader, "package:os") == Anchor("package", "os")
    assert await resolve_anchor(reader, "route:GET /orders/{id}") == Anchor("route", "GET /orders/{id}")


async def test_a_subject_that_is_unknown_says_what_is_near(shop: Shop) -> None:
    reader = shop.atlas.reader
    note = await shop.note()
    for text, error, said in (
        ("save", ConfigError, "shop.table.Style.save (shop/table.py:18), shop.table.Theme.save"),
        ("rendr", NotFound, "shop.table.render"),
        ("file:table.py", NotFound, "shop/table.py"),
        ("package:oss", NotFound, "os"),
        ("route:orders", ConfigError, "route:GET"),
        (note.partition(":")[2], ConfigError, "relate it to another note"),
        ("symbol:", ConfigError, "package:NAME"),
    ):
        with pytest.raises(error) as caught:
            await resolve_anchor(reader, text)
        assert said in caught.value.hint, text


async def test_an_anchor_follows_its_symbol(shop: Shop) -> None:
    reader = shop.atlas.reader
    uid = await shop.note(await resolve_anchor(reader, "render"))
    moved = "def draw(rows):\n" + TABLE.split("\n\n\n")[1].partition("\n")[2]
    for files, state, changed, at in (
        ({"shop/table.py": "# a comment\n" + TABLE}, State.FRESH, (), "shop/table.py:7"),
        ({"shop/table.py": TABLE.replace("render(rows)", "render(rows, gap=1)")}, State.CHANGED, ("signature",), None),
        ({"shop/table.py": TABLE.replace("ljust", "rjust")}, State.CHANGED, ("body",), "shop/table.py:6"),
        ({"shop/table.py": TABLE.replace("Draw a", "Draw no")}, State.CHANGED, ("docstring",), "shop/table.py:6"),
        ({"shop/table.py": TABLE.replace('    """Draw a table."""\n', "")}, State.CHANGED, ("docstring",), None),
        ({"shop/table.py": None, "shop/grid.py": TABLE}, State.MOVED, (), "shop/grid.py:6"),
        ({"shop/table.py": TABLE.replace("render", "draw")}, State.MOVED, (), "shop/table.py:6"),
        ({"shop/table.py": TABLE.partition("def render")[0]}, State.GONE, (), ""),
        ({"shop/table.py": None}, State.GONE, (), ""),
        ({"shop/table.py": moved, "shop/grid.py": TABLE}, State.MOVED, (), "shop/grid.py:6"),
    ):
        files: dict[str, str | None]
        [found] = await shop.states_after(uid, files)
        assert (found.state, found.changed) == (state, changed), files
        assert at is None or found.at == at
        assert found.is_suspect == (state != State.FRESH)
        assert len(found.commit) == 40
        # as a switch of the branch and back
        [found] = await shop.states_after(uid, {**FILES, **({"shop/grid.py": None} if "shop/grid.py" in files else {})})
        assert found.state == State.FRESH


async def test_anchors_of_every_kind(shop: Shop) -> None:
    reader = shop.atlas.reader
    subjects = ("README.md", "package:os", "route:GET /", "Style.save")
    anchors = [await resolve_anchor(reader, text) for text in subjects]
    uid = await shop.note(*anchors, Anchor("symbol", "shop.table.measure"), Anchor("symbol", "shop.nothing"))
    states = (await anchor_states(reader, [uid, "shop:unknown"]))[uid]
    expected = [State.FRESH, State.FRESH, State.UNKNOWN, State.FRESH, State.UNKNOWN, State.GONE]
    assert [state.state for state in states] == expected
    edited = TABLE.replace("import os\n", "").replace("os.linesep", "''").replace("class Style", "class Stile")
    states = await shop.states_after(uid, {"shop/table.py": edited, "README.md": "# Shop\n\nDraws trees.\n"})
    # `return 1` is a body that says nothing about where a symbol went, unless its name is the same
    assert [state.state for state in states[:4]] == [State.CHANGED, State.GONE, State.UNKNOWN, State.MOVED]
    assert states[0].changed == ("body",)
    assert states[3].moved_to == "shop.table.Stile.save"


async def test_ten_notes_cost_little(shop: Shop) -> None:
    reader = shop.atlas.reader
    anchor = await resolve_anchor(reader, "render")
    uids = [await shop.note(anchor, Anchor("symbol", "shop.table.gone", body="0" * 16)) for _ in range(10)]
    seconds: list[float] = []
    for _ in range(20):
        start = time.perf_counter()
        assert len(await anchor_states(reader, uids)) == 10
        seconds.append(time.perf_counter() - start)
    # 10 to 20 times the time on a quiet machine
    assert min(seconds) < 0.05
