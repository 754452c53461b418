"""Packs joined to a project: answers about external symbols, their budget, and the tools of packs."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from atlas.answers.evidence import Evidence
from atlas.app.health import check_health
from atlas.app.session import Session
from atlas.app.toolsets import BY_NAME
from atlas.core.errors import NotFound
from atlas.packs.build import BuildRequest, build_pack
from atlas.packs.links import Dependency, build_command, pack_of
from atlas.packs.opening import list_packs
from atlas.packs.tools.bodies import part_line, parts_of
from atlas.packs.toolset import MAX_ASKED
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

from .library import DOCUMENTATION, PROJECT, write_tree

SPIN = "widget.spin (pack widget 2.0): spin(times=1). Turns the widget. since 1.5 [pack_article widget.spin]"

WITHHELD = "1 line from packs or other projects; raise token_budget"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with an indexed project, and packs of two versions of the library that it pins."""
    folder = tmp_path_factory.mktemp("links")
    write_tree(folder / "docs", DOCUMENTATION)
    write_tree(folder / "shop", PROJECT)
    write_tree(folder / "old", {"index.md": "# Widget\n\nThe first version has no `widget.spin()`.\n"})

    async def prepare() -> None:
        await indexed(folder / "shop", folder / "data")
        for version, source in (("2.0", "docs"), ("1.0", "old")):
            await build_pack(BuildRequest("widget", (str(folder / source),), version, "Widget", version, "python"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATLAS_PACKS", str(folder / "packs"))
        asyncio.run(prepare())
        yield folder


@pytest.fixture
async def session(place: Path) -> AsyncIterator[Session]:
    environment = {**QUICK, "ATLAS_MCP_TOOLSETS": "code,packs"}
    opened = Session(load_settings(str(place / "shop"), str(place / "data"), environment=environment))
    yield opened
    await opened.aclose()


async def answer(session: Session, tool: str, **arguments: object) -> tuple[str, Evidence]:
    found = await session.answer(BY_NAME[tool], arguments)
    return found.render(), found.evidence


async def test_context_of_an_external_symbol_comes_from_the_pack_of_the_locked_version(session: Session) -> None:
    text, _ = await answer(session, "get_context", name="ext:widget.spin")
    assert f"note: {SPIN}" in text
    text, _ = await answer(session, "get_context", name="widget.wobble")
    assert "wobble(angle). Shakes the widget. deprecated 2.0" in text


async def test_search_says_what_the_pack_says(session: Session) -> None:
    text, _ = await answer(session, "hybrid_search", query="spin", limit=10)
    assert SPIN in text
    text, _ = await answer(session, "hybrid_search", query="run", limit=3)
    assert "pack widget 1.0" not in text
    text, _ = await answer(session, "hybrid_search", query="spin", limit=1)
    assert SPIN in text, "named, but not among the best"


async def test_the_nearest_version_is_named(place: Path, tmp_path: Path) -> None:
    other = {**PROJECT, "uv.lock": PROJECT["uv.lock"].replace("2.0", "2.0.7")}
    root = write_tree(tmp_path / "shop", other)
    await indexed(root, tmp_path / "data")
    session = Session(load_settings(str(root), str(tmp_path / "data"), environment=QUICK))
    try:
        text, _ = await answer(session, "get_context", name="ext:widget.spin")
    finally:
        await session.aclose()
    assert "(pack widget 2.0, nearest to locked 2.0.7)" in text


@pytest.mark.parametrize(("locked", "documents"), [("2.0", "2.0"), ("1.4", "1.0"), ("9.1", "2.0"), ("", "2.0")])
async def test_a_dependency_has_the_pack_of_its_version_or_of_the_nearest(
    place: Path, locked: str, documents: str
) -> None:
    joined = pack_of(Dependency("WIDGET", "widget", locked, "python", "runtime"), list_packs())
    assert joined is not None
    assert (joined.documents, joined.is_exact) == (documents, locked == documents)
    assert pack_of(Dependency("widget", "widget", locked, "npm", "runtime"), list_packs()) is None
    assert pack_of(Dependency("gadget", "gadget", locked, "python", "runtime"), list_packs()) is None


async def test_what_packs_say_obeys_the_budget(session: Session) -> None:
    whole, full = await answer(session, "get_context", name="ext:widget.spin")
    for budget in range(20, 4 * full.tokens, 9):
        text, evidence = await answer(session, "get_context", name="ext:widget.spin", token_budget=budget)
        if evidence.below_floor:
            continue
        assert evidence.tokens <= budget
        assert SPIN in text or WITHHELD in evidence.withheld or budget < full.tokens, budget
    assert SPIN in whole
    text, _ = await answer(session, "get_context", name="ext:widget.spin", token_budget=100)
    assert SPIN not in text
    assert "app.run" in text
    assert f"withheld: {WITHHELD}" in text


async def test_health_names_dependencies_without_a_pack(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(str(place / "shop"), str(place / "data"), environment=QUICK)
    (check,) = (one for one in (await check_health(settings, "")).checks if one.name == "packs")
    assert check.detail == "with a pack: 1 of 1 locked dependency"
    monkeypatch.setenv("ATLAS_PACKS", str(place / "none"))
    (check,) = (one for one in (await check_health(settings, "")).checks if one.name == "packs")
    assert "without: widget 2.0" in check.detail
    assert check.fix == "atlas pack build widget --from pypi:widget==2.0"
    assert build_command(Dependency("left-pad", "left-pad", "1.3", "npm", "")).endswith("npm:left-pad@1.3")


async def test_tools_of_packs_answer_with_sources(session: Session) -> None:
    text, _ = await answer(session, "list_packs")
    assert "widget@1.0: Widget 1.0, 1 article\n" in text
    text, _ = await answer(session, "ask_pack", question="What is the default of SPIN_TIMEOUT?")
    assert "- - " not in text
    assert "30" in text
    assert "settings.md" in text
    assert "widget@2.0" in text, "the newest version is asked"
    text, _ = await answer(session, "search_pack", query="turn a widget", pack="widget@2.0", limit=2)
    assert "pack_article" in text
    text, _ = await answer(session, "pack_article", article="settings.md#timeouts", pack="widget")
    assert "At most 120 seconds" in text
    with pytest.raises(NotFound):
        await answer(session, "pack_article", article="no such page", pack="widget")
    with pytest.raises(NotFound):
        await answer(session, "ask_pack", question="How?", pack="gadget")


async def test_of_many_packs_those_of_the_question_and_of_the_project_are_asked_first(
    session: Session, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATLAS_PACKS", str(tmp_path / "packs"))
    shutil.copytree(place / "packs" / "widget", tmp_path / "packs" / "widget")
    write_tree(tmp_path / "docs", {"index.md": "# Timeouts\n\nThe `SPIN_TIMEOUT` of a turn. Default: `5` seconds.\n"})
    for number in range(MAX_ASKED + 1):
        await build_pack(BuildRequest(f"a{number}", (str(tmp_path / "docs"),), "1"))
    question = "What is the default of SPIN_TIMEOUT?"
    text, _ = await answer(session, "ask_pack", question=question)
    assert "widget@2.0" in text, "the pack of the locked version, though others are earlier in the alphabet"
    assert f"only {MAX_ASKED} of {MAX_ASKED + 2} packs were asked: widget, a0, " in text
    text, _ = await answer(session, "search_pack", query="timeout of a turn")
    assert "packs were asked: widget, a0, " in text
    text, _ = await answer(session, "ask_pack", question=question.replace("?", " in A6?"))
    assert "a6@1" in text
    assert "packs were asked: a6, widget, a0, " in text


async def test_a_symbol_is_read_without_its_neighbours(session: Session) -> None:
    text, _ = await answer(session, "pack_article", article="widget.spin", pack="widget@2.0")
    assert "Turns the widget." in text
    assert "Shakes the widget." not in text
    text, _ = await answer(session, "pack_article", article="wobble", pack="widget@2.0")
    assert ("Shakes the widget." in text, "Turns" in text) == (True, False)
    text, _ = await answer(session, "pack_article", article="widget.brake", pack="widget@2.0")
    assert ("Stops every widget" in text, "Paints" in text) == (True, False)


def test_a_block_of_code_stays_whole() -> None:
    code = "```python\na = 1\n\n\nb = 2\n```"
    assert parts_of(f"One.\n\n{code}\n\nTwo.\n\n\n\nThree.") == ["One.", code, "Two.", "Three."]


async def test_an_answer_of_a_pack_obeys_its_budget(session: Session) -> None:
    _, evidence = await answer(session, "pack_article", article="guide.md", pack="widget@2.0", token_budget=120)
    assert evidence.tokens <= 120
    assert evidence.withheld


async def test_a_replaced_pack_is_opened_again(session: Session, place: Path, tmp_path: Path) -> None:
    write_tree(tmp_path, {"index.md": "# Gadget\n\n## Speed\n\n`SPEED` is the speed. Default: `4`.\n"})
    request = BuildRequest("gadget", (str(tmp_path),), "1")
    await build_pack(request)
    assert "4" in (await answer(session, "pack_article", article="Gadget", pack="gadget"))[0]
    (tmp_path / "index.md").write_text("# Gadget\n\n## Speed\n\n`SPEED` is the speed. Default: `77`.\n")
    folder = (await build_pack(request, replaces=True)).folder
    assert "77" in (await answer(session, "pack_article", article="Gadget", pack="gadget"))[0]
    (folder / "manifest.json").write_text("{")
    text, _ = await answer(session, "ask_pack", question="What is the default of SPIN_TIMEOUT?")
    shutil.rmtree(folder.parent)
    assert "gadget" in text, "a damaged pack is named, the others answer"
    assert "30" in text


def test_a_list_gets_no_second_mark() -> None:
    assert part_line("- one\n- two\n  more") == "one\n- two\n  more"
    assert part_line("- one\n[1] two") == "one\n  [1] two"
    assert part_line("one\n- two") == "one\n  - two"
