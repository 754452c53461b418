"""An answer says none only where that is proven: names that stand elsewhere, or in skipped files, make it unknown."""

from __future__ import annotations

import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.impact import impact
from atlas.code.tools.search.search import hybrid_search
from atlas.code.tools.symbol.node import get_context, get_node
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository
from tests.surfaces.test_tools_impact import QUICK, indexed

NOTEBOOK = (
    '{"cells": [{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": '
    '["from nb.calc import mean_price\\n", "mean_price([1])\\n"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
)
LARGE = "# " + "x" * 60 + "\n"
FILES = {
    "a.py": "def first_of_a(): pass\n",
    "b.py": "from a import first_of_a\ndef g(): first_of_a()\n",
    "sub/impl.ts": "export function impl(a: number) { return a }\nexport function other() { return impl(2) }\n",
    "sub/kinds.py": "class Order:\n    pass\n\n\ndef order():\n    return Order()\n\n\ndef lone(): pass\n",
    "big/huge.py": LARGE * 20_000 + "def inside_huge(a):\n    return only_called_in_huge(a)\n",
    "huge_user.py": "def only_called_in_huge(a):\n    return a\n",
    "app/__init__.py": "",
    "use_app.py": "from app.base import Scaffold\n\n\ndef use_it():\n    return Scaffold()\n",
    "app/base.py": "class Scaffold:\n    def register_part(self, x):\n        return x\n",
    "app/site.py": (
        "from app.base import Scaffold\n\nclass Site(Scaffold):\n    pass\n\ndef mk():\n    Site().register_part(2)\n"
    ),
    "web/useThing.ts": "export function useThing() { return 1 }\n",
    "web/App.vue": "<template><p/></template>\n<script setup>\nimport { useThing } from './useThing'\n</script>\n",
    "web/page.html": "<script type='module'>\n  import { useThing } from './useThing.js'\n  useThing()\n</script>\n",
    "nb/calc.py": "def mean_price(rows):\n    return sum(rows)\n",
    "nb/book.ipynb": NOTEBOOK,
    "net/body.py": "class Body:\n    def open_it(self):\n        pass\n",
    "net/run.py": "class Own:\n    def go(self):\n        self.open_it()\n",
    "c/seg.c": "int pat_next(int a) { return a; }\n",
    "c/seg.h": "int pat_next(int a);\n",
    "c/test_seg.c": '#include "seg.h"\n' + "".join(f"TEST(seg, n{at}) {{\n  pat_next({at});\n}}\n" for at in range(30)),
    "web/routes.py": "from mystery import router\n\n@router.get('/users')\ndef users():\n    return []\n\ndef plain(): pass\n",
    "p/passed.py": "def helper_of_p(x):\n    return x\n\ndef apply(fn, x):\n    return fn(x)\n",
    "tests/test_passed.py": (
        "from p.passed import helper_of_p, apply\n\ndef test_direct():\n    assert helper_of_p(1) == 1\n\n"
        "def test_value():\n    assert apply(helper_of_p, 1) == 1\n"
    ),
    "go/go.mod": "module ex.com/g\n",
    "go/a.go": (
        "package g\n\nfunc patSegment(x int) int { return x }\n\nfunc mid(x int) int { return patSegment(x) }\n\n"
        "func midTwo(x int) int { return mid(x) }\n\nfunc Outer(x int) int { return midTwo(x) }\n"
    ),
    "go/a_test.go": 'package g\n\nimport "testing"\n\nfunc TestOuter(t *testing.T) { Outer(1) }\n',
    "ts/base.ts": "export interface Shape { area(): number }\nexport interface Named { n(): string }\n",
    "ts/index.ts": "export { Shape as PublicShape, Named } from './base'\n",
    "ts/impl.ts": (
        "import { PublicShape } from '@acme/shapes'\nimport { Named } from '@acme/shapes'\n"
        "export class Square implements PublicShape { area() { return 1 } }\n"
        "export class Tag implements Named { n() { return '' } }\n"
    ),
    "ts/known.ts": "import { Shape } from './base'\nexport class Circle implements Shape { area() { return 2 } }\n",
    "twins/one.py": "def twin_helper():\n    return 1\n",
    "twins/two.py": "def twin_helper():\n    return 2\n\n\ntwin_helper()\n",
    "many/many.py": "".join(f"class C{i}:\n    Solo = {i}\n" for i in range(20)) + "def solo():\n    return 1\n",
    "x/bottom.py": "class Bottom:\n    pass\n\n\ndef at_bottom():\n    pass\n\n\nrun_all(['at_bottom'])\n",
}


@asynccontextmanager
async def opened(root: Path, data: Path) -> AsyncIterator[Atlas]:
    async with open_atlas(load_settings(str(root), str(data), environment=QUICK)) as atlas:
        yield atlas


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("proof")


@pytest.fixture
async def tree(data: Path) -> AsyncIterator[Atlas]:
    root = data / "tree"
    if not root.exists():
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        await indexed(root, data / "data")
    async with opened(root, data / "data") as atlas:
        yield atlas


@pytest.mark.parametrize(
    ("subject", "parts"),
    [
        ("a.py", ["b.py", "g 2"]),
        ("a", ["b.py", "g 2"]),
        ("app", ["use_app.py"]),
        ("useThing", ["web/App.vue: module 3", "web/page.html"]),
        ("mean_price", ["nb/book.ipynb: module 1"]),
        ("nb/calc.py", ["nb/book.ipynb: module 1"]),
        ("open_it", ["unknown", "net/run.py", "Own.go 3: no such member"]),
        ("only_called_in_huge", ["unknown", "big/huge.py", "too-large"]),
        ("patSegment", ["go/a.go", "Outer 9", "TestOuter"]),
    ],
)
async def test_the_impact_lists_what_may_be_affected(tree: Atlas, subject: str, parts: list[str]) -> None:
    text = (await impact(tree, subject)).render()
    assert "nothing known to be affected" not in text
    assert [part for part in parts if part not in text] == [], text


async def test_nothing_affected_is_said_where_it_is_proven(tree: Atlas) -> None:
    assert "nothing known to be affected" in (await impact(tree, "lone")).render()


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("callers of useThing", ["unknown", "web/page.html:3"]),
        ("callers of mean_price", ["nb/book.ipynb", "module 1"]),
        ("callers of only_called_in_huge", ["unknown", "big/huge.py:20002 (too-large)"]),
        ("callers of at_bottom", ["unknown", "x/bottom.py:9"]),
        ("callers of Site.register_part", ["inherited from `Scaffold`", "mk 7"]),
        ("callers of sub/impl.ts::impl", ["other 2"]),
        ("where is inside_huge defined", ["big/huge.py:20001 looks like a definition", "too-large"]),
        ("tests of helper_of_p", ["test_direct 4", "test_value 7"]),
        ("tests of patSegment", ["TestOuter", "through go.Outer"]),
        ("who implements Shape", ["Circle 2", "at least: 1 more line", "ts/impl.ts:3"]),
        ("who implements Named", ["unknown", "ts/impl.ts:4"]),
        ("callers of LONE", ["no symbol is called exactly `LONE`: only `lone`", "none"]),
        ("imports of web/routes.py", ["web/routes.py:1"]),
        ("routes of web/routes.py", ["unknown", "web/routes.py:3"]),
    ],
)
async def test_what_is_not_proven_is_unknown(tree: Atlas, question: str, parts: list[str]) -> None:
    text = (await hybrid_search(tree, question)).render()
    assert [part for part in parts if part not in text] == [], text


async def test_tests_inside_of_macros_are_all_named(tree: Atlas) -> None:
    text = (await hybrid_search(tree, "tests of pat_next", token_budget=2000)).render()
    lines = set(map(int, re.findall(r"\b\d+\b", text.partition("c/test_seg.c")[2])))
    assert {3, 45, 90} <= lines or "at least" in text, text


async def test_names_resolve_in_their_file_and_case(tree: Atlas) -> None:
    for written, place in [
        ("impl.ts::impl", "sub/impl.ts:1"),
        ("sub/impl.ts#impl", "sub/impl.ts:1"),
        ("sub/kinds.py:Order", "sub/kinds.py:1"),
        ("Order", "sub/kinds.py:1"),
        ("order", "sub/kinds.py:5"),
    ]:
        assert f"place {place}" in (await get_node(tree, written)).render(), written
    assert "only `lone`" in (await get_node(tree, "Lone")).render()
    assert "defines no such name" in (await get_node(tree, "impl.ts::impl_two")).render()
    inherited = (await get_context(tree, "Site.register_part")).render()
    assert "inherited from `Scaffold`" in inherited and "app/site.py:7" in inherited
    assert "unknown rather than none" in (await get_context(tree, "useThing", label="Function")).render()


async def test_unused_code_agrees_with_the_references(tree: Atlas) -> None:
    text = (await hybrid_search(tree, "unused functions", token_budget=3000)).render()
    for name, path in [("twin_helper", "twins/one.py"), ("solo", "many/many.py"), ("lone", "sub/kinds.py")]:
        assert f"{path}\n" in text and name in text, text
    assert "only_called_in_huge" not in text and "in files that are not indexed" in text
    none = (await hybrid_search(tree, "unused functions in x/bottom.py")).render()
    assert "none certain of 1" in none, none


async def test_the_history_of_a_file_is_found_by_any_path(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "outer")
    repository.commit("Begin", {"proj/src/util.py": "A = 1\n", "proj/src/old.py": "def b():\n    return 1\n" * 3})
    for number in range(12):
        repository.commit(f"Change {number}", {"proj/src/last.py": f"X = {number}\n"})
    root = repository.root / "proj"
    (root / "src/old.py").rename(root / "src/moved.py")
    (root / "src/fresh.py").write_text("Z = 1\n")
    await indexed(root, tmp_path / "data")
    async with opened(root, tmp_path / "data") as atlas:

        async def said(question: str) -> str:
            return (await hybrid_search(atlas, question)).render()

        for written in ("util.py", "src/util.py", "./src/util.py", "proj/src/util.py", "src\\util.py"):
            assert "Begin" in await said(f"what changed in {written}"), written
        assert "Begin" in await said("history of proj/src/util.py")
        assert "Begin" in await said("history of old.py")
        assert "Begin" in await said("what changed in moved.py")
        assert "is not committed" in await said("what changed in fresh.py")
        assert "no symbol or file `nowhere.py`" in await said("what changed in nowhere.py")
        assert "Change 11" in await said("what changed in src/last.py")
    repository.close()


PYTHON = (
    "def {0}():\n    return 1\n",
    "import {1}\n\ndef use{1}():\n    return {1}.{0}()\n",
    "# {0}\n",
    "X = ['{0}']\n",
)
SCRIPT = (
    "export function {0}() {{ return 1 }}\n",
    "import {{ {0} }} from './{1}'\nexport const y = [{0}]\n",
    "// {0}\n",
)
GO = ("package p\n\nfunc {0}() int {{ return 1 }}\n", "package p\n\nvar f = {0}\n", "package p\n\n// {0} is it\n")
RUST = ("pub fn {0}() -> u8 {{ 1 }}\n", "macro_rules! m {{ () => {{ {0}() }} }}\n", "fn g(x: u8) {{ x.{0}() }}\n")
TEXT = ("See `{0}`.\n", "handler: {1}.{0}\n", "<script>{0}()</script>\n")
FORMS: dict[str, tuple[str, ...]] = {".py": PYTHON, ".ts": SCRIPT, ".go": GO, ".rs": RUST}
WORDS = ("alpha_one", "betaTwo", "gamma_three", "deltaFour", "epsilon_five", "zeta_six")


def random_tree(seed: int) -> dict[str, str]:
    """Return a tree in which each word is defined once and stands elsewhere by chance."""
    chance = random.Random(seed)
    files: dict[str, str] = {}
    for word in WORDS:
        ending = chance.choice(list(FORMS))
        files[f"m_{word}{ending}"] = FORMS[ending][0].format(word)
        for number in range(chance.choice((0, 0, 1, 2))):
            other = chance.choice((ending, ending, ".md", ".yaml", ".vue", ".xyz"))
            forms = FORMS[ending][1:] if other == ending else TEXT
            files[f"u{number}_{word}{other}"] = chance.choice(forms).format(word, f"m_{word}")
        if chance.random() < 0.15:
            files[f"large_{word}{ending}"] = LARGE * 20_000 + f"# {word}\n"
    return files


@pytest.mark.parametrize("seed", range(8))
async def test_a_name_of_which_none_is_said_stands_nowhere_else(tmp_path: Path, seed: int) -> None:
    root, files = tmp_path / "tree", random_tree(seed)
    root.mkdir()
    for name, text in files.items():
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with opened(root, tmp_path / "data") as atlas:
        for word in WORDS:
            answers = {
                "usages": (await hybrid_search(atlas, f"usages of {word}")).render(),
                "callers": (await hybrid_search(atlas, f"callers of {word}")).render(),
                "impact": (await impact(atlas, word)).render(),
                "context": (await get_context(atlas, word, label="Function")).render(),
            }
            elsewhere = [
                name for name, text in files.items() if not name.startswith("m_") and re.search(rf"\b{word}\b", text)
            ]
            for kind, text in answers.items():
                none = re.search(r": none\b|nothing known to be affected|nothing else in the index mentions", text)
                assert none is None or not elsewhere, (kind, word, elsewhere, text)
                assert none is not None or elsewhere, (kind, word, text)
