"""Commands of the shell, as manifests declare them: what they start, and ways from them."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.graph.paths.commands import ShellCommand, read_commands
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "setup.py": (
        "from setuptools import setup\n\nsetup(\n    name='shop',\n    entry_points={\n"
        "        'console_scripts': ['shop=shop.cli:run_all', 'shop-old = shop.cli:gone'],\n    },\n)\n"
    ),
    "shop/__init__.py": "",
    "shop/cli.py": (
        "from shop.work import Worker\n\n\ndef run_all():\n    worker = Worker()\n    worker.start()\n\n\n"
        "def shop():\n    return 1\n"
    ),
    "shop/work.py": (
        "class Worker:\n    def start(self):\n        return self.pack()\n\n    def pack(self):\n        return wrap()\n\n\n"
        "def wrap():\n    return 2\n"
    ),
    "more/pyproject.toml": "[project]\nname = 'more'\n\n[project.scripts]\nmore = 'shop.work:wrap'\n",
    "web/package.json": '{\n  "name": "@shop/web",\n  "bin": "./bin/cli.js"\n}\n',
    "web/bin/cli.js": "const { serve } = require('../lib/serve');\nserve();\n",
    "web/lib/serve.js": "function serve() {\n  return 1;\n}\nmodule.exports = { serve };\n",
    "tool/Cargo.toml": '[package]\nname = "tool"\nversion = "0.1.0"\n\n[[bin]]\nname = "sorter"\npath = "src/sorter.rs"\n',
    "tool/src/sorter.rs": "fn main() {\n    sort();\n}\n\nfn sort() {}\n",
    "cmd/ship/main.go": "package main\n\nfunc main() {\n\tsend()\n}\n\nfunc send() {}\n",
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


@pytest.mark.parametrize(
    "asked",
    [
        "Trace the path from the `shop` console script down to wrap.",
        "show me the way from the shop command to `wrap`",
    ],
)
async def test_a_way_begins_at_what_a_console_script_starts(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "(declared in setup.py:6 as shop.cli:run_all: function shop.cli.run_all shop/cli.py:4)" in answer, answer
    assert "3 steps" in answer and "guess" not in answer
    assert answer.index("Worker.start 6") < answer.index("Worker.pack 3") < answer.index("wrap 6")


@pytest.mark.parametrize(
    ("asked", "declared", "calls"),
    [
        ("what runs when I call the `shop` command?", "setup.py:6 as shop.cli:run_all, runs function", "start 6"),
        ("which function does the more console script start?", "more/pyproject.toml:5 as shop.work:wrap, runs", ""),
        (
            "what is executed when someone runs the sorter binary",
            "tool/Cargo.toml:7 as tool/src/sorter.rs, runs",
            "sort",
        ),
        ("where does the ship executable start", "cmd/ship/main.go, runs function cmd.ship.main", "send"),
        ("what runs when I call the web command line tool", "web/package.json:3 as web/bin/cli.js, runs module", ""),
    ],
)
async def test_what_a_command_runs_is_what_its_manifest_declares(
    atlas: Atlas, asked: str, declared: str, calls: str
) -> None:
    answer = await said(atlas, asked)
    assert f"declared in {declared}" in answer and calls in answer, answer


async def test_a_command_whose_function_is_gone_is_said_to_have_none(atlas: Atlas) -> None:
    answer = await said(atlas, "what runs when I call the shop-old command")
    assert "declared in setup.py:6 as shop.cli:gone, which no indexed symbol or file is" in answer, answer


async def test_a_word_before_command_that_no_manifest_declares_is_none(atlas: Atlas) -> None:
    answer = await said(atlas, "what runs when I call the wrap command")
    assert "declared in" not in answer, answer


async def test_commands_are_read_once_with_their_places(atlas: Atlas) -> None:
    found = await read_commands(atlas.reader, atlas.reader.project)
    assert ShellCommand("shop", "shop.cli:run_all", "setup.py", 6) in found
    assert ShellCommand("web", "web/bin/cli.js", "web/package.json", 3) in found
    assert {each.name for each in found} == {"shop", "shop-old", "more", "web", "sorter", "ship"}
