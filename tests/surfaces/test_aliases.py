"""A name that a module re-exports leads to its definition."""

from __future__ import annotations

from pathlib import Path

from atlas.app.main import open_atlas
from atlas.code.tools.search.search import hybrid_search
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


EXPORTED = {
    "post/Cargo.toml": '[package]\nname = "post-box"\n',
    "post/src/lib.rs": "pub mod message;\npub use message::Message;\n",
    "post/src/message/mod.rs": "mod boxes;\npub use boxes::*;\npub struct Message;\n",
    "post/src/message/boxes.rs": "pub struct Mailbox;\nstruct Hidden;\n",
    "post/src/attr.rs": "pub enum Kind { Message(u8), Other }\n",
    "wire/__init__.py": "from ._api import *\nfrom ._parts import *\n",
    "wire/_api.py": "from wire._client import Client\n\n\ndef get(url):\n    return Client().get(url)\n",
    "wire/_client.py": "class Client:\n    def get(self, url):\n        return url\n",
    "wire/_parts/__init__.py": "from .codes import *\n",
    "wire/_parts/codes.py": "class Codes:\n    pass\n",
    "app.py": "import wire\n\n\ndef run():\n    return wire.get('x')\n",
    "day/index.js": "const day = (date) => date;\nday.extend = (plugin) => plugin(day);\nexport default day;\n",
    "day/index.d.ts": "declare namespace day {\n  export function extend(plugin: Function): void\n}\nexport = day\n",
}


async def test_names_are_found_as_a_package_exports_them(tmp_path: Path) -> None:
    """Nobody who uses a package writes the modules in which its names happen to be defined."""
    root = tmp_path / "net"
    for name, text in EXPORTED.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    places = {
        "post_box::Message": "post/src/message/mod.rs:3",
        "post_box::message::Mailbox": "post/src/message/boxes.rs:1",
        "wire.get": "wire/_api.py:4",
        "wire.Codes": "wire/_parts/codes.py:1",
        "day.extend": "day/index.js:2",
    }
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        answers = {name: await get_node(atlas, name) for name in (*places, "wire.missing", "post_box::Hidden")}
        callers = (await hybrid_search(atlas, "callers of wire.get")).render()
    found = {name: answer.node and answer.node.symbol.place for name, answer in answers.items()}
    assert found == {**places, "wire.missing": None, "post_box::Hidden": None}
    assert "callers of function wire._api.get wire/_api.py:4: 1" in callers, callers


FORMS = {
    "go.mod": "module example.org/acme/store\n\ngo 1.22\n",
    "internal/disk/disk.go": "package disk\n\ntype Disk struct{}\n\nfunc Open(path string) *Disk { return nil }\n",
    "lib/shop.ex": "defmodule Shop do\n  def pay(cart, coin), do: {cart, coin}\nend\n",
    "Map.cs": "namespace Db;\npublic static partial class Map\n{\n  public static int One(int a) => a;\n"
    "  public static int One(string a) => 1;\n}\n",
    "Map.Async.cs": "namespace Db;\npublic static partial class Map\n{\n}\n",
}


async def test_names_are_found_as_people_of_a_language_write_them(tmp_path: Path) -> None:
    """With the module of an import, with the number of arguments, and whole where a type has parts."""
    root = tmp_path / "net"
    for name, text in FORMS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    places = {
        "example.org/acme/store/internal/disk.Open": "internal/disk/disk.go:5",
        "example.org/acme/store/internal/disk.Close": None,
        "Shop.pay/2": "lib/shop.ex:2",
        "Db.Map": "Map.cs:2",
        "Db.Map.One": "Map.cs:4",
    }
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        answers = {name: await get_node(atlas, name) for name in places}
    assert {name: answer.node and answer.node.symbol.place for name, answer in answers.items()} == places
    assert "the longest of 2 parts; others: Map.Async.cs:2" in answers["Db.Map"].render()
    assert "one of 2 definitions of this name; others: Map.cs:5" in answers["Db.Map.One"].render()
