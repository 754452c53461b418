"""Inheritance of thousands of levels takes linear time and memory; what is beyond the limit is unknown, not absent."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from atlas import _parser

LANGUAGES = _parser.Languages([str(Path(__file__).parents[2] / "atlas" / "languages")])
LEVELS = 4_000


def linked(path: str, source: str) -> _parser.Linker:
    linker = _parser.Linker("p", LANGUAGES)
    began = time.process_time()
    linker.update([_parser.parse_bytes(LANGUAGES, path, source.encode(), timeout_ms=60_000)])
    assert time.process_time() - began < 6  # it took minutes and gigabytes
    return linker


def called(linker: _parser.Linker, path: str, caller: str) -> set[str]:
    edges = linker.unit(path).edges()
    return {edge[1].rpartition(":")[2] for edge in edges if edge[2] == "CALLS" and edge[0].endswith(caller)}


def python(level: int) -> str:
    own = f"    def own{level}(self): pass\n"
    return f"class A{level}(A{level - 1}, B{level - 1}):\n{own}class B{level}(A{level - 1}): pass\n"


def test_diamonds_of_python() -> None:
    levels = "".join(python(level) for level in range(1, LEVELS))
    use = f"def f(x: A{LEVELS - 1}):\n    x.own{LEVELS - 1}()\n    x.own{LEVELS - 9}()\n    x.far()\n"
    linker = linked("a.py", f"class A0:\n    def far(self): pass\nclass B0: pass\n{levels}{use}")
    assert called(linker, "a.py", "a.f") >= {f"a.A{LEVELS - 9}.own{LEVELS - 9}", f"a.A{LEVELS - 1}.own{LEVELS - 1}"}


@pytest.mark.parametrize(
    ("path", "level", "end"),
    [
        ("a.ts", "interface A{0} extends A{1}, B{1} {{}}\ninterface B{0} extends A{1}, B{1} {{}}\n", "interface A{0} {{ m(): void }}"),
        ("a.go", "type A{0} struct {{ A{1}; B{1} }}\ntype B{0} struct {{ *A{1}; *B{1} }}\n", "type A{0} struct {{}}\nfunc (a A{0}) M() {{}}"),
        ("a.go", "type A{0} interface {{ A{1}; B{1} }}\ntype B{0} interface {{ A{1}; B{1} }}\n", "type A{0} interface {{ M() }}\ntype S struct {{}}\nfunc (s S) M() {{}}"),
        ("A.java", "interface A{0} extends A{1}, B{1} {{}}\ninterface B{0} extends A{1}, B{1} {{}}\n", "interface A{0} {{ void m(); }}"),
        ("a.rb", "module A{0}\n  include A{1}\n  include B{1}\nend\nmodule B{0}\n  include A{1}\nend\n", "module A{0}\n  def m; end\nend"),
    ],
)  # fmt: skip
def test_diamonds_of_other_languages(path: str, level: str, end: str) -> None:
    head = "package a\n" if path.endswith(".go") else ""
    linker = linked(path, head + "".join(level.format(n, n + 1) for n in range(LEVELS)) + end.format(LEVELS) + "\n")
    inherits = {edge[:2] for edge in linker.unit(path).edges() if edge[2] == "INHERITS"}
    # modules of Ruby that define no method are packages, which inherit nothing
    assert len(inherits) >= (0 if path == "a.rb" else 3 * LEVELS - 2), "every level still has its own bases"
    assert linker.unit(path).nodes()


def test_a_cycle_of_classes() -> None:
    linker = linked("a.py", "".join(f"class A{n}(A{(n + 1) % 6000}, A{n * 7 % 6000}): pass\n" for n in range(6000)))
    assert sum(edge[2] == "INHERITS" for edge in linker.unit("a.py").edges()) >= 6000


def test_an_interface_that_embeds_more_than_the_limit_is_implemented_by_no_type() -> None:
    many = (
        "".join(f"type I{n} interface {{ I{n + 1}; M{n}() }}\n" for n in range(300))
        + "type I300 interface { Last() }\n"
    )
    methods = "".join(f"func (s S) M{n}() {{}}\n" for n in range(120))
    edges = linked("a.go", f"package a\n{many}type S struct {{}}\n{methods}").unit("a.go").edges()
    assert not [edge for edge in edges if edge[0].endswith(".S") and edge[1].endswith(".I0") and edge[2] == "INHERITS"]
