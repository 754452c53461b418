"""The explorer on a TypeScript, a Go and a C project in a real browser, and the screenshots of the documentation.

`ATLAS_TEST_SCREENSHOTS=docs/screenshots pytest tests/explorer/test_trees.py` writes the screenshots again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.surfaces.processes import atlas

from .served import ServedExplorer, explorer
from .test_browser import check, chromium, entered
from .trees import TREES, Tree, write_tree

__all__ = ["chromium"]

SCREENSHOTS = os.environ.get("ATLAS_TEST_SCREENSHOTS", "")
SHOT = {"width": 1100, "height": 700}


@pytest.fixture(scope="module", params=sorted(TREES))
def shown(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Tree, ServedExplorer]]:
    tree, folder = TREES[request.param](), tmp_path_factory.mktemp(request.param)
    root = folder / "shop"
    write_tree(root, tree)
    places = ["--project", str(root), "--data-dir", str(folder / "data")]
    commands = [
        ["index", str(root), "--data-dir", str(folder / "data")],
        ["notes", "add", "Amounts are rounded to whole cents once, at the end", "--about", tree.symbol, *places],
        [
            "notes",
            "add",
            "Prices are never rounded: tax is added first",
            "--source",
            "https://example.org/tax",
            *places,
        ],
        ["notes", "add", "Bills are right to the cent", *places],
    ]
    ids: list[str] = []
    for command in commands:
        done = atlas(*command)
        assert done.returncode == 0, done.stderr
        ids += re.findall(r"claim (c-\w{26}) in", done.stdout)
    for relation, other in (("contradicts", ids[1]), ("supports", ids[2])):
        done = atlas("notes", "link", ids[0], relation, other, *places)
        assert done.returncode == 0, done.stderr
    with explorer(root, folder / "data") as running:
        yield request.param, tree, running


def counted(page: Page) -> None:
    """Wait until the first page has its map."""
    page.goto("/")
    page.wait_for_selector("svg.map, .problem", timeout=60_000)
    assert page.locator("svg.map").count(), page.inner_text("main")


def shot(page: Page, name: str) -> None:
    if SCREENSHOTS:
        Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(SCREENSHOTS) / f"{name}.png"))


def test_a_project_is_understood(chromium: Browser, shown: tuple[str, Tree, ServedExplorer]) -> None:
    language, tree, served = shown
    is_shot = language == "typescript"
    with entered(chromium, served, viewport=SHOT) as page:
        counted(page)
        check(page, "/", SHOT["width"])
        text = page.inner_text("main")
        assert "Sells things" in text
        assert tree.symbol.rpartition(".")[2] in text  # a hub
        # the parts depend on each other, whatever a language imports
        assert page.locator("table.matrix td", has_text="4").count() >= 3
        if is_shot:
            shot(page, "overview")
        check(page, f"/symbol?name={tree.symbol}", SHOT["width"])
        assert tree.caller in page.inner_text("#callers")
        assert "whole cents" in page.inner_text("main")
        if is_shot:
            shot(page, "symbol")
        check(page, f"/symbol?name={tree.symbol}&view=impact", SHOT["width"])
        assert tree.caller in page.inner_text("main")
        check(page, f"/picture?name={tree.folder}", SHOT["width"])
        assert page.locator(".picture path").count() >= 3
        if is_shot:
            shot(page, "picture")
        check(page, f"/flow?of={tree.start}&to={tree.symbol}", SHOT["width"])
        assert page.locator(".ladder li").count() >= 4
        assert "amount > 0" in page.inner_text(".ladder")
        if is_shot:
            shot(page, "flow")
        check(page, "/file", SHOT["width"])
        page.wait_for_function("document.body.textContent.includes('Grace') || (location.reload(), false)", polling=500)
        assert "Ada" in page.inner_text("main")
        check(page, "/knowledge", SHOT["width"])
        page.click("a.item >> text=Amounts are rounded")
        page.wait_for_url("**/unit?id=*")
        assert tree.symbol.rpartition(".")[2] in page.inner_text("main")
        if is_shot:
            shot(page, "claim")


def test_screenshots_are_small() -> None:
    folder = Path(__file__).parents[2] / "docs" / "screenshots"
    sizes = {one.name: one.stat().st_size for one in folder.iterdir()}
    assert sizes.keys() == {f"{name}.png" for name in ("overview", "symbol", "picture", "flow", "claim")}
    assert sum(sizes.values()) < 600_000
