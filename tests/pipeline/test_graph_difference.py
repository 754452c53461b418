"""What differs between the graphs of two trees: stated by hand for a small one, and against all rows of random ones."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest

from atlas.app.comparing import compare_trees, other_tree
from atlas.code.changes.graph_difference import OF_FILES, GraphDifference
from atlas.code.index.events import no_progress
from atlas.core.errors import NotFound
from atlas.runtime.config.load import load_settings
from tests.pipeline.polyglot import tree
from tests.pipeline.trees import Dump, dump
from tests.pipeline.work_trees import Trees
from tests.surfaces.processes import atlas

OLD = {
    "shop/__init__.py": "",
    "shop/cart.py": "from shop.money import net, tax\n\nclass Cart:\n    def total(self):\n        return net(1)\n\n    def old(self):\n        return 1\n",
    "shop/money.py": "def net(n):\n    return n\n\ndef tax(n):\n    return n + 1\n\ndef rounded(n: int):\n    return round(n, 2)\n",
    "README.md": "# Shop\n",
}
NEW = {
    **OLD,
    "shop/cart.py": "from shop.money import net, tax\n\nclass Cart:\n    def total(self):\n        return tax(net(1))\n\n    def fresh(self):\n        return 1\n",
    "shop/money.py": "# a comment moves all lines\n\n\n" + OLD["shop/money.py"].partition("def rounded")[0],
    "shop/rounding.py": "def rounded(n: int):\n    return round(n, 2)\n",
}
del NEW["README.md"]


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Trees(tmp_path / "trees")
    made.begin(OLD)
    return made


async def compared(old: Path, new: Path) -> GraphDifference:
    return await compare_trees(load_settings(str(old)), load_settings(str(new)), no_progress)


async def test_a_work_tree_against_the_main_one(trees: Trees) -> None:
    trees.commit("new", NEW)
    root = trees.work_tree("feature", "new")
    trees.checkout("first")
    found = await compared(trees.main, root)
    assert (found.files_added, found.files_removed) == (["shop/rounding.py"], ["README.md"])
    assert found.files_changed == ["shop/cart.py", "shop/money.py"]
    assert [(one.qualified_name, one.kind, one.path, one.line) for one in found.added] == [
        ("shop.cart.Cart.fresh", "method", "shop/cart.py", 7)
    ]
    assert [one.qualified_name for one in found.removed] == ["README.md#shop", "shop.cart.Cart.old"]
    assert [(one.qualified_name, one.what) for one in found.changed] == [
        ("shop.cart.Cart", "body"),
        ("shop.cart.Cart.total", "body"),
        ("shop.money.net", "decorators or comments"),
    ]
    assert [(one.qualified_name, one.what) for one in found.moved] == [("shop.rounding.rounded", "shop.money.rounded")]
    gained = [(one.source, one.type, one.target, one.path, one.line) for one in found.gained]
    assert ("shop.cart.Cart.total", "CALLS", "shop.money.tax", "shop/cart.py", 5) in gained
    assert not [one for one in found.lost if one.source.startswith("shop.cart.Cart.total")]
    back = await compared(root, trees.main)
    assert (back.added, back.gained) == (found.removed, found.lost)


async def test_equal_trees_do_not_differ_whatever_they_are_called(trees: Trees) -> None:
    assert (await compared(trees.main, trees.work_tree("feature"))).is_empty


def rows(said: Dump, project: str) -> tuple[dict[str, tuple[object, ...]], set[tuple[str, str, str]]]:
    """Symbols with their digests, and edges, without the project's name."""
    prefix = len(project) + 1
    symbols = {
        str(row[0])[prefix:]: (row[3], row[11], row[16], *row[17:20]) for row in said["nodes"] if row[3] not in OF_FILES
    }
    edges = [(str(source)[prefix:], str(kind), str(target)[prefix:]) for source, target, kind, *_ in said["edges"]]
    return symbols, {edge for edge in edges if edge[1] != "CONTAINS"}


async def test_it_equals_a_comparison_of_all_rows(trees: Trees) -> None:
    chance = random.Random(20261128)
    files = tree(40, chance)
    for number in range(3):
        other = {path: text for path, text in files.items() if chance.random() > 0.1}
        other |= dict(chance.sample(sorted(tree(40, chance).items()), 10))
        trees.commit(f"old{number}", files)
        trees.commit(f"new{number}", other)
        old, new = trees.work_tree(f"o{number}", f"old{number}"), trees.work_tree(f"n{number}", f"new{number}")
        found = await compared(old, new)
        (was, had), (now, has) = (rows(dump(load_settings(str(one)).data_dir), one.name) for one in (old, new))
        moved = {one.qualified_name for one in found.moved}, {one.what for one in found.moved}
        assert {one.qualified_name for one in found.added} | moved[0] == now.keys() - was.keys()
        assert {one.qualified_name for one in found.removed} | moved[1] == was.keys() - now.keys()
        assert {one.qualified_name for one in found.changed} == {
            name for name in was.keys() & now.keys() if was[name] != now[name]
        }
        assert {(one.source, one.type, one.target) for one in found.gained} == has - had
        assert {(one.source, one.type, one.target) for one in found.lost} == had - has
        files = other


def test_the_command(trees: Trees) -> None:
    trees.commit("new", NEW)
    root = trees.work_tree("feature", "new")
    trees.checkout("first")
    done = atlas("compare", "--project", str(root))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        f"from {trees.main}\nto   {root}\nfiles: 1 added, 1 removed, 2 changed\n1 symbol added\n"
    )
    assert "  + shop.cart.Cart.total CALLS shop.money.tax shop/cart.py:5 (import " in done.stdout
    assert "  > function shop.rounding.rounded shop/rounding.py:1 (shop.money.rounded)" in done.stdout
    short = atlas("compare", "first", "--limit", "1", "--project", str(root)).stdout
    assert "and 1 further one" in short
    told = json.loads(atlas("compare", str(trees.main), "--json", "--project", str(root)).stdout)
    assert [one["qualified_name"] for one in told["added"]] == ["shop.cart.Cart.fresh"]
    assert "no file, symbol or edge differs" in atlas("compare", str(root), "--project", str(root)).stdout


def test_a_tree_that_is_not_known_is_an_error(trees: Trees) -> None:
    settings = load_settings(str(trees.work_tree("feature")))
    with pytest.raises(NotFound, match="no trees of the repository are named other") as caught:
        other_tree(settings, "other")
    assert f"{trees.main} (first)" in caught.value.hint
    trees.work_tree("a/twin")
    trees.work_tree("b/twin")
    with pytest.raises(NotFound, match="2 trees of the repository are named twin"):
        other_tree(settings, "twin")
    clone = trees.main.parent / "clone"
    subprocess.run(["git", "clone", "-q", str(trees.main), str(clone)], check=True)
    assert atlas("index", str(clone)).returncode == 0  # now it is known, and a main work tree, too
    with pytest.raises(NotFound, match="is the main work tree itself") as caught:
        other_tree(load_settings(str(trees.main)), "")
    assert "a/twin (" in caught.value.hint
    assert f"{clone} (" in caught.value.hint


def test_a_folder_around_the_tree_is_no_other_tree(trees: Trees) -> None:
    done = atlas("compare", str(trees.main.parent), "--project", str(trees.main))
    assert done.returncode == 3
    assert "one contains the other" in done.stderr
