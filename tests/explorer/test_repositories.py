"""Every page of the explorer of a repository in a real browser: wide and light, narrow and dark, keys, no scripts.

Each run has a small project that it writes. Real repositories are not part of the tests:
`ATLAS_TEST_REPOSITORIES=/path/django:/path/trpc:/path/gin:/path/redis` names some, which are looked at, too. With
`ATLAS_TEST_AXE` (`test_browser`) axe-core looks at each page.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page

from .served import ServedExplorer, explorer
from .test_browser import check, chromium, cookies_of, opened
from .test_trees import counted
from .trees import go, write_tree

__all__ = ["chromium"]

REPOSITORIES = [Path(each) for each in os.environ.get("ATLAS_TEST_REPOSITORIES", "").split(":") if each]
COLOURS = ("churn", "age", "callers", "tests", "problems")
VIEWS = ("", "decisions", "suspects", "contradictions", "paths", "entities")
SMALL = Path("small")
"""Stands for the project that the test writes."""
MORE = {
    "cmd/shop/main.go": 'package main\n\nimport (\n\t"net/http"\n\n\t"example.org/shop/orders"\n)\n\n'
    "func order(w http.ResponseWriter, r *http.Request) {\n\tprintln(orders.Price(3))\n}\n\n"
    'func main() {\n\thttp.HandleFunc("GET /orders", order)\n\thttp.ListenAndServe(":80", nil)\n}\n',
    "go.mod": "module example.org/shop\n\ngo 1.22\n\nrequire github.com/gin-gonic/gin v1.10.0\n",
}
"""A route and a dependency, so that each list of the first page has an entry."""


@dataclass(frozen=True)
class Repository:
    """An explorer of a repository that a browser has entered."""

    served: ServedExplorer
    cookies: list[object]
    is_small: bool


@pytest.fixture(scope="module", params=[SMALL, *REPOSITORIES], ids=lambda root: root.name)
def repository(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, chromium: Browser
) -> Iterator[Repository]:
    root = request.param
    if root == SMALL:
        root, tree = tmp_path_factory.mktemp("small"), go()
        write_tree(root, replace(tree, files={**tree.files, **MORE}))
    with explorer(root, tmp_path_factory.mktemp("data"), patience=600) as running:
        yield Repository(running, cookies_of(chromium, running), request.param == SMALL)


def pages_of(page: Page, repository: Repository) -> list[str]:
    """Addresses of every page, about what the first page of the repository names.

    Of the small project without those that `test_browser` sees with more to show.
    """
    counted(page)
    found: dict[str, str] = page.evaluate("""() => {
      const to = (selector) => document.querySelector(selector)?.getAttribute("href") ?? "";
      return {hub: to("#hubs a.item"), hot: to("#hotspots a.item"), folder: to("svg.map a[href^='/?']"),
              file: to("svg.map a[href^='/file']"), entry: to("#entries a.item"), flow: to("#entries a[href^='/flow']"),
              commit: to("#lately a"), part: to("table.matrix a.item"), package: to("#packages a.item")}; }""")
    lists = found.keys() - {"folder"}  # a small map shows files
    assert not repository.is_small or all(found[name] for name in lists), found
    others = (
        () if repository.is_small else ("/packs", "/papers", "/chat", *(f"/knowledge?view={view}" for view in VIEWS))
    )
    colours = COLOURS[:2] if repository.is_small else COLOURS
    name = re.sub(r"^/symbol\?name=", "", found["hub"])
    word = quote(page.inner_text("#hubs a.item").rpartition(".")[2])
    of_symbol = [f"{found['hub']}{view}" for view in ("", "&view=impact", "&view=history")]
    return list(
        filter(
            None,
            [
                *(f"/?colour={colour}" for colour in colours), *found.values(), *of_symbol, f"/picture?name={name}",
                "/picture?name=.", "/search", f"/search?q={word}", f"/search?q=callers+of+{word}",
                f"/search?q=how+does+{word}+work", f"/search?q={word}&mode=exact", f"/search?q={word[:4]}.*&mode=regex",
                f"/search?q={word}&mode=meaning", "/search?relation=unused", "/search?relation=routes", "/file",
                "/changes", "/changes?diff=HEAD~1..HEAD", "/changes?diff=HEAD~1..HEAD&form=mermaid",
                "/changes?diff=HEAD~1..HEAD&form=comment", "/flow", f"/flow?of=main&to={name}", *others, "/status", "/status?skipped=yes", "/symbol?name=nonesuch",
            ],
        )
    )  # fmt: skip


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (380, "dark")])
def test_every_page_is_accessible_and_runs_our_script_alone(
    chromium: Browser, repository: Repository, width: int, scheme: str
) -> None:
    wrong: list[str] = []
    with opened(
        chromium, repository.cookies, repository.served, viewport={"width": width, "height": 800}, color_scheme=scheme
    ) as page:
        for path in pages_of(page, repository):
            try:
                check(page, path, width)
            except AssertionError as error:
                wrong.append(f"{path}: {error}")
    assert wrong == []


def test_every_page_says_the_same_without_scripts(chromium: Browser, repository: Repository) -> None:
    with (
        opened(chromium, repository.cookies, repository.served) as page,
        opened(chromium, repository.cookies, repository.served, java_script_enabled=False) as plain,
    ):
        for path in pages_of(page, repository):
            if path.startswith("/status"):
                continue  # tells times and sizes, again and again
            for each in (page, plain):
                each.goto(path, wait_until="load")
            page.evaluate("document.querySelectorAll('button[data-copy]').forEach((one) => one.remove())")
            assert plain.inner_text("main").split() == page.inner_text("main").split(), path


def test_a_hub_is_found_by_keys(chromium: Browser, repository: Repository) -> None:
    with opened(chromium, repository.cookies, repository.served) as page:
        counted(page)
        name = page.inner_text("#hubs a.item").rpartition(".")[2]
        page.keyboard.press("/")
        page.keyboard.type(name, delay=30)
        page.wait_for_selector(f"#suggestions a >> text={name}")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**/symbol?name=*")
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement.className") == "item"
        with page.expect_navigation():
            page.keyboard.press("Enter")
        page.keyboard.press("g")
        page.keyboard.press("h")
        page.wait_for_url("**/")
