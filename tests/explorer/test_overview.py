"""The first page: dependencies with their packs and outdated uses, entry points, hubs, hotspots and the README's prose."""

from __future__ import annotations

import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2

from atlas.server.explorer.overview.prose import first_prose, nesting
from atlas.server.explorer.overview.treemap import Box, draw
from tests.packs.library import DOCUMENTATION, PROJECT, write_tree
from tests.surfaces.processes import atlas

from .served import opened, text_of


def overview(client: httpx2.Client) -> str:
    """The first page as text, once the project is counted."""
    for _ in range(100):
        if "Map of" in (page := text_of(client, "/")):
            return re.sub(r"\s+", " ", page)
        time.sleep(0.1)
    raise AssertionError("the project was not counted")


def test_dependencies_have_packs_and_outdated_uses(tmp_path: Path) -> None:
    write_tree(tmp_path / "docs", DOCUMENTATION)
    places = {"ATLAS_PACKS": str(tmp_path / "packs"), "ATLAS_MCP_START_DAEMON": "false"}
    given = {**{name: value for name, value in os.environ.items() if not name.startswith("ATLAS_")}, **places}
    with opened(tmp_path, PROJECT, env=given) as client:
        assert "outdated uses unknown: no dependency has a pack" in overview(client)
        done = atlas("pack", "build", "widget", "--from", str(tmp_path / "docs"), "--version", "2.0", env=given)
        assert done.returncode == 0, done.stderr
        # the page knows of a pack that was installed later
        page, tries = overview(client), 100
        while "pack widget@2.0" not in page and tries:
            time.sleep(0.1)
            page, tries = overview(client), tries - 1
        assert re.search(r"widget.{0,40} pack widget@2\.0", page)
        assert re.search(r"outdated uses \d+ .*widget\.halt removed 2\.1 \(widget@2\.0\) app\.py:\d+", page)
        assert "/packs?pack=widget%402.0" in client.get("/").text


def test_readers_at_once_wait_for_one_count(tmp_path: Path) -> None:
    """All but the first found the count taken away, and the page failed."""
    tree = {f"shop/part{number}.py": f"def f{number}():\n    return {number}\n" * 20 for number in range(60)}
    with opened(tmp_path, tree) as client, ThreadPoolExecutor(8) as readers:
        pages = [each.result() for each in [readers.submit(client.get, "/") for _ in range(16)]]
        assert [page.status_code for page in pages] == [200] * 16
        assert "Map of" in overview(client)


SIGNALS = {
    "shop/signals.py": "from django.dispatch import Signal\n\nsold = Signal()\nunsold = Signal()\n",
    "shop/mail.py": "from django.dispatch import receiver\n\nfrom shop.signals import sold\n\n\n@receiver(sold)\ndef mail(**k):\n"
    "    return 1\n",
    "tests/test_mail.py": "from django.dispatch import receiver\n\nfrom shop.signals import unsold\n\n\n@receiver(unsold)\n"
    "def note(**k):\n    return 1\n",
    "shop/basket.py": "class Basket:\n    def __init__(self, x):\n        self.x = x\n\n\ndef one():\n    return Basket(1)\n\n\n"
    "def two():\n    if one():\n        for each in (1, 2):\n            return Basket(each)\n    return Basket(2)\n",
    "setup.cfg": "[options]\ninstall_requires =\n" + "".join(f"    line{each}\n" for each in range(40)),
    "README.md": "<p align='center'>\n  <a href='x'><img src='y'></a>\n  <b>Sells</b> things&nbsp;&amp; more.\n</p>\n\n"
    "[![Build](b.svg)](b)\n\n## Why\n\nSee [the **guide**](docs/guide.md) for `all` of it.\n",
}


def test_entries_hubs_and_hotspots_are_those_of_the_code(tmp_path: Path) -> None:
    with opened(tmp_path, SIGNALS, history=True) as client:
        page = overview(client)
        assert "Sells things & more. Why See the guide for all of it." in page
        assert "signal 1 sold shop/mail.py" in page
        assert "unsold" not in page
        # of a class and its constructor one is a hub; a file without functions is no hotspot, however long
        assert re.search(r"shop\.basket\.Basket \d callers", page)
        assert "Basket.__init__" not in page
        hot = page.partition("deeply nested")[2].partition("changed lately")[0]
        assert "shop/basket.py 1 commit, 14 lines, nesting" in hot
        assert "setup.cfg" not in hot
        # a commit leads to what it changes, the first one has nothing before it
        link = re.search(r'href="(/changes\?diff=[^"]*)"[^>]*>Write README\.md<', client.get("/").text)
        assert link is not None
        assert "README.md" in text_of(client, link[1])
        assert client.get("/").text.count("/changes?diff=") == len(SIGNALS) - 1
        assert re.search(r"health of the index ?references: \d+ resolved \(\d+ %\), .*stale: 0 files", page)


def test_prose_is_what_a_reader_would_read() -> None:
    assert first_prose("# A\n\n<!-- hidden -->\n| a | b |\n![x](y)\nText <br/> and **more**\n") == "A\nText and more"
    assert first_prose("x " * 400).endswith("...")
    assert first_prose("<" * 50_000) == ""
    assert first_prose("[![a](b)](c) [d](e)\n") == ""


def test_nesting_counts_the_lines_around_each_line_of_functions() -> None:
    lines = ["def f():", "    if x:", "        for y in x:", "", "            g()", "    return 1", "z = {", "  1: 2"]
    assert nesting(lines, [(1, 6)]) == 0 + 1 + 2 + 3 + 1
    # an inner function is not counted again
    assert nesting(lines, [(1, 6), (2, 5)]) == nesting(lines, [(1, 6)])
    assert nesting(lines, []) == 0


GO = {
    "go.mod": "module example.org/shop\n\ngo 1.22\n",
    "shop.go": 'package shop\n\nimport "example.org/shop/tax"\n\nfunc Price() int { return tax.Add(1) }\n',
    "tax/tax.go": "package tax\n\nfunc Add(a int) int { return a }\n",
    "cmd/main.go": 'package main\n\nimport "example.org/shop"\n\nfunc main() { println(shop.Price()) }\n',
}


def test_files_beside_the_folders_are_a_part(tmp_path: Path) -> None:
    with opened(tmp_path, GO) as client:
        matrix = overview(client).partition("Parts:")[2]
        assert re.search(r"1 top folder1? ?2 cmd1", matrix.replace("3 tax", "")), matrix
        assert '<a class="item" href="/file">top folder</a>' in client.get("/").text


def test_boxes_of_paths_show_their_ends() -> None:
    """Files of one deep folder began alike, so that every box had the same name."""
    names = ("packages/billing/src/price.ts", "packages/billing/src/rules.ts", "a_long_name_without_folders.py")
    boxes = [Box(name, name, False, 1, 1, "", 0, width=107, height=50) for name in names]
    labels = re.findall(r">([^<]*)</text>", draw(boxes, {}))
    assert labels == ["…g/src/price.ts", "…g/src/rules.ts", "a_long_name_wi…"]
