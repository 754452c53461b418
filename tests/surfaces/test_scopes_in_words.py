"""Questions about relations in people's own words: scopes, orders, members of one class, two names, pronouns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

_CALLS = "from shop.log import get_logger\n\n\ndef {name}():\n    return get_logger()\n"
FILES = {
    "shop/__init__.py": "",
    "shop/log.py": "def get_logger():\n    return None\n",
    "shop/auth_handler.py": _CALLS.format(name="log_in"),
    "shop/auth_tokens.py": _CALLS.format(name="make_token"),
    "shop/cart.py": _CALLS.format(name="add"),
    "demos/run.py": _CALLS.format(name="main"),
    "tests/test_log.py": _CALLS.format(name="test_log"),
    "shop/server.py": (
        'class Server:\n    """Serves.\n\n    A class that implements Server is one of `class Server`.\n    """\n\n\n'
        "class Web(Server):\n    pass\n\n\n"
        "class Call:\n    direct: bool = False\n\n    def begin(self):\n        self.open()\n        self.announce()\n\n"
        "    def announce(self):\n        return self.direct\n\n    def open(self):\n        self.direct = True\n\n"
        "    def forgotten(self):\n        return 1\n"
    ),
    "shop/cache.py": (
        'def is_changed(path):\n    """Check whether a touched file is still cached: its bytes are compared."""\n    return path\n'
    ),
    "tests/test_cache.py": (
        "from shop.cache import is_changed\n\n\ndef test_touched():\n    # same bytes, new time: still cached\n"
        "    assert is_changed('a')\n\n\ndef test_other():\n    # mode: once\n    assert True\n"
    ),
    "java/org/acme/parts/Node.java": "package org.acme.parts;\n\npublic interface Node {\n  void apply();\n}\n",
    "java/org/acme/parts/TrimNode.java": (
        "package org.acme.parts;\n\npublic class TrimNode implements Node {\n  public void apply() {}\n}\n"
    ),
    "java/org/acme/parts/SetNode.java": "package org.acme.parts;\n\npublic class SetNode extends TrimNode {}\n",
    "java/org/acme/parts/WhereNode.java": "package org.acme.parts;\n\npublic class WhereNode extends TrimNode {}\n",
    "java/org/acme/Main.java": (
        "package org.acme;\n\nimport org.acme.parts.SetNode;\n\npublic class Main {\n  SetNode first;\n}\n"
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scopes")
    for name, text in FILES.items():
        (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tree" / name).write_text(text)
    asyncio.run(indexed(folder / "tree", folder / "data"))
    return folder


@pytest.fixture
async def atlas(folder: Path) -> AsyncIterator[Atlas]:
    async with open_atlas(load_settings(str(folder / "tree"), str(folder / "data"), environment=QUICK)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("who calls get_logger in demos/", "in demos: 1 of 5\n"),
        ("who calls get_logger in the shop folder", "in shop: 3 of 5\n"),
        ("callers of log.get_logger in shop/ excluding tests", "in shop outside tests: 3 of 5\n"),
        ("callers of get_logger in the auth code", "in auth code (paths and types with `auth`): 2 of 5\n"),
        ("where in the auth code is get_logger called?", "in auth code (paths and types with `auth`): 2 of 5\n"),
        ("who calls get_logger from the cart module", "in cart: 1 of 5\n"),
        ("callers of get_logger in log.py", "shop/log.py:1: 5\n"),
        ("which functions outside of shop/ call get_logger", "outside shop/: 2 of 5\n"),
    ],
)
async def test_a_scope_in_words_limits_the_answer_and_is_said(atlas: Atlas, asked: str, said: str) -> None:
    text = (await hybrid_search(atlas, asked)).render()
    assert said in text and "not taken into account" not in text, text


async def test_lines_of_a_docstring_are_no_subclasses(atlas: Atlas) -> None:
    text = (await hybrid_search(atlas, "subclasses of Server")).render()
    assert "Web" in text and "may be such" not in text, text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("who calls get_logger (production code and tests)?", ("shop/log.py:1: 5\n",)),
        ("who calls get_logger, tests included?", ("shop/log.py:1: 5\n",)),
        ("who calls get_logger not including tests", ("outside tests: 4 of 5\n",)),
        (
            "which modules import something out of shop.log, and what do they take?",
            ("importers of module shop.log", ": from shop.log import get_logger"),
        ),
        (
            "want to move org.acme.parts into an own module. which classes outside that package import from it",
            ("importers of package org.acme.parts: 1\n", "java/org/acme/Main.java"),
        ),
        ("who calls open on the call?", ("callers of method shop.server.Call.open",)),
        ("order of the steps in Call.begin", ("Call.open 16", "Call.announce 17", "in the order of the lines")),
        ("what does Call.begin call, in order, for one caller", ("in the order of the lines",)),
        (
            "any method on the Call class (server.py) that nothing uses any more?",
            ("unused methods in Call: 2 candidates of 4", "Call.begin", "Call.forgotten"),
        ),
        (
            "Call has some small helpers; are there any that nobody calls?",
            ("unused functions and methods in Call: 2 candidates of 4", "Call.forgotten"),
        ),
        (
            "shop/log.py - is there something in it that no production code calls any more?",
            ("in shop/log.py outside tests: none of 1",),
        ),
        (
            "thinking of dropping the direct field from Call. who sets it, who reads it",
            ("usages of field shop.server.Call.direct", "Call.announce", "Call.open"),
        ),
        (
            "SetNode/WhereNode: what do they inherit from and which other classes derive from that one?",
            ("bases of SetNode and WhereNode: 2", "org.acme.parts.TrimNode`? (found above)", "WhereNode 3"),
        ),
    ],
)
async def test_a_question_in_own_words_is_answered(atlas: Atlas, asked: str, said: tuple[str, ...]) -> None:
    text = (await hybrid_search(atlas, asked)).render()
    assert all(each in text for each in said) and "not taken into account" not in text, text


async def test_the_card_of_a_module_has_what_imports_its_symbols(atlas: Atlas) -> None:
    text = (await hybrid_search(atlas, "the shop.log module: anything I should know")).render()
    assert "imported by 5: " in text and "no resolved importers" not in text, text


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("if someone breaks the comparison of bytes of a touched file, which test goes red?", "test_touched"),
        ("is a touched file whose bytes are compared and still cached covered by tests?", "test_touched"),
        ("which tests check what happens in `mode: once` to the second caller?", "test_other"),
        ("where is it decided that a touched file is still cached?", "is_changed"),
    ],
)
async def test_tests_come_first_where_they_are_asked_for(atlas: Atlas, asked: str, first: str) -> None:
    text = (await hybrid_search(atlas, asked)).render()
    assert f"\n1. function {first}" in text, text
