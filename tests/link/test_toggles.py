"""Incremental == clean (I1) where it is hard: lines that depend on each other across files are switched on and off.

Every line of `LINES` was chosen so that switching another one changes what it links to: a base class, a returned type, what a
star import brings, who owns a name, whether a folder or package exists.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atlas import _parser

LANGUAGES = _parser.Languages([str(Path(__file__).parents[2] / "atlas" / "languages")])

LINES: dict[str, list[str]] = {
    "root.py": [
        "class Root:\n    def step(self): pass\n    def itself(self): return self",
        "class Other:\n    def step(self): pass\n    def jump(self): pass",
        "def make():\n    return Root()",
        "def make():\n    return Other()",
        "held = Root()",
        "held = Other()",
        "def held():\n    return Other()",
        "class held:\n    def step(self): pass",
        "Alias = Root",
        "Alias = Other",
        "from elsewhere import Root",
    ],
    "root.pyi": ["class Root:\n    def step(self) -> None: ...", "def make() -> Root: ..."],
    "base.py": [
        "from root import *",
        "from root import Root as Parent",
        "from root import Other as Parent",
        "from root import make, held, Alias",
        "class Base(Parent):\n    def __init__(self):\n        self.kept = Parent()",
        "class Base(Parent):\n    def jump(self): pass",
        "class Base:\n    kept = make()\n    def step(self): pass",
        "def build():\n    return make()",
        "def build() -> 'Parent': ...",
    ],
    "user.py": [
        "from base import *",
        "from base import Base, build",
        "import base",
        "class Child(Base):\n    def go(self):\n        self.step()\n        self.jump()\n        self.kept.step()",
        "class Child(Base):\n    def step(self): super().step()",
        "def use(x: Base):\n    x.step()\n    x.kept.jump()\n    x.itself().jump()",
        "def call():\n    build().step()\n    base.make().jump()\n    base.held.step()\n    Alias().step()\n    run(build)",
        "def far(z):\n    z.distinctive_name()",
    ],
    "lib/__init__.py": ["from .thing import Lone", "from root import make", ""],
    "lib/thing.py": [
        "class Lone:\n    def distinctive_name(self): pass",
        "class Second:\n    def distinctive_name(self): pass",
        "def distinctive_name(): pass",
    ],
    "main.py": [
        "import lib.thing",
        "from lib import Lone, make",
        "import lib",
        "import ns\nns.tool.work()",
        "lib.thing.Lone().distinctive_name()\nLone().distinctive_name()\nlib.make()\nlib.Second()\nmake().step()",
    ],
    "lib/extra.py": ["def spare(): pass"],
    "ns/tool.py": ["def work(): pass"],
    "tests/test_it.py": [
        "from base import build",
        "from root import *",
        "def test_it():\n    build().step()\n    make()",
    ],
    "README.md": ["See `Root.step`, `distinctive_name`, `Base` and `root.make`.", "[lib](lib/thing.py) `root.py`"],
    "cjs/app.js": [
        "var app = exports = module.exports = {}",
        "function app() {}\nmodule.exports = app",
        "module.exports = { step() { this.jump() }, jump: other }",
        "app.step = function () { this.jump() }",
        "app.prototype.step = function () { this.jump(); this.kept.jump() }",
        "exports.step = function () { exports.jump() }",
        "function other() {}\nfunction make() { return { step() {} } }\nexports.make = make",
    ],
    "cjs/base.js": [
        "module.exports = Base\nfunction Base() { this.kept = new Base() }\nBase.prototype.jump = function () {}",
        "exports.jump = function () {}",
        "module.exports = require('./app')",
    ],
    "cjs/main.js": [
        "const app = require('./app')\nconst Base = require('./base')",
        "const { step, make } = require('./app')\nstep(); make().step()",
        "app.step(); new app().step(); app.jump(); require('./base').jump()",
        "require('util').inherits(app, Base)",
        "Object.assign(app, Base)",
        "app.extra = function () { this.step(); Base.prototype.jump.call(this) }",
        "new app().kept.jump(); app.extra()",
    ],
    "web/types.ts": [
        "export interface Thing<T extends Root> { kept: T; run(): void }\nimport { Root } from './a'",
        "export const Thing: Maker<Thing> = make('x', (inst) => { inst.go = () => inst.run() })",
        "export type Thing = { kept: Root }\nimport { Root } from './a'",
        "export default { run: use }\nfunction use(x: Thing) { x.kept.step(); x.run() }",
    ],
    "web/uses.ts": [
        "import types, { Thing } from './types'",
        "export function go<T extends Thing>(x: T) { x.kept.step(); x.run(); new Thing(); types.run(x) }",
    ],
    "web/a.ts": [
        "export class Root { step() {} }",
        "export default class Deep { step() {} }",
        "export function make(): Root { return new Root(); }",
        "export * from './b';",
    ],
    "web/b.ts": [
        "export class Root { step() {} }",
        "export const held = 1;",
        "import Deep from './a';\nnew Deep().step();",
    ],
    "web/index.ts": [
        "import { Root, make, held } from './a';",
        "import * as all from './a';",
        "class Child extends Root { go() { this.step(); super.step(); } }",
        "function use(x: Root) { x.step(); make().step(); all.make(); new all.Root(); run(held); }",
    ],
    "go/a/a.go": [
        "package a",
        "type Root struct{}\n",
        "type Root struct{ Other }\n",
        "func Make() *Root { return &Root{} }\n",
        "func Use(r *Root) { r.Step(); Make().Step(); help() }\n",
    ],
    "go/a/b.go": [
        "package a",
        "func (r *Root) Step() {}\n",
        "type Other struct{}\nfunc (o *Other) Step() {}\n",
        "func help() {}\n",
    ],
    "go/main.go": ['package main\nimport "example.com/x/a"\nfunc main() { a.Make().Step(); a.Use(nil) }\n'],
    "java/p/Root.java": [
        "package p;",
        "import q.*;",
        "public class Root extends Other { void go() { step(); other.jump(); } }",
        "public class Root { q.Other other; void step() {} void go() { step(); other.jump(); } }",
    ],
    "java/p/Other.java": ["package p;", "package q;", "public class Other { void step() {} void jump() {} }"],
}
SUBPROJECTS = [("go", "go", "example.com/x")]

Edit = tuple[str, frozenset[int] | None]


def switches(path: str) -> st.SearchStrategy[Edit]:
    lines = st.frozensets(st.integers(0, len(LINES[path]) - 1))
    return st.tuples(st.just(path), st.one_of(lines, lines, lines, st.none()))


def parse(path: str, on: frozenset[int]) -> _parser.ParsedFile:
    text = "\n".join(line for number, line in enumerate(LINES[path]) if number in on)
    return _parser.parse_bytes(LANGUAGES, path, text.encode())


def new_linker() -> _parser.Linker:
    linker = _parser.Linker("p", LANGUAGES)
    linker.set_subprojects(SUBPROJECTS)
    return linker


ALL_ON = {path: frozenset(range(len(lines))) for path, lines in LINES.items()}


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    start=st.fixed_dictionaries({path: st.frozensets(st.sampled_from(range(len(LINES[path])))) for path in LINES}),
    edits=st.lists(st.sampled_from(sorted(LINES)).flatmap(switches), min_size=1, max_size=12),
)
def test_switching_lines(start: dict[str, frozenset[int]], edits: list[Edit]) -> None:
    files = {path: parse(path, on) for path, on in start.items()}
    linker = new_linker()
    linker.update(list(files.values()))
    before = linker.digests()
    for path, on in edits:
        if on is None:
            files.pop(path, None)
            reported = linker.update([], [path])
        else:
            files[path] = parse(path, on)
            reported = linker.update([files[path]])
        after = linker.digests()
        fresh = new_linker()
        fresh.update(list(reversed(files.values())))
        assert after == fresh.digests()
        # what is reported is exactly what differs
        assert reported == sorted(name for name in after if after[name] != before.get(name))
        before = after


def test_each_line_alone() -> None:
    """From everything on: each line off and on again."""
    files = {path: parse(path, on) for path, on in ALL_ON.items()}
    linker = new_linker()
    linker.update(list(files.values()))
    clean = linker.digests()
    for path, on in ALL_ON.items():
        for line in on:
            without = parse(path, on - {line})
            linker.update([without])
            fresh = new_linker()
            fresh.update([*(file for name, file in files.items() if name != path), without])
            assert linker.digests() == fresh.digests(), (path, LINES[path][line])
            linker.update([files[path]])
            assert linker.digests() == clean


def test_each_file_away_while_another_is_empty() -> None:
    """Who asked for a file that is not there is linked again when it appears, whatever else could have told him."""
    files = {path: parse(path, on) for path, on in ALL_ON.items()}
    for emptied in LINES:
        state = files | {emptied: parse(emptied, frozenset())}
        linker = new_linker()
        linker.update(list(state.values()))
        clean = linker.digests()
        for path in LINES:
            linker.update([], [path])
            fresh = new_linker()
            fresh.update([file for name, file in state.items() if name != path])
            assert linker.digests() == fresh.digests(), (emptied, path)
            linker.update([state[path]])
            assert linker.digests() == clean, (emptied, path)
