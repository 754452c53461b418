"""A package's own code as entities of its pack, joined to its documentation and to a project that calls it."""

from __future__ import annotations

import asyncio
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas.core.model import Node
from atlas.packs import AsyncPack
from atlas.packs.build import BuildRequest, build_pack, plan_build
from atlas.packs.documentation.code.docstrings import google_fields
from atlas.packs.documentation.code.exports import Exports
from atlas.packs.documentation.code.files import code_files, module_name
from atlas.packs.documentation.sources.values import CollectOptions
from atlas.packs.entities import find_entity
from atlas.packs.opening import open_pack

CODE = {
    "PKG-INFO": "Name: widget\nVersion: 2.0\n\n",
    "src/widget/__init__.py": "from ._core import Widget as Widget\nfrom .turning import *\nimport os\nraise SystemExit(1)\n",
    "src/widget/_core.py": (
        '"""Core."""\n\nclass Widget:\n    """A thing that turns.\n\n    .. deprecated:: 2.0\n       Use `Gadget`.\n    """\n\n'
        "    def __init__(self, size: int = 3, *, colour: str = 'red') -> None:\n        pass\n\n"
        '    def spin(self, times: int = 1) -> int:\n        """Turn some times and return the angle reached."""\n\n'
        '    def _oil(self):\n        """Private."""\n\n\ndef _hidden():\n    """Private."""\n'
    ),
    "src/widget/turning.py": 'def brake(force):\n    """Stop every widget with a force."""\n\n\ndef bare():\n    pass\n',
    "src/widget/_private.py": 'def unseen():\n    """Not exported."""\n',
    "tests/test_widget.py": 'def test_it():\n    """A test."""\n',
}
DOCS = {
    "docs/index.rst": (
        "Widget\n======\n\n.. module:: widget\n\nThe guide to gadgets.\n\n"
        ".. class:: Widget(size=3)\n\n   Everything turns around this class.\n\n.. autofunction:: brake\n"
    )
}


def archive(folder: Path, files: dict[str, str]) -> Path:
    path = folder / "widget-2.0.tar.gz"
    with tarfile.open(path, "w:gz") as file:
        for name, text in files.items():
            data = text.encode()
            info = tarfile.TarInfo(f"widget-2.0/{name}")
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
    return path


def built(folder: Path, files: dict[str, str], options: CollectOptions | None = None) -> Path:
    request = BuildRequest("widget", (str(archive(folder, files)),), options=options or CollectOptions())
    return asyncio.run(build_pack(request, folder / "pack")).folder


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack of a package without documentation."""
    return built(tmp_path_factory.mktemp("bare"), CODE)


@pytest.fixture(scope="module")
def documented(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("documented"), CODE | DOCS)


async def entities(folder: Path) -> dict[str, tuple[object, ...]]:
    async with await AsyncPack.open(folder) as pack:
        query = "MATCH (e:Entity) RETURN e.qualified_name, e.signature, e.docstring, e.code, e.deprecated"
        rows = (await pack.cypher(query)).rows
        return {str(name).removeprefix("entity:"): tuple(said) for name, *said in rows}


async def test_public_symbols_are_entities_under_the_name_that_the_package_exports(bare: Path) -> None:
    found = await entities(bare)
    assert found["widget.Widget"] == (
        *("class Widget(size: int = 3, *, colour: str = 'red')", "A thing that turns."),
        *("src/widget/_core.py:3", "2.0"),
    )
    assert found["widget.Widget.spin"][:2] == (
        "def spin(self, times: int = 1) -> int",
        "Turn some times and return the angle reached.",
    )
    assert found["widget.brake"][1] == "Stop every widget with a force."
    assert not [name for name in found if "_" in name or "unseen" in name or "test" in name]


async def test_docstrings_answer_where_a_package_has_no_other_documentation(bare: Path) -> None:
    async with await AsyncPack.open(bare) as pack:
        answer = await pack.ask("Which function stops every widget with a force?")
        assert "Stop every widget with a force." in answer.text
        assert answer.sources[0].article == "src/widget/turning.py"


async def test_notes_on_the_design_are_no_documentation_of_the_symbols(tmp_path: Path) -> None:
    notes = {
        "docs/design.md": "# Wheels\n\nWheels have spokes. The hub holds them.\n",
        "CHANGELOG.md": "# 2.0\n\n`brake`.\n",
    }
    async with await AsyncPack.open(await asyncio.to_thread(built, tmp_path, CODE | notes)) as pack:
        answer = await pack.ask("Which function stops every widget with a force?")
        assert answer.sources[0].article == "src/widget/turning.py"


async def test_documentation_describes_a_symbol_and_code_tells_its_place(documented: Path) -> None:
    found = await entities(documented)
    signature, summary, code, deprecated = found["widget.Widget"]
    assert signature == "Widget(size=3)"
    assert (summary, code, deprecated) == ("Everything turns around this class.", "src/widget/_core.py:3", "2.0")
    assert [name for name in found if name.endswith("brake")] == ["widget.brake"]
    assert found["widget.brake"][:2] == ("def brake(force)", "Stop every widget with a force.")


async def test_only_docstrings_that_the_documentation_leaves_out_are_searched(documented: Path) -> None:
    async with await AsyncPack.open(documented) as pack:
        query = "MATCH (s:Section)-[:HAS_CHUNK]->(:Chunk) WHERE s.path STARTS WITH 'src/' RETURN s.name"
        assert (await pack.cypher(query)).rows == (("widget.brake",),)


async def test_an_external_symbol_is_found_by_its_exported_and_its_full_name(bare: Path) -> None:
    pack = open_pack(bare)
    try:
        for name in ("widget.Widget.spin", "widget._core.Widget.spin"):
            found = await find_entity(pack, name, "widget")
            assert isinstance(found, Node)
            assert found.row.qualified_name == "entity:widget.Widget.spin"
    finally:
        await pack.aclose()


def test_code_is_left_out_on_request(tmp_path: Path) -> None:
    folder = built(tmp_path, CODE | DOCS, CollectOptions(code=False))
    assert asyncio.run(entities(folder)).keys() == {"widget", "widget.Widget", "widget.brake"}


def test_a_plan_shows_the_code_that_is_read(tmp_path: Path) -> None:
    request = BuildRequest("widget", (str(archive(tmp_path, CODE)),))
    planned = {one.key: one.skipped for one in asyncio.run(plan_build(request))}
    assert planned["src/widget/_core.py"] == ""
    assert planned["tests/test_widget.py"]


def test_names_pass_through_several_modules_and_circles_end() -> None:
    exports = Exports()
    exports.read(
        "a", b"from .b import Thing as Best\nfrom .c import loop\ntry:\n    from a.b.d import x\nexcept E:\n    pass"
    )
    exports.read("a.b", b"from ._impl import Thing\nfrom os import path")
    exports.read("a.c", b"from . import loop")
    names = exports.public_names()
    assert names["a.b._impl.Thing"] == "a.Best"
    assert names["a.b.d.x"] == "a.x"
    assert not any("os" in name for name in names)


@pytest.mark.parametrize(
    "data", [b"def", b"\x00", b"(" * 10_000, b"from ........x import y", b"x = " + b"-" * 50_000 + b"1"]
)
def test_a_broken_module_exports_nothing(data: bytes) -> None:
    exports = Exports()
    exports.read("a", data)
    assert exports.public_names() == {}


def _paths() -> Iterator[tuple[str, str, str]]:
    yield "src/widget/__init__.py", "widget", "widget"
    yield "widget/deep/mod.py", "widget", "widget.deep.mod"
    yield "lib/index.js", "@scope/widget", "widget"
    yield "src/agent.rs", "ureq", "ureq.agent"
    yield "src/lib.rs", "ureq", "ureq"


@pytest.mark.parametrize(("path", "package", "name"), list(_paths()))
def test_modules_are_named_as_others_reach_them(path: str, package: str, name: str) -> None:
    assert module_name(path, package) == name


def test_tests_examples_and_declarations_next_to_their_source_are_no_interface() -> None:
    paths = [
        "a/x.py",
        "a/x.pyi",
        "a/y.pyi",
        "tests/t.py",
        "setup.py",
        "examples/e.js",
        "lib/a.js",
        "lib/a.d.ts",
        "b.d.ts",
    ]
    assert code_files(paths) == ["a/x.py", "a/y.pyi", "lib/a.js", "b.d.ts"]


async def test_comments_of_a_crate_are_searched_next_to_its_guides(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "widget"\nversion = "2.0.0"\n',
        "src/lib.rs": "/// Stops every wheel with a force.\npub fn brake(force: u32) {}\n\n/// Turns.\npub struct Widget;\n",
        "docs/guide.md": "# Guide\n\nThe `Widget` and `brake()` are all there is.\n",
    }
    async with await AsyncPack.open(await asyncio.to_thread(built, tmp_path, files)) as pack:
        answer = await pack.ask("What stops every wheel with a force?")
        assert answer.sources[0].article == "src/lib.rs"


async def test_hidden_lines_of_examples_in_rust_are_left_out(tmp_path: Path) -> None:
    lib = """/// Stops every wheel with a force.
///
/// ```
/// # use widget::brake;
/// # #[derive(Debug)]
/// #
/// #[allow(unused)]
/// fn stop() {
///     # let wheels = all();
///     brake(1);
/// ## escaped
/// }
/// ```
///
/// ```no_run,edition2021
/// # fn main() {
/// # }
/// ```
///
/// ```toml
/// # a comment
/// widget = "2"
/// ```
pub fn brake(force: u32) {}
"""
    files = {"Cargo.toml": '[package]\nname = "widget"\nversion = "2.0.0"\n', "src/lib.rs": lib}
    async with await AsyncPack.open(await asyncio.to_thread(built, tmp_path, files)) as pack:
        text = await pack.article("src/lib.rs")
    assert "#[allow(unused)]\nfn stop() {\n    brake(1);\n# escaped\n}" in text
    assert '# a comment\nwidget = "2"' in text
    for hidden in ("use widget", "derive", "let wheels", "fn main"):
        assert hidden not in text


GOOGLE = '''def spin(speed: int, *axes: str) -> None:
    """Start.

    Args:
        speed (int, optional): Turns a second,
            counted at the axle. Defaults to `7`.
        *axes: Names.

    Raises:
        KeyError: There is no axle.
        OSError

    Returns:
        ValueError: not raised.
    """
'''


async def test_lists_in_googles_style_are_fields(tmp_path: Path) -> None:
    files = {"PKG-INFO": "Name: spin\nVersion: 2.0\n\n", "README.md": "# Spin\n", "spin/__init__.py": GOOGLE}
    async with await AsyncPack.open(await asyncio.to_thread(built, tmp_path, files)) as pack:
        query = "MATCH (a)-[r:ENTITY_RELATION]->(b) RETURN a.name, r.type, b.name ORDER BY b.name"
        found = await pack.cypher(query)
        stated = await pack.cypher("MATCH (f:Fact {kind: 'default'}) RETURN f.subject, f.value")
        page = await pack.article("spin.spin")
    assert found.rows == (("spin", "raises", "KeyError"), ("spin", "raises", "OSError"))
    assert stated.rows == (("speed", "7"),)
    assert "counted at the axle" in page and "ValueError" in page


def test_a_list_with_a_line_that_names_nothing_stays_as_it_is() -> None:
    text = "Start.\n\nRaises:\n    KeyError: if so.\n    It may raise others\n"
    assert google_fields(text) == text
