"""A folder or a loosely named part of the project limits the answer to a question about a relation, and is said."""

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
        "class Web(Server):\n    pass\n"
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
    ],
)
async def test_a_scope_in_words_limits_the_answer_and_is_said(atlas: Atlas, asked: str, said: str) -> None:
    text = (await hybrid_search(atlas, asked)).render()
    assert said in text and "not taken into account" not in text, text


async def test_lines_of_a_docstring_are_no_subclasses(atlas: Atlas) -> None:
    text = (await hybrid_search(atlas, "subclasses of Server")).render()
    assert "Web" in text and "may be such" not in text, text
