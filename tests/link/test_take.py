"""Files that come in pieces, and a linker that spares memory: the graph is the one of all files at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas import _parser

LANGUAGES = _parser.Languages([str(Path(__file__).parents[2] / "atlas" / "languages")])
PATHS = ("a.py", "b.py", "c/__init__.py", "c/d.py")
BODIES = (
    "",
    "def go(): pass\n",
    "from a import go\nclass B:\n    def step(self): go()\n",
    "from b import B\nclass C(B):\n    def run(self): self.step()\n",
    "from c import *\nfrom c.d import C\nC().run()\n",
)
MANY = 2300
"""More than a linker that spares memory keeps unpacked."""

Piece = tuple[dict[str, str], list[str]]


def parse(path: str, text: str) -> _parser.ParsedFile:
    return _parser.parse_bytes(LANGUAGES, path, text.encode())


def fresh(files: dict[str, str]) -> dict[str, str]:
    linker = _parser.Linker("p", LANGUAGES)
    linker.update([parse(path, text) for path, text in files.items()])
    return linker.digests()


pieces = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(PATHS), st.sampled_from(BODIES), max_size=3),
        st.lists(st.sampled_from(PATHS), max_size=2),
    ),
    min_size=1,
    max_size=4,
)


@given(st.lists(pieces, min_size=1, max_size=4), st.booleans())
def test_pieces_make_the_whole(updates: list[list[Piece]], low_memory: bool) -> None:
    linker = _parser.Linker("p", LANGUAGES, low_memory=low_memory)
    files: dict[str, str] = {}
    before: dict[str, str] = {}
    for update in updates:
        for changed, removed in update:
            gone = [path for path in removed if path not in changed]
            linker.take([parse(path, text) for path, text in changed.items()], gone)
            files = {path: text for path, text in files.items() if path not in gone} | changed
        reported = linker.update()
        after = linker.digests()
        assert after == fresh(files)
        assert {path for path in after if after[path] != before.get(path)} <= set(reported) <= after.keys()
        before = after


def test_a_low_memory_linker_gives_the_same_units_for_many_files() -> None:
    texts = {
        f"m{number}.py": f"from m{number * 7 % MANY} import f as g\ndef f(x):\n    return g(x)\n"
        for number in range(MANY)
    }
    linker, other = (_parser.Linker("p", LANGUAGES, low_memory=low_memory) for low_memory in (True, False))
    for one in (linker, other):
        one.update([parse(path, text) for path, text in texts.items()])
        # an edit of what many others depend on
        one.update([parse("m0.py", "def f(x, y): return x\n")], ["m7.py"])
    assert linker.digests() == other.digests()
    linker.pack()
    for path in ("m0.py", "m1.py", f"m{MANY - 1}.py", ""):
        assert linker.unit(path).edges() == other.unit(path).edges()


@pytest.mark.parametrize("project", ["p", "of:two"])
@pytest.mark.parametrize("edges_first", [False, True])
def test_the_rows_of_a_unit_share_the_names_of_its_nodes(project: str, edges_first: bool) -> None:
    text = "import os\n\ndef first():\n    second()\n\ndef second():\n    os.getcwd()\n    first()\n"
    linker = _parser.Linker(project, LANGUAGES)
    linker.update([parse("a.py", text)])
    unit = linker.unit("a.py")
    edges = unit.edges() if edges_first else []
    nodes, texts, edges = unit.nodes(), unit.texts(text.encode()), edges or unit.edges()
    names = {row[0]: row[0] for row in nodes}
    assert [row[0] for row in texts] == list(names)
    assert all(name.startswith(f"{project}:") for name in names)
    calls = {(edge[0], edge[1]) for edge in edges if edge[2] == "CALLS" and edge[1] in names}
    assert calls == {(f"{project}:a.first", f"{project}:a.second"), (f"{project}:a.second", f"{project}:a.first")}
    assert all(edge[0] is names[edge[0]] for edge in edges)
    assert all(edge[1] is names[edge[1]] for edge in edges if edge[1] in names)
