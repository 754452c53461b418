"""Questions whose clauses all ask of one package, packages that are described, and what calls them as commands."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

_FILES = {
    "package.json": (
        '{\n  "name": "shop",\n  "scripts": {"release": "stampit --all"},\n  "dependencies": {\n'
        '    "tinypathglob": "^1.2.0",\n    "deepwait": "^2.0.0"\n  },\n'
        '  "devDependencies": {"stampit": "^3.0.0", "@types/deepwait": "^2.0.0"}\n}\n'
    ),
    "src/walk.js": (
        "const { globs } = require('tinypathglob')\n\nfunction walk (folder) {\n  return globs(folder)\n}\n"
        "module.exports = walk\n"
    ),
    "src/close.js": (
        "const wait = require('deepwait')\n\nfunction close (stream) {\n  stream.flush()\n"
        "  // the worker may not have begun yet\n  wait(100)\n  stream.end()\n}\nmodule.exports = close\n"
    ),
    "tests/version.js": "const version = '1'\nmodule.exports = version\n",
    "api/pyproject.toml": (
        '[project]\nname = "api"\nversion = "1"\ndependencies = ["anynet"]\n\n[project.optional-dependencies]\n'
        'tunnel = ["tunnelio==1.*"]\n\n[dependency-groups]\ndev = ["api-stencil==1"]\n\n[tool.lint]\n'
        'ignore = [\n  "S701", # stencil escapes nothing\n]\n'
    ),
    "api/api/__init__.py": "import stencil\n",
    "api/api/open.py": (
        "class Plain:\n    def __init__(self):\n        try:\n            import tunnelio\n        except ImportError:\n"
        "            raise ImportError('install the tunnel extra')\n\n\nclass Waiting:\n    def __init__(self):\n"
        "        try:\n            import tunnelio\n        except ImportError:\n"
        "            raise ImportError('install the tunnel extra')\n"
    ),
    "api/tests/test_open.py": "import anynet\n\n\ndef test_open():\n    assert anynet.Lock()\n",
}


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Atlas]:
    root = tmp_path / "shop"
    for name, text in _FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        yield atlas


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        (
            "What do we need deepwait for, in which version range, and is it a runtime dependency in package.json?",
            ("declared ^2.0.0", "src/close.js:6: src.close.close: wait(100) // the worker may not have begun yet"),
        ),
        (
            "Which version of deepwait is required, and which file actually imports it?",
            ("declared ^2.0.0", "imported_by:\n  src/close.js: :1"),
        ),
        (
            "tinypathglob in package.json: for which environment is it and what uses it?",
            ("tinypathglob: declared by 1 project", "src/walk.js:4"),
        ),
        (
            "anynet is declared as a runtime requirement. Does any module of the api package import it itself?",
            ("anynet: declared by 1 project", "imported by 1 file", "api/tests/test_open.py: :1"),
        ),
        (
            "Code inside the package imports stencil. Is stencil among the declared runtime requirements?",
            ("stencil: not declared in any manifest; imported by 1 file", "near:\n  api-stencil [development]"),
        ),
        (
            "TUNNEL connections: what extra must be installed, with which version bound, and where is it missing?",
            ("tunnelio: declared ==1.*", "api/api/open.py:5: except ImportError", "api/api/open.py:13: except"),
        ),
        (
            "Which package resolves the globs of files, at what version range, and where is it called?",
            ("tinypathglob (no package is named: its name is nearest, by `globs`)", "^1.2.0", "src/walk.js:4"),
        ),
        (
            "Can the devDependency stampit be dropped - does anything in the repo use it?",
            ("no file, but a word of commands", 'package.json: :3 "scripts": {"release": "stampit --all"}'),
        ),
    ],
)
async def test_clauses_about_one_package_are_one_answer(shop: Atlas, asked: str, parts: tuple[str, ...]) -> None:
    said = (await hybrid_search(shop, asked)).render()
    assert all(part in said for part in parts), said
    assert "\n2) " not in said


async def test_a_clause_about_something_else_stays_a_question_of_its_own(shop: Atlas) -> None:
    said = (await hybrid_search(shop, "What do we need deepwait for, and who calls the walk function?")).render()
    assert "1) " in said and "2) who calls the walk function" in said


async def test_a_name_near_to_several_packages_is_no_hint(shop: Atlas) -> None:
    said = (await hybrid_search(shop, "Which package waits for the workers?")).render()
    assert "its name is nearest" not in said, "`deepwait` and `@types/deepwait` both have the word"


async def test_the_library_of_the_project_is_no_package_that_it_needs(shop: Atlas) -> None:
    said = (await hybrid_search(shop, "What does the library assume when the globs of files match nothing?")).render()
    assert "its name is nearest" not in said
