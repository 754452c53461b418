"""Questions for commits with names joined by a stroke, files in brackets, former names, defaults and what was altered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository
from tests.surfaces.test_tools_impact import QUICK, indexed

_TASK = 'HTTP = 1\n\n\nclass MultiResult(list):\n    """Results."""\n\n    def __getattr__(self, name):\n{0}        return 1\n'
_SPECIAL = '        if name in ["__getstate__", "__setstate__"]:\n            return None\n'
_PACKAGE = (
    '{{\n  "name": "shop",\n  "version": "1.0.0",\n  "dependencies": {{\n    {0},\n    "zod": "^3.0.0"\n  }}\n}}\n'
)
_VERBS = "def method(request):\n    return HandlerType.{0}(request.method, 'GET', request.headers)\n"


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "shop")
    repository.commit(
        "Begin",
        {
            "shop/task.py": _TASK.format(""),
            "shop/verbs.py": _VERBS.format("find_or_create"),
            "shop/loader.py": "class Loader:\n    next_entry_index = 0\n",
            "shop/ssl.py": "def context(verify, cert):\n    return verify or cert\n",
            "shop/writer.py": "class Writer:\n    size = 1\n",
            "shop/config.py": "inline_env = False\n",
            "package.json": _PACKAGE.format('"slow-hide": "^1.0.0"'),
            "setup.py": "from setuptools import setup\n\nsetup(name='shop', install_requires=['zope>=1'])\n",
        },
    )
    repository.commit(
        "Let results be pickled (#9)\n\nA pool of processes needs it.", {"shop/task.py": _TASK.format(_SPECIAL)}
    )
    repository.commit(
        "Answer 404 for methods nobody knows instead of 500", {"shop/verbs.py": _VERBS.format("find_or_default")}
    )
    repository.commit("Wait for input", {"shop/wait.py": "def wait(path):\n    return path\n"})
    repository.commit(
        "Look for input less often, add a flag for the plugin", {"shop/wait.py": "def wait(path):\n    return [path]\n"}
    )
    repository.commit("Number entries by their ids", {"shop/loader.py": "class Loader:\n    entries = {}\n"})
    repository.commit("Add docs about client certificates and verification", {"docs/ssl.md": "# Certificates\n"})
    repository.commit(
        "Fix verify=False, cert=... case", {"shop/ssl.py": "def context(verify, cert):\n    return [verify, cert]\n"}
    )
    repository.commit(
        "Export inlined env vars instead of prefixing them", {"shop/writer.py": "class Writer:\n    size = 2\n"}
    )
    repository.commit("Flip default of inline_env to True", {"shop/config.py": "inline_env = True\n"})
    repository.commit("Hide by hide-quick", {"package.json": _PACKAGE.format('"hide-quick": "^0.2.0"')})
    repository.commit("Hide by @shop/hide", {"package.json": _PACKAGE.format('"@shop/hide": "^0.3.0"')})
    pinned = "from setuptools import setup\n\nsetup(name='shop', install_requires=['zope>=1', 'setuptools>=40'])\n"
    repository.commit("Need it at run time", {"setup.py": pinned})
    repository.commit(
        "Drop setuptools",
        {"setup.py": "from distutils.core import setup\n\nsetup(name='shop', install_requires=['zope>=1'])\n"},
    )
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        yield atlas
    repository.close()


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        (
            "Which change added the handling of __getstate__/__setstate__ in MultiResult, and what for?",
            (
                "`__getstate__` in shop/task.py:8 was added",
                "Let results be pickled (#9)",
                "A pool of processes needs it.",
            ),
        ),
        (
            "Unknown HTTP verbs used to produce a 500. Since which change is it a 404, and what was altered in the code?",
            (
                "Answer 404 for methods",
                "shop/verbs.py: return HandlerType.find_or_create(",
                "-> return HandlerType.find_or_default(",
            ),
        ),
        (
            "Which commit brought in the --wait flag's plugin (shop/wait.py), by whom and in what year?",
            ("shop/wait.py was added", "Ada Lovelace: Wait for input"),
        ),
        (
            "When and why did Loader lose its counters next_entry_index / next_chunk? Which commit?",
            ("`next_entry_index` is no longer in the file", "Number entries by their ids"),
        ),
        (
            "Disabling verification together with a certificate was once broken. What commit repaired it and what was wrong?",
            ("Fix verify=False, cert=... case",),
        ),
        ("when was sending env vars as prefixes made the default, by which commit?", ("Flip default of inline_env",)),
        ("Since when, and why, is a 404 answered for methods?", ("Answer 404 for methods",)),
        (
            "slow-hide is gone from the dependencies. Through which commits did it get replaced, and by what in the end?",
            (
                "Hide by hide-quick",
                'came_with_it:\n  package.json: "hide-quick"',
                "then_removed:",
                "Hide by @shop/hide",
                'package.json: "@shop/hide"',
            ),
        ),
        (
            "setuptools used to be a dependency: which commits put it in and took it out again?",
            ("since when is not known, until", "removed:", "Drop setuptools"),
        ),
    ],
)
async def test_the_commit_is_told(shop: Atlas, asked: str, parts: tuple[str, ...]) -> None:
    said = (await hybrid_search(shop, asked)).render()
    assert all(part in said for part in parts), said
    assert "\n2) " not in said


async def test_an_import_in_a_manifest_declares_nothing(shop: Atlas) -> None:
    asked = "setuptools used to be a dependency: which commits put it in and took it out again?"
    assert "Begin" not in (await hybrid_search(shop, asked)).render()


async def test_what_only_describes_mends_nothing(shop: Atlas) -> None:
    asked = "A client certificate without any verification of hosts was broken. What commit repaired it?"
    said = (await hybrid_search(shop, asked)).render()
    assert "Fix verify=False" in said and "Add docs" not in said


async def test_a_file_in_brackets_may_be_the_place(shop: Atlas) -> None:
    said = (
        await hybrid_search(shop, "Which commit added the flag for the plugin to the waiting (shop/wait.py)?")
    ).render()
    assert "Look for input less often" in said


async def test_the_problem_that_a_commit_fixed_is_no_question_of_its_own(shop: Atlas) -> None:
    said = (await hybrid_search(shop, "Which commit answers 404 for methods, and what problem was it fixing?")).render()
    assert "Answer 404 for methods" in said and "2) " not in said, said
