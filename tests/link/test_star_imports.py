"""Star imports that lead in circles: each module is searched once for a name, however many paths lead to it."""

from __future__ import annotations

from pathlib import Path

from atlas import _parser

LANGUAGES = _parser.Languages([str(Path(__file__).parents[2] / "atlas" / "languages")])
MODULES = 300
"""Searching along every path takes 13 CPU seconds for five such modules."""


def source(number: int) -> str:
    """Return a module that re-exports its root and uses a name of the next module and one that is nowhere."""
    following = (number + 1) % MODULES
    return (
        f"pub use crate::*;\npub use crate::m{following}::*;\npub use super::m{number * 7 % MODULES}::*;\n"
        f"pub fn f{number}() {{ f{following}(); unknown{number}(); far(); }}\n"
    )


def tree() -> dict[str, str]:
    """Return the files of a crate in which every module re-exports every other one."""
    root = "".join(f"mod m{number};\npub use self::m{number}::*;\n" for number in range(MODULES))
    files = {f"src/m{number}.rs": source(number) for number in range(MODULES)}
    return files | {"src/lib.rs": root, f"src/m{MODULES - 1}.rs": source(MODULES - 1) + "pub fn far() {}\n"}


def parse(path: str, text: str) -> _parser.ParsedFile:
    return _parser.parse_bytes(LANGUAGES, path, text.encode())


def linked(files: dict[str, str]) -> _parser.Linker:
    linker = _parser.Linker("p", LANGUAGES)
    linker.update([parse(path, text) for path, text in files.items()])
    return linker


def calls(linker: _parser.Linker, path: str) -> set[str]:
    return {edge[1].rpartition(".")[2] for edge in linker.unit(path).edges() if edge[2] == "CALLS"}


def test_circles_of_star_imports_end_and_names_far_away_are_found() -> None:
    linker = linked(tree())
    for number in (0, 1, MODULES // 2, MODULES - 1):
        assert calls(linker, f"src/m{number}.rs") == {f"f{(number + 1) % MODULES}", "far"}


def test_a_change_within_circles_gives_the_graph_of_a_new_linker() -> None:
    files, changed = tree(), {"src/m3.rs": "pub fn f3() {}\npub fn unknown9() {}\n"}
    linker = linked(files)
    linker.update([parse(path, text) for path, text in changed.items()])
    assert linker.digests() == linked(files | changed).digests()
    assert calls(linker, "src/m9.rs") == {"f10", "unknown9", "far"}
