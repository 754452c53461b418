"""A name that a module re-exports leads to its definition."""

from __future__ import annotations

from pathlib import Path

from atlas.app.main import open_atlas
from atlas.code.tools.symbol.node import get_node
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES = {
    "shop/__init__.py": "from shop.core import Cart\n\n__all__ = ['Cart']\n",
    "shop/core.py": "class Cart:\n    pass\n",
    "web/index.ts": "export { render } from './part'\n",
    "web/part.ts": "export function render() {}\n",
    "kit/Cargo.toml": '[package]\nname = "kit"\n',
    "kit/src/lib.rs": "mod inner;\npub use inner::spawn;\n",
    "kit/src/inner.rs": "pub fn spawn() {}\n",
}


async def test_re_exported_names_are_found(tmp_path: Path) -> None:
    root = tmp_path / "net"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        answers = [await get_node(atlas, name) for name in ("shop.Cart", "web.render", "kit::spawn")]
        missing = await get_node(atlas, "shop.Basket")
    assert [(answer.lookup.how, answer.node and answer.node.symbol.place.partition(":")[0]) for answer in answers] == [
        ("alias", "shop/core.py"),
        ("alias", "web/part.ts"),
        ("alias", "kit/src/inner.rs"),
    ]
    assert missing.node is None
