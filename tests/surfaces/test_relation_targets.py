"""What a name in a question stands for, and what an answer about it asserts: recursion, renamed imports, paths."""

from __future__ import annotations

from pathlib import Path

from atlas.app.main import open_atlas
from atlas.code.tools.relation_answer import RelationAnswer
from atlas.code.tools.search.search import hybrid_search
from atlas.code.tools.search.search_answer import SearchAnswer
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES = {
    "lib/core.ts": "export default class Core {}\nexport interface Options {}\n",
    "lib/next.ts": 'import CoreBase, {Options} from "./core"\n\nexport class Next extends CoreBase {}\n',
    "lib/renamed.ts": 'import {Options as CoreOptions} from "./core"\n\nexport class Strict implements CoreOptions {}\n',
    "lib/walk.ts": (
        "export function walkTree(depth: number) {\n  if (depth) {\n    walkTree(depth - 1)\n  }\n}\n\n"
        "export function startWalk() {\n  walkTree(3)\n}\n\nexport function readLeaf(leaf: any) {\n  return leaf\n}\n"
    ),
    "lib/runs.ts": "".join(f"export class Run{name} {{\n  runOnce() {{}}\n}}\n" for name in "ABCD")
    + "export function runAll(run: RunA) {\n  run.runOnce()\n}\n",
}


def write_files(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


async def test_relations_of_recursive_renamed_and_unconnected_names(tmp_path: Path) -> None:
    root = tmp_path / "net"
    write_files(root, FILES)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        answers: dict[str, RelationAnswer] = {}
        for question in (
            "callers of walkTree",
            "who calls walkTree in walk.ts",
            "who calls walkTree in next.ts",
            "subclasses of CoreBase",
            "who implements CoreOptions",
            "subclasses of CoreMissing",
            "where is `CoreMissing` defined",
            "how does startWalk reach readLeaf?",
            "callers of runOnce",
        ):
            answer = await hybrid_search(atlas, question)
            assert isinstance(answer, RelationAnswer), question
            answers[question] = answer
    assert _found(answers["who calls walkTree in walk.ts"]) == {("lib/walk.ts", (3,)), ("lib/walk.ts", (8,))}
    assert _found(answers["who calls walkTree in next.ts"]) == set()
    assert _found(answers["callers of walkTree"]) == {("lib/walk.ts", (3,)), ("lib/walk.ts", (8,))}
    assert _found(answers["subclasses of CoreBase"]) == {("lib/next.ts", (3,))}
    assert _found(answers["who implements CoreOptions"]) == {("lib/renamed.ts", (3,))}
    assert _found(answers["subclasses of CoreMissing"]) == set()
    assert "\nno symbol `CoreMissing` that can have subclasses" in answers["subclasses of CoreMissing"].render()
    assert "\nno symbol `CoreMissing`\n" in answers["where is `CoreMissing` defined"].render()
    assert "\nimplementations of interface " in answers["who implements CoreOptions"].render()
    assert "\nsubclasses of class " in answers["subclasses of CoreBase"].render()
    listed = answers["callers of runOnce"]
    assert listed.subject_count == 4 and not listed.counts and len(_found(listed)) == 1
    path = answers["how does startWalk reach readLeaf?"]
    assert _found(path) == set()
    assert any("unknown rather than none" in note for note in path.evidence.notes)


def _found(answer: RelationAnswer) -> set[tuple[str, tuple[int, ...]]]:
    return {(group.path, line.lines) for group in answer.files for line in group.symbols}


async def test_a_protocol_method_and_names_under_the_folder_of_the_project(tmp_path: Path) -> None:
    """The folder is the package itself, and classes implement a method that no base declares."""
    root = tmp_path / "shapes"
    root.mkdir()
    (root / "__init__.py").write_text("")
    (root / "round.py").write_text("class Disc:\n    def __draw__(self):\n        return flat()\n")
    (root / "flat.py").write_text(
        "def flat():\n    return 1\n\n\nclass Box:\n    def __draw__(self):\n        return flat()\n"
    )
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        implementors = await hybrid_search(atlas, "which classes implement __draw__")
        callers = await hybrid_search(atlas, "callers of shapes.flat.flat")
    assert isinstance(implementors, RelationAnswer) and isinstance(callers, RelationAnswer)
    assert _found(implementors) == {("flat.py", (6,)), ("round.py", (2,))}
    assert implementors.outcome == "found"
    assert ("flat.py", (7,)) in _found(callers)


async def test_a_heading_is_searched_although_its_words_may_ask_for_a_relation(tmp_path: Path) -> None:
    root = tmp_path / "web"
    (root / "docs").mkdir(parents=True)
    (root / "docs/pages.md").write_text("# Pages\n\nText.\n\n## Template Inheritance\n\nA page extends another one.\n")
    (root / "site.py").write_text("def render_page(name): ...\n\nclass Template: ...\n\nclass Small(Template): ...\n")
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        known = await hybrid_search(atlas, "Template Inheritance")
        assert isinstance(known, RelationAnswer), "a class of this name is what is asked for"
        (root / "site.py").write_text("def render_page(name): ...\n")
        await indexed(root, tmp_path / "data")
        unknown = await hybrid_search(atlas, "Template Inheritance")
        assert isinstance(unknown, SearchAnswer)
        assert unknown.hits[0].symbol.name == "Template Inheritance"


async def test_a_path_to_a_name_that_nothing_has_is_searched(tmp_path: Path) -> None:
    root = tmp_path / "net"
    root.mkdir()
    (root / "server.py").write_text(
        "def serve_http(request):\n    return find_route(request)\n\n\n"
        'def find_route(request):\n    """The router looks up the path of a request."""\n    return request.path\n\n\n'
        "class State:\n    DONE_EARLY = 1\n\n\nLEFT_OPEN = 2\n"
    )
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        for question in (
            "how does serve_http call the router",
            "how does the dispatcher reach find_route?",
            "call path from serve_http to RouteDispatcher",
        ):
            answer = await hybrid_search(atlas, question)
            assert isinstance(answer, SearchAnswer), question
            assert {"serve_http", "find_route"} & {hit.symbol.name for hit in answer.hits[:2]}, question
        known = await hybrid_search(atlas, "how does serve_http reach find_route")
        for name in ("DONE_EARLY", "LEFT_OPEN"):
            value = (await hybrid_search(atlas, f"how does serve_http end up at {name}?")).render()
            assert f"`{name}` is no end of a chain of calls" in value and "no symbol is named" not in value
    assert isinstance(known, RelationAnswer)
    assert _found(known) == {("server.py", (2,))}


async def test_a_name_of_one_letter(tmp_path: Path) -> None:
    """It is a name if a definition is called exactly so, and otherwise the article `a`."""
    root = tmp_path / "short"
    root.mkdir()
    (root / "m.py").write_text("def a():\n    return 1\n\n\ndef call_it():\n    return a()\n\n\nclass I:\n    pass\n")
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        for question in ("callers of a", "who calls a?", "what calls a in m.py"):
            answer = await hybrid_search(atlas, question)
            assert isinstance(answer, RelationAnswer), question
            assert _found(answer) == {("m.py", (6,))}, question
        for question in ("callers of a function", "what uses a class", "where is i used", "callers of i"):
            assert isinstance(await hybrid_search(atlas, question), SearchAnswer), question


async def test_of_many_types_of_a_name_the_only_one_with_implementations_answers(tmp_path: Path) -> None:
    root = tmp_path / "alerts"
    senders = [f"sender{number}" for number in range(12)]
    files = {
        "go.mod": "module example.com/alerts\n\ngo 1.22\n",
        "notify/notify.go": "package notify\n\ntype Notifier interface {\n\tNotify(text string) error\n}\n",
    }
    for name in senders:
        files[f"{name}/{name}.go"] = (
            f"package {name}\n\ntype Notifier struct {{\n\turl string\n}}\n\n"
            "func (n *Notifier) Notify(text string) error {\n\treturn nil\n}\n"
        )
    write_files(root, files)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        answer = await hybrid_search(atlas, "which types implement Notifier")
        callers = await hybrid_search(atlas, "callers of Notifier")
    assert isinstance(answer, RelationAnswer) and isinstance(callers, RelationAnswer)
    assert answer.outcome == "found"
    assert {group.path for group in answer.files} == {f"{name}/{name}.go" for name in senders}
    assert "\nimplementations of interface " in answer.render()
    assert [note for note in answer.evidence.notes if "12 other symbols called `Notifier`" in note]
    assert callers.subject_count == 13


async def test_methods_that_override_one_of_their_name_have_a_base(tmp_path: Path) -> None:
    root = tmp_path / "overrides"
    root.mkdir()
    (root / "strategy.kt").write_text(
        "sealed class Strategy {\n"
        "  internal abstract fun trackFailure(): Strategy\n"
        "  class Count : Strategy() { override fun trackFailure(): Strategy = this }\n"
        "  class Window : Strategy() { override fun trackFailure(): Strategy = this }\n"
        "}\n"
    )
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await hybrid_search(atlas, "overrides of trackFailure")).render()
    assert "no common base method" not in said
    assert "Count.trackFailure" in said and "Window.trackFailure" in said


async def test_the_scheme_of_an_address_is_no_route(tmp_path: Path) -> None:
    root = tmp_path / "schemes"
    root.mkdir()
    (root / "app.py").write_text(
        "from flask import Flask\napp = Flask(__name__)\n@app.get('/')\ndef home(): ...\nclass SentinelBackend: ...\n"
    )
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        answer = await hybrid_search(atlas, "class that handles sentinel:// backends")
    assert isinstance(answer, SearchAnswer)
    assert "SentinelBackend" in answer.render()


DISPATCH = """
class Store:
    def load(self, key): ...
    def close(self): ...


class Disk(Store):
    def load(self, key):
        return super().close()


class Cached(Disk):
    def load(self, key):
        return super().load(key)


def read(store: Store):
    store.close()
    return store.load("a")
"""


async def test_callees_name_the_overrides_that_may_run_instead(tmp_path: Path) -> None:
    root = tmp_path / "net"
    root.mkdir()
    (root / "m.py").write_text(DISPATCH)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        read = await hybrid_search(atlas, "callees of read")
        cached = await hybrid_search(atlas, "callees of Cached.load")
    assert isinstance(read, RelationAnswer) and isinstance(cached, RelationAnswer)
    assert _found(read) == {("m.py", (3,)), ("m.py", (4,))}
    assert read.evidence.notes == (
        "a call of `Store.load` may run an override of it: Disk.load m.py:8, Cached.load m.py:13",
    )
    # `super().load()` runs that method alone
    assert cached.evidence.notes == ()


async def test_a_file_is_used_by_what_imports_it_and_imports_what_its_module_does(tmp_path: Path) -> None:
    root = tmp_path / "net"
    write_files(root, FILES)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        used = await hybrid_search(atlas, "is lib/core.ts used by anything?")
        imported = await hybrid_search(atlas, "what does lib/next.ts import")
    assert isinstance(used, RelationAnswer) and isinstance(imported, RelationAnswer)
    assert {path for path, _ in _found(used)} == {"lib/next.ts", "lib/renamed.ts"}
    assert {path for path, _ in _found(imported)} == {"lib/core.ts"}


async def test_a_package_imports_what_its_files_import(tmp_path: Path) -> None:
    files = {
        "go.mod": "module example.org/shop\n\ngo 1.22\n",
        "cart/cart.go": 'package cart\n\nimport (\n\t"strings"\n\n\t"example.org/shop/money"\n)\n\n'
        "func Total(text string) int { return money.Parse(strings.TrimSpace(text)) }\n",
        "cart/inner/inner.go": 'package inner\n\nimport "os"\n\nfunc Home() string { return os.Getenv("HOME") }\n',
        "money/money.go": "package money\n\nfunc Parse(text string) int { return len(text) }\n",
    }
    for name, text in files.items():
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_text(text)
    await indexed(tmp_path / "tree", tmp_path / "data")
    settings = load_settings(str(tmp_path / "tree"), str(tmp_path / "data"), environment=QUICK)
    async with open_atlas(settings) as atlas:
        imported = (await hybrid_search(atlas, "what does the package cart import")).render()
        own = (await hybrid_search(atlas, "what does the package cart import from this module?")).render()
    assert "imports of package cart: 2" in imported and "ext:strings" in imported and "ext:os" not in imported
    assert "imports of package cart in this project: 1 of 2" in own and "  money (" in own and "not applied" not in own


CONTRACTS = {
    "src/lib.rs": (
        "pub trait Source { fn read(&self); }\n\npub trait SourceExt: Source {}\n\nimpl<S: Source> SourceExt for S {}\n\n"
        "pub struct Disk<S>(S);\n\nimpl<S: Source> Source for Disk<S> { fn read(&self) {} }\n\n"
        "impl Source for std::net::TcpStream { fn read(&self) {} }\n\n"
        "pub fn drain<S: Source>(_: S) {}\n\npub fn open() -> impl Source {\n    Disk(std::net::TcpStream)\n}\n"
    ),
    "shop/Sink.java": "package shop;\n\ninterface Sink {}\n",
    "shop/Fast.java": "package shop;\n\ninterface FastSink extends Sink {}\n\nclass Pipe implements FastSink {}\n",
    "lib/gate.ts": "export interface Gate {}\nexport interface WideGate extends Gate {}\n",
}


async def test_a_contract_that_derives_from_another_implements_nothing(tmp_path: Path) -> None:
    write_files(root := tmp_path / "shop", CONTRACTS)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        source = (await hybrid_search(atlas, "what implements the Source trait?")).render()
        sink = (await hybrid_search(atlas, "which classes implement Sink?")).render()
        gate = (await hybrid_search(atlas, "implementations of the Gate interface")).render()
    assert "1 in 2 lines; 1 trait derives from it without an implementation" in source
    assert "SourceExt 3 (same-module 0.99): trait that derives from it" in source
    # a type of another package has no node: its line says its name; bounds of parameters are no such lines
    assert "1 more line may be such, without an edge: src/lib.rs:11 `impl Source for std::net::TcpStream" in source
    assert "1; 1 interface derives from it" in sink and "Pipe" in sink
    assert "no implementation found; 1 interface derives from it" in gate


INHERITED = {
    "shop/jobs.py": (
        "class Job:\n    def tidy_up(self):\n        pass\n\n\nclass Fast(Job):\n    def tidy_up(self):\n        return 1\n\n\n"
        "class Faster(Fast):\n    pass\n\n\nclass Slow(Job):\n    pass\n\n\nclass Mixed(Slow, Fast):\n    pass\n"
    ),
    "src/Loader.php": (
        "<?php\nabstract class Loader {\n  public function warmUp() {}\n}\nclass Disk extends Loader {\n"
        "  public function warmUp() { return 1; }\n}\nclass Memory extends Loader {}\n"
    ),
    "src/lib.rs": (
        "pub trait Gate { fn open_wide(&self) {} }\n\npub struct Iron;\nimpl Gate for Iron { fn open_wide(&self) {} }\n\n"
        "pub struct Wood;\nimpl Gate for Wood {}\n"
    ),
}


async def test_classes_that_have_a_method_as_it_is(tmp_path: Path) -> None:
    write_files(root := tmp_path / "shop", INHERITED)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        overriding = (await hybrid_search(atlas, "which jobs override Job.tidy_up and which ones keep it?")).render()
        assert "overrides of method shop.jobs.Job.tidy_up" in overriding
        # `Faster` has the override of `Fast`, and so may `Mixed`
        assert "inherited without an override by 1: Slow shop/jobs.py:15" in overriding
        for question, name, others in (
            ("which jobs don't override Job.tidy_up?", "  Slow 15", "  Faster 11"),
            ("which subclasses of Loader do not override warmUp", "  Memory 8", "  Disk 5"),
            ("types that inherit Gate.open_wide unchanged", "  lib.Wood 6", "  lib.Iron 3"),
        ):
            text = (await hybrid_search(atlas, question)).render()
            assert "without an override: 1\n" in text and name in text and others not in text, text
