"""What a note is about, followed through edits of the code: real files, a real index, a real repository."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.notes.anchors import AnchorCondition, AnchorState, anchor_states, renewed
from atlas.code.notes.note import Anchor, read_note
from atlas.core.errors import ConfigError, NotFound
from atlas.core.ids import make_uid
from atlas.knowledge.notes.folder import KnowledgeFolder
from atlas.knowledge.notes.ids import IdSource
from atlas.knowledge.notes.notebook import Notebook
from atlas.knowledge.retrieval.resolve_anchor import head_commit, resolve_anchor
from atlas.knowledge.retrieval.review import diff_text, review
from atlas.runtime.config.load import load_settings
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


OVERLOADED = """from typing import overload


@overload
def read(name: str) -> str: ...


@overload
def read(name: bytes) -> bytes: ...


def read(name):
    text = name.strip()
    print(text)
    return text
"""


async def test_a_name_with_overloads_means_the_definition(shop: Shop) -> None:
    reader = shop.atlas.reader
    shop.git.put({"shop/reading.py": OVERLOADED})
    await shop.atlas.index()
    anchors = [await resolve_anchor(reader, text) for text in ("read", "shop.reading.read", "shop.reading.read#3")]
    assert [one.line for one in anchors] == [12, 12, 12]
    assert (await resolve_anchor(reader, "shop.reading.read#2")).line == 9
    note = await shop.note(anchors[1])
    (state,) = await shop.states_after(note, {"shop/reading.py": OVERLOADED.replace("print(text)", "print(name)")})
    assert (state.state, state.changed) == ("changed", ("body",))


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
        ({"shop/table.py": "# a comment\n" + TABLE}, AnchorCondition.FRESH, (), "shop/table.py:7"),
        (
            {"shop/table.py": TABLE.replace("render(rows)", "render(rows, gap=1)")},
            AnchorCondition.CHANGED,
            ("signature",),
            None,
        ),
        ({"shop/table.py": TABLE.replace("ljust", "rjust")}, AnchorCondition.CHANGED, ("body",), "shop/table.py:6"),
        (
            {"shop/table.py": TABLE.replace("Draw a", "Draw no")},
            AnchorCondition.CHANGED,
            ("docstring",),
            "shop/table.py:6",
        ),
        (
            {"shop/table.py": TABLE.replace('    """Draw a table."""\n', "")},
            AnchorCondition.CHANGED,
            ("docstring",),
            None,
        ),
        ({"shop/table.py": None, "shop/grid.py": TABLE}, AnchorCondition.MOVED, (), "shop/grid.py:6"),
        ({"shop/table.py": TABLE.replace("render", "draw")}, AnchorCondition.MOVED, (), "shop/table.py:6"),
        ({"shop/table.py": TABLE.partition("def render")[0]}, AnchorCondition.GONE, (), ""),
        ({"shop/table.py": None}, AnchorCondition.GONE, (), ""),
        ({"shop/table.py": moved, "shop/grid.py": TABLE}, AnchorCondition.MOVED, (), "shop/grid.py:6"),
    ):
        files: dict[str, str | None]
        [found] = await shop.states_after(uid, files)
        assert (found.state, found.changed) == (state, changed), files
        assert at is None or found.at == at
        assert found.is_suspect == (state != AnchorCondition.FRESH)
        assert len(found.commit) == 40
        # as a switch of the branch and back
        [found] = await shop.states_after(uid, {**FILES, **({"shop/grid.py": None} if "shop/grid.py" in files else {})})
        assert found.state == AnchorCondition.FRESH


async def test_anchors_of_every_kind(shop: Shop) -> None:
    reader = shop.atlas.reader
    subjects = ("README.md", "package:os", "route:GET /", "Style.save")
    anchors = [await resolve_anchor(reader, text) for text in subjects]
    uid = await shop.note(*anchors, Anchor("symbol", "shop.table.measure"), Anchor("symbol", "shop.nothing"))
    states = (await anchor_states(reader, [uid, "shop:unknown"]))[uid]
    expected = [
        AnchorCondition.FRESH,
        AnchorCondition.FRESH,
        AnchorCondition.UNKNOWN,
        AnchorCondition.FRESH,
        AnchorCondition.UNKNOWN,
        AnchorCondition.GONE,
    ]
    assert [state.state for state in states] == expected
    edited = TABLE.replace("import os\n", "").replace("os.linesep", "''").replace("class Style", "class Stile")
    states = await shop.states_after(uid, {"shop/table.py": edited, "README.md": "# Shop\n\nDraws trees.\n"})
    # `return 1` is a body that says nothing about where a symbol went, unless its name is the same
    assert [state.state for state in states[:4]] == [
        AnchorCondition.CHANGED,
        AnchorCondition.GONE,
        AnchorCondition.UNKNOWN,
        AnchorCondition.MOVED,
    ]
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


async def test_a_review_shows_what_has_changed_since_the_note(shop: Shop) -> None:
    reader, book = shop.atlas.reader, shop.book
    await shop.note(await resolve_anchor(reader, "measure"), await resolve_anchor(reader, "package:os"))
    body = await shop.note(await resolve_anchor(reader, "render"))
    assert (await review(reader)).total == 0
    for status in ("retracted", "superseded"):
        note_id = book.ids.new("claim")
        path = book.add("claim", note_id, {"status": status}, "It is slow.", "slow")
        book.anchor(path, note_id, await resolve_anchor(reader, "render"))
    shop.git.commit("second", {"shop/table.py": TABLE.replace("ljust", "rjust")})
    await shop.atlas.index()
    found = await review(reader)
    assert (found.total, found.checked, [each.node.row.uid for each in found.suspects]) == (1, 2, [body])
    [change] = found.suspects[0].changes
    assert (change.state.changed, change.remark, change.lines_left) == (("body",), "", 0)
    assert change.lines == (
        '     """Draw a table."""',
        "     widths = measure(rows)",
        "-    lines = [row.ljust(widths) for row in rows]",
        "+    lines = [row.rjust(widths) for row in rows]",
        "     return os.linesep.join(lines)",
    )
    note = found.suspects[0].node.row
    again = renewed(found.suspects[0].states, await head_commit(reader))
    changed = book.reaffirm(note.path, note.qualified_name, again)
    assert changed.updated and [anchor.target for anchor in changed.about] == ["shop.table.render"]
    await shop.atlas.index()
    assert (await review(reader)).total == 0


async def test_a_review_follows_renamed_files_and_says_what_it_cannot_show(shop: Shop) -> None:
    reader = shop.atlas.reader
    anchor = await resolve_anchor(reader, "render")
    uid = await shop.note(
        anchor,
        await resolve_anchor(reader, "Theme.save"),
        replace(await resolve_anchor(reader, "measure"), commit="HEAD~1; rm"),
        replace(await resolve_anchor(reader, "Style.save"), body="0" * 16, commit="f" * 40),
        replace(await resolve_anchor(reader, "README.md"), body="0" * 16),
    )
    edited = TABLE.replace("ljust", "rjust").replace("max(map(len, rows))", "80").partition("class Theme")[0]
    await shop.states_after(uid, {"shop/table.py": None, "shop/grid.py": edited})
    shop.git.stage("shop/table.py", "shop/grid.py")
    [found] = (await review(reader)).suspects
    changes = {change.state.target: change for change in found.changes}
    render, theme, measure = (changes[f"shop.table.{name}"] for name in ("render", "Theme.save", "measure"))
    assert (render.state.state, render.state.moved_to, render.state.changed) == (
        AnchorCondition.MOVED,
        "shop.grid.render",
        ("body",),
    )
    assert render.lines[2:4] == (
        "-    lines = [row.ljust(widths) for row in rows]",
        "+    lines = [row.rjust(widths) for row in rows]",
    )
    assert (theme.state.state, theme.lines) == (AnchorCondition.GONE, ("-def save(self):", "-        return 2"))
    assert (measure.lines, measure.remark) == ((), "the note names no commit")
    assert "ffffffff" in changes["shop.table.Style.save"].remark
    uncommitted = "the note was written for changes that were not committed"
    assert (changes["README.md"].lines, changes["README.md"].remark) == ((), uncommitted)
    assert found.states[0].state == AnchorCondition.MOVED and len(found.states) == 5


async def test_a_note_cannot_read_what_is_not_indexed(shop: Shop) -> None:
    hidden = "def key():\n    return 'swordfish'\n\n\ndef other():\n    return 'trout'\n"
    commit = shop.git.commit("hidden", {"private/key.py": hidden, ".atlasignore": "private/\n"})
    wanted = [
        Anchor("symbol", "private.key.key", "0" * 16, "0" * 16, "", "private/key.py", 1, commit),
        Anchor("file", "private/key.py", "", "0" * 16, "", "private/key.py", 1, commit),
        Anchor("symbol", "etc.passwd.root", "0" * 16, "0" * 16, "", "../../etc/passwd", 1, commit),
    ]
    await shop.note(*wanted)
    [found] = (await review(shop.atlas.reader)).suspects
    assert [change.lines for change in found.changes] == [(), (), ()]
    assert [change.remark for change in found.changes][:2] == ["private/key.py is not indexed"] * 2


def test_a_difference_is_cut() -> None:
    old = b"\n".join(b"line %d" % number for number in range(100))
    assert diff_text(old, old) == ((), 0)
    assert diff_text(old, b"") == (tuple(f"-line {number}" for number in range(40)), 60)
    new = old.replace(b"line 10\n", b"").replace(b"line 80", b"x" * 300)
    lines, left = diff_text(old, new)
    assert (lines[:5], left) == ((" line 8", " line 9", "-line 10", " line 11", " line 12"), 0)
    assert lines[5:9] == ("@@", " line 78", " line 79", "-line 80") and lines[9] == f"+{'x' * 200}..."


async def test_an_anchor_is_replaced_where_it_stands(shop: Shop) -> None:
    book = shop.book
    note_id = book.ids.new("claim")
    path = book.add("claim", note_id, {}, "It is slow.", "slow")
    text = (shop.git.root / path).read_text()
    about = "about:\n  - {bad: x}\n  - {symbol: a.b, line: 3}\n  - {symbol: a.c}\n---\n"
    (shop.git.root / path).write_text(about.join(text.rsplit("---\n", 1)))
    first = read_note(book.folder.read(path)).about[0]
    note = book.reaffirm(path, note_id, {first: Anchor("symbol", "a.z", line=9), Anchor("symbol", "no"): first})
    assert [(anchor.target, anchor.line) for anchor in note.about] == [("a.z", 9), ("a.c", 0)]
    assert "  - {bad: x}\n" in (shop.git.root / path).read_text()
