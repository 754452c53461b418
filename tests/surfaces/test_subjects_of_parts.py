"""Later parts of a question take the subject of the first one, or what it found."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.question.requests.several import read_requests
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ("What do we need leftpad for, in which version range, and is it a runtime dependency in package.json?", None),
        ("what is hupper needed for here and which minimum version does shop demand?", None),
        ("What do we need the `decorator` package for, and which version is required?", None),
        (
            "Gson 3: which version does the build manage, how is it loaded, and is it mandatory for the shop?",
            ["which version does the build manage", "how is Gson 3 loaded", "is Gson 3 mandatory for the shop?"],
        ),
        (
            "Where is PackError raised, where does the library handle it, and which test checks for it?",
            [
                "Where is PackError raised",
                "where does the library catch PackError",
                "which test checks for PackError?",
            ],
        ),
        (
            "who calls packAll, and does the browser build run the same implementation?",
            ["who calls packAll", "does the browser build run the same implementation of packAll?"],
        ),
    ],
)
def test_a_later_part_is_about_the_subject_of_the_first(asked: str, parts: list[str] | None) -> None:
    read = read_requests(asked)
    assert (read and [each.text for each in read.requests]) == parts


async def test_a_missing_package_is_that_of_the_extra(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    files = {
        "pyproject.toml": (
            '[project]\nname = "shop"\nversion = "1.0"\n\n[project.optional-dependencies]\nsocks = ["socksio==1.*"]\n'
            'colors = ["rich>=10"]\n'
        ),
        "shop/__init__.py": "",
        "shop/net.py": (
            "def connect(proxy):\n    try:\n        import socksio\n    except ImportError:\n"
            '        raise ImportError("socksio is not installed") from None\n    return socksio.open(proxy)\n'
        ),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        asked = "SOCKS proxies: what extra must be installed, with which version bound, and where is the missing package noticed?"
        said = (await hybrid_search(atlas, asked)).render()
        assert "socksio ==1.* [optional socks]" in said and "rich" not in said
        assert "without_it:\n  shop/net.py:4: except ImportError" in said and "2)" not in said
        asked = "Which package draws colors of orders, at what version range, and where is it called?"
        said = (await hybrid_search(atlas, asked)).render()
        assert "version range called" not in said
