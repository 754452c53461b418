"""Variables that are told by what they decide, and when they are read: with each call, or once."""

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
    "src/helper.js": (
        "export default (o, c) => {\n  if (process.env.NODE_ENV !== 'production') {\n    c.parse = function (text) {\n"
        "      console.warn('pass a number')\n    }\n  }\n}\n"
    ),
    "src/size.js": "const size = process.env.SHOP_SIZE || 10\nmodule.exports = size\n",
    "shop/roots.py": (
        "import os\n\n\ndef open_roots(\n    path,\n):\n    if os.environ.get('SHOP_ROOTS'):\n        return path\n\n\n"
        "class Limits:\n    most = os.environ.get('SHOP_MOST')\n"
    ),
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


async def _said(atlas: Atlas, asked: str) -> str:
    return (await hybrid_search(atlas, asked)).render()


async def test_a_variable_is_told_by_what_its_condition_decides(shop: Atlas) -> None:
    said = await _said(
        shop, "Environment variable that turns off the developer warnings: name, value, and when is it looked at?"
    )
    assert "NODE_ENV: src/helper.js:2 if (process.env.NODE_ENV !== 'production') {" in said, said
    assert "src/helper.js:2: each time that this runs: export default (o, c) => {" in said, said


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("SHOP_SIZE", "src/size.js:1: at the top of the file: once, when it is loaded"),
        ("SHOP_ROOTS", "shop/roots.py:7: each time that this runs: def open_roots("),
        ("SHOP_MOST", "shop/roots.py:12: at the top of the file: once, when it is loaded"),
    ],
)
async def test_when_a_variable_is_read_is_said_by_the_block_around_it(shop: Atlas, name: str, moment: str) -> None:
    assert moment in await _said(shop, f"when is {name} read?")
    assert "read_when" not in await _said(shop, f"where is {name} read?")
