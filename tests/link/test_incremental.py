"""Incremental == clean (I1) for linking: random edits of random projects, in any order, give the graph of a fresh linker."""

from __future__ import annotations

import tempfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atlas import _parser
from atlas.code.index.detectors import built_in
from atlas.parsing import load_languages

LANGUAGES = load_languages(detectors=built_in())

PATHS = [
    "app/__init__.py",
    "app/a.py",
    "app/b.py",
    "app/a.pyi",
    "app/models.py",
    "app/deep/__init__.py",
    "app/deep/c.py",
    "app/deep/a.py",
    "lib/tool.py",
    "main.py",
    "tests/test_a.py",
    "guide.md",
    "web/index.ts",
    "web/part.ts",
    "cjs/one.js",
    "cjs/two.js",
    "java/One.java",
    "java/deep/Two.java",
    "go/a.go",
    "go/b.go",
    "pyproject.toml",
    "lib/requirements.txt",
    "requirements.txt",
    "poetry.lock",
    ".knowledge/a.md",
    ".knowledge/b.md",
    ".knowledge/deep/c.md",
]
MODULES = ["app", "app.a", "app.b", "app.deep", "app.deep.c", "app.deep.a", "lib.tool", "main", "lib", "elsewhere"]
CLASSES = ["One", "Two"]
NAMES = [*CLASSES, "work", "prepare_it"]

classes = st.sampled_from(CLASSES)
names = st.sampled_from(NAMES)
# few modules are named often, so that names are often found
modules = st.one_of(st.sampled_from(["app.a", "app.b"]), st.sampled_from(MODULES))
relatives = st.one_of(st.sampled_from([".a", ".b"]), st.sampled_from([".", "..", "..a", ".deep", ".deep.c"]))

paths = st.sampled_from(['"/a"', '"/b"', "One", "work"])

python_blocks = st.one_of(
    st.builds("import {}".format, modules),
    st.builds("import {} as other".format, modules),
    st.builds("from {} import {}".format, st.one_of(modules, relatives), names),
    st.builds("from {} import {} as {}".format, st.one_of(modules, relatives), names, names),
    st.builds("from {} import *".format, st.one_of(modules, relatives)),
    st.builds("from {} import {}".format, relatives, st.sampled_from(["a", "b", "c", "deep"])),
    st.builds("{} = {}".format, names, names),
    st.builds("{} = {}()".format, names, names),
    st.builds("def {}(x: {}, y=None):\n    y.{}()\n    return x.{}()".format, names, names, names, names),
    st.builds("def {}() -> {}: ...".format, names, names),
    st.builds("def {}():\n    return {}()".format, names, names),
    st.builds("def test_{}():\n    {}().{}()".format, names, names, names),
    st.builds(
        "class {}({}):\n    held = {}()\n    def __init__(self):\n        self.kept = {}()\n"
        "    def {}(self):\n        self.kept.{}()\n        self.{}()\n        return self".format,
        names,
        names,
        names,
        names,
        names,
        names,
        names,
    ),
    st.builds("class {}:\n    def {}(self): super().{}()".format, names, names, names),
    st.builds("class {}({}):\n    kept = {}()\n    def {}(self): pass".format, classes, classes, classes, names),
    st.builds("class {}:\n    def {}(self): pass".format, classes, names),
    st.builds("{}().{}()\n{}().kept.{}()".format, classes, names, classes, names),
    st.builds("from app.a import *\n{}().{}()\n{}().kept.{}()".format, classes, names, classes, names),
    st.builds("def {}(): return {}()\n{}().{}()".format, names, classes, names, names),
    st.builds("other.{}({}, app.a.{}, lib.tool)".format, names, names, names),
    st.builds("{}().{}().kept.{}()".format, names, names, names),
    # a later call of the same name moves while the first one stays
    st.builds("def {}():\n    {}()\n{}    {}()".format, names, classes, st.sampled_from(["", "\n", "\n\n"]), classes),
    st.builds("class {}({}): pass".format, names, st.sampled_from(["Exception", "object"])),
    # routers that files mount, share and pass on; handlers of other files; events and constants
    st.builds("from fastapi import APIRouter\n{} = APIRouter(prefix={}, tags=[1])".format, names, paths),
    st.builds("app.include_router({}, prefix={})".format, names, paths),
    st.builds("from {} import {} as router\nrouter.include_router({})".format, modules, names, names),
    st.builds("@{}.get({})\ndef {}(): ...".format, names, paths, names),
    st.builds("router.add_api_route({}, {})".format, paths, names),
    st.builds(
        'from django.urls import include, path\nurlpatterns = [path("x/", include("{}")), path("y", {})]'.format,
        modules,
        names,
    ),
    st.builds("def {}(router):\n    router.add_api_route({}, {})".format, names, paths, names),
    st.builds('{} = "/{}"'.format, names, names),
    st.builds("from django.dispatch import receiver\n@receiver({})\ndef {}(): {}.send()".format, names, names, names),
    st.builds("def {}(x):\n    if isinstance(x, {}):\n        x.{}()\n    x.{}()".format, names, names, names, names),
    st.builds("@{}\ndef {}(x={}, y={}()):\n    x.{}(y)\n    return x".format, names, names, names, names, names),
    st.builds("def {}(x) -> {}: ...\n@{}\ndef other(): yield {}()".format, names, names, names, names),
    st.builds("with other() as it: it.{}()\n{}({}()).{}()".format, names, names, classes, names),
    st.builds("class {}({}):\n    def {}(self): super({}, self).{}()".format, classes, classes, names, classes, names),
    st.builds("if x:\n    def {}(): pass\nelse:\n    def {}(): pass\n{} = None".format, names, names, names),
    # paths in settings and calls, and operators between objects
    st.builds('MIDDLEWARE = ["{}.{}"]'.format, modules, names),
    st.builds('import pydoc\ndef {}(): return pydoc.locate("{}.{}")().{}()'.format, names, modules, names, names),
    st.builds('AUTH_USER_MODEL = "{}.{}"'.format, st.just("app"), classes),
    st.builds("from django.contrib.auth import get_user_model\nget_user_model()().{}()".format, names),
    st.builds(
        "class {}:\n    def __or__(self, other): return {}()\n({}() | {}()).{}()".format,
        *[classes] * 4,
        names,
    ),
)
document_blocks = st.one_of(
    st.builds("# {}\n\nSee `{}` and `{}.{}()`.".format, names, names, names, names),
    st.builds("[x]({}) and `{}`".format, st.sampled_from(PATHS), st.sampled_from(PATHS)),
)
script_blocks = st.one_of(
    st.builds("import {{ {} }} from './part'".format, names),
    st.just("import * as other from './index'"),
    st.builds("export {{ {} }} from './part'".format, names),
    st.just("export * from './part'"),
    st.builds("export function {}() {{ {}() }}".format, names, names),
    st.builds("export class {} extends {} {{ {}() {{ this.{}() }} }}".format, names, names, names, names),
    st.builds("other.{}()".format, names),
    st.builds("export class {} extends Error {{}}".format, names),
    st.builds("export const {}: {}<{}> = make('x', (inst) => {{ inst.{} = () => inst.{}() }})".format, *[names] * 5),
    st.builds("export interface {}<T extends {}> {{ kept: T; {}(): {} }}".format, *[names] * 4),
    st.builds("export function {}(x: {}) {{ x.kept.{}(); new {}().{}() }}".format, *[names] * 5),
    st.builds("export type {} = {{ kept: {} }}".format, names, names),
)
common_js_blocks = st.one_of(
    st.builds("const {} = require('./{}')".format, names, st.sampled_from(["one", "two"])),
    st.builds("const {{ {} }} = require('./{}')".format, names, st.sampled_from(["one", "two"])),
    st.builds("var {} = exports = module.exports = {{}}".format, names),
    st.builds("module.exports = {}".format, names),
    st.builds("module.exports = {{ {}, {}() {{ this.{}() }} }}".format, names, names, names),
    st.builds("exports.{} = {}".format, names, names),
    st.builds("exports.{} = exports.{} = function () {{ this.{}() }}".format, names, names, names),
    st.builds("function {}() {{ this.kept = new {}(); this.{} = () => this.{}() }}".format, *[names] * 4),
    st.builds("{}.prototype.{} = function () {{ this.kept.{}(); this.{}() }}".format, *[names] * 4),
    st.builds("{}.{} = function () {{ {}.{}.call(this) }}".format, *[names] * 4),
    st.builds("require('util').inherits({}, {})".format, names, names),
    st.builds("{}.prototype = Object.create({}.prototype)".format, names, names),
    st.builds("Object.assign({}, {})".format, names, names),
    st.builds("function {}() {{ return {{ {}() {{ {}() }} }} }}\n{}().{}()".format, *[names] * 5),
    st.builds("new {}().{}(); require('./one').{}()".format, names, names, names),
)
# packages that several files declare, and names that they share
packages = st.sampled_from(["app", "app.a", "org.One", "org"])
java_blocks = st.one_of(
    st.builds("package {};".format, packages),
    st.builds("import {}.{};".format, packages, classes),
    st.builds("public class {} extends {} {{ {} held; void {}() {{ held.{}(); }} }}".format, *[names] * 5),
    st.builds("class {} {{ static {} {}() {{ return new {}(); }} }}".format, classes, classes, names, classes),
)
go_blocks = st.one_of(
    st.builds("package {}".format, st.sampled_from(["one", "two"])),
    st.builds('import "example.com/{}"'.format, names),
    st.builds("type {} struct {{ held {} }}".format, names, names),
    st.builds("func (it *{}) {}() {{ it.held.{}() }}".format, names, names, names),
    st.builds("func {}() {{ {}(); {}.Run() }}".format, names, names, names),
)


# few ids, so that files share them and relations find their targets
claims = st.sampled_from([f"c-01JD2V9Q7K4M8N3P5R6S7T8V9{last}" for last in "AB"])
entities = st.just("e-01JD2V9Q7K4M8N3P5R6S7T8V9A")
# papers that several notes name become one node, which goes with the last of them
sources = st.sampled_from(["", "arxiv:1706.03762", "arXiv:1706.03762v5 and doi:10.18653/v1/N18-1202", "somewhere"])
targets = st.one_of(claims, entities, st.builds("symbol:app.a.{}".format, names), st.just("file:main.py"))
notes = st.one_of(
    st.builds(
        (
            "---\nid: {}\nkind: claim\nsource: {}\nrelations: [{{type: {}, to: {}}}]\nabout: [{{symbol: app.b.{}}}]\n"
            "---\nA {}."
        ).format,
        claims,
        sources,
        st.sampled_from(["supports", "refutes", "unknown"]),
        targets.map(lambda target: f'"{target}"'),
        names,
        names,
    ),
    st.builds("---\nid: {}\nkind: entity\nname: {}\n---\n- {}\n- {}".format, entities, names, names, names),
    st.builds("---\nid: {}\nkind: {}\n---\n# See `{}`".format, claims, st.sampled_from(["claim", "other"]), names),
    document_blocks,
)


# packages that the Python files import, and places of other manifests; some text is broken
requirements = st.sampled_from(
    ["app", "elsewhere>=1", "lib==2", "PyYAML", "-r ../requirements.txt", "-c lib/x.txt", "!"]
)
manifests = {
    "pyproject.toml": st.lists(requirements, max_size=3).map(
        lambda names: f"[project]\nname = 'app'\ndependencies = {names}\n{'[' if '!' in names else ''}"
    ),
    "poetry.lock": st.sampled_from(["1.0", "2.0"]).map('[[package]]\nname = "elsewhere"\nversion = "{}"\n'.format),
    "requirements.txt": st.lists(requirements, max_size=4).map("\n".join),
}


def blocks(path: str) -> st.SearchStrategy[str]:
    if (manifest := manifests.get(path.rpartition("/")[2])) is not None:
        return manifest
    if path.startswith(".knowledge/"):
        return notes
    kinds = {"md": document_blocks, "ts": script_blocks, "js": common_js_blocks, "java": java_blocks, "go": go_blocks}
    return st.lists(kinds.get(path.rsplit(".", 1)[1], python_blocks), max_size=6).map("\n".join)


edits = st.sampled_from(PATHS).flatmap(
    lambda path: st.tuples(st.just(path), st.one_of(st.none(), blocks(path), blocks(path)))
)


def parse(path: str, text: str) -> _parser.ParsedFile:
    return _parser.parse_bytes(LANGUAGES, path, text.encode())


def fresh(files: dict[str, _parser.ParsedFile]) -> dict[str, str]:
    linker = _parser.Linker("p", LANGUAGES)
    linker.update(list(files.values()))
    return linker.digests()


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(edits, min_size=1, max_size=4), min_size=1, max_size=8), st.booleans())
def test_edits_in_batches(batches: list[list[tuple[str, str | None]]], rests: bool) -> None:
    linker = _parser.Linker("p", LANGUAGES)
    files: dict[str, _parser.ParsedFile] = {}
    before: dict[str, str] = {}
    for batch in batches:
        wanted = dict(batch)
        changed = [parse(path, text) for path, text in wanted.items() if text is not None]
        removed = [path for path, text in wanted.items() if text is None]
        for file in changed:
            files[file.path] = file
        for path in removed:
            files.pop(path, None)
        reported = linker.update(changed, removed)
        after = linker.digests()
        clean = fresh(files)
        assert after == clean
        # what is reported is exactly what differs
        assert reported == sorted(path for path in after if after[path] != before.get(path))
        before = after
        if rests:
            linker.rest()


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.lists(edits, min_size=1, max_size=4), st.booleans()), min_size=2, max_size=8))
def test_edits_in_several_processes(batches: list[tuple[list[tuple[str, str | None]], bool]]) -> None:
    """A linker that continues from the snapshot of another one equals it, however often this happens."""
    linker = _parser.Linker("p", LANGUAGES)
    files: dict[str, _parser.ParsedFile] = {}
    before: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        cache = _parser.FactsCache(f"{folder}/facts.bin")
        for batch, ends in batches:
            wanted = dict(batch)
            changed = [parse(path, text) for path, text in wanted.items() if text is not None]
            removed = [path for path, text in wanted.items() if text is None]
            files.update({file.path: file for file in changed})
            for path in removed:
                files.pop(path, None)
            cache.put(changed)
            reported = linker.update(changed, removed)
            after = linker.digests()
            assert after == fresh(files)
            assert reported == sorted(path for path in after if after[path] != before.get(path))
            before = after
            cache.replace([(path, files[path].digest if path in files else "") for path in wanted])
            if ends:
                assert linker.save(cache, "rules")
                linker = _parser.Linker("p", LANGUAGES)
                units = [(path, files[path].digest if path else "", digest) for path, digest in after.items()]
                assert linker.restore(cache, "rules", units)
                assert linker.digests() == after
                for path, unit in ((path, linker.unit(path)) for path in after):
                    assert unit.digest == after[path]


def test_rows_follow_the_digest() -> None:
    """A digest is over the rows: the rows of an incremental linker equal those of a fresh one."""
    texts = {"a.py": "class A:\n    def step(self): pass\n", "b.py": "from a import A\nA().step()\n"}
    linker = _parser.Linker("p", LANGUAGES)
    linker.update([parse("b.py", texts["b.py"])])
    linker.update([parse("a.py", "")])
    linker.update([parse("a.py", texts["a.py"])])
    other = _parser.Linker("p", LANGUAGES)
    other.update([parse(path, text) for path, text in texts.items()])
    for path in ["", "a.py", "b.py"]:
        assert linker.unit(path).nodes() == other.unit(path).nodes()
        assert linker.unit(path).edges() == other.unit(path).edges()
        assert linker.unit(path).digest == other.unit(path).digest == linker.digests()[path]


def test_rows_after_a_rest_are_the_same() -> None:
    """Facts that were packed and edges that were dropped come back as they were, texts included."""
    texts = {
        "a.py": 'import json\nclass A:\n    """Says hello."""\n    def step(self): return json.dumps(self)\n',
        "b.py": "from a import A\nA().step()\n",
        "c.md": "# Note\n\nSee `A.step`.\n",
    }
    linker = _parser.Linker("p", LANGUAGES)
    linker.update([parse(path, text) for path, text in texts.items()])
    rows = {path: all_rows(linker.unit(path), texts.get(path, "")) for path in ["", *texts]}
    assert ("p:b", "p:a.A.step", "CALLS") in [edge[:3] for edge in linker.unit("b.py").edges()]
    linker.rest()
    linker.rest()
    assert {path: all_rows(linker.unit(path), texts.get(path, "")) for path in ["", *texts]} == rows
    linker.update([], ["c.md"])
    assert sorted(linker.digests()) == ["", "a.py", "b.py"]


def all_rows(unit: _parser.Unit, text: str) -> tuple[list[object], ...]:
    return [*unit.nodes()], [*unit.edges()], [*unit.texts(text.encode())], [unit.resolved, unit.unresolved]
