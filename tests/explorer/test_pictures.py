"""Pictures: layers follow the arrows, no line runs through a box, names fit, and what is too much is counted."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from atlas.server.explorer.drawing import MAX_NODES, ROOM, Picture, PictureEdge, PictureNode, fitted, svg, text_width
from atlas.server.explorer.layout import BOX_HEIGHT, lay_out_layers, layers_of
from tests.surfaces.processes import atlas


def test_layers_follow_the_arrows_and_end_in_cycles() -> None:
    assert layers_of(["a", "b", "c"], [("a", "b"), ("b", "c"), ("a", "c")]) == {"a": 0, "b": 1, "c": 2}
    assert layers_of(["a", "b"], [("a", "b"), ("b", "a")]) == {"a": 0, "b": 1}
    # what nothing leads to stands beside what it leads to
    assert layers_of(["a", "b", "c", "x"], [("a", "b"), ("b", "c"), ("x", "c")])["x"] == 1


@pytest.mark.parametrize("seed", range(8))
def test_boxes_do_not_touch_and_no_line_runs_through_one(seed: int) -> None:
    chance = random.Random(seed)
    names = [f"n{number}" for number in range(chance.randint(2, MAX_NODES))]
    edges = {(one, chance.choice(names)) for one in names for _ in range(chance.randint(0, 6))}
    layers = layers_of(names, [(one, other) for one, other in edges if one != other])
    layout = lay_out_layers(layers, edges, 120)
    boxes = sorted(layout.places.values())
    for (x, y), (other_x, other_y) in pairwise(boxes):
        assert x != other_x or other_y - y >= BOX_HEIGHT
    for pair, bends in layout.routes.items():
        assert len(bends) == abs(layers[pair[0]] - layers[pair[1]]) - 1
        for bend in bends:
            hit = [y for x, y in boxes if x == bend.left and y < bend.y < y + BOX_HEIGHT]
            assert hit == [], pair
    assert all(x >= 0 and x + 120 <= layout.width and y >= 0 and y + BOX_HEIGHT <= layout.height for x, y in boxes)


def test_few_edges_cross_where_none_need_to() -> None:
    layers = {"a": 0, "b": 0, "c": 0, "x": 1, "y": 1, "z": 1}
    places = lay_out_layers(layers, [("a", "z"), ("b", "y"), ("c", "x")], 100).places
    order = [sorted("abc", key=lambda one: places[one][1]), sorted("xyz", key=lambda one: places[one][1])]
    assert [dict(a="z", b="y", c="x")[one] for one in order[0]] == order[1]


def test_names_fit_into_their_box() -> None:
    for text in ("W" * 80, "名前" * 40, "atlas/server/explorer/pictures.py" * 3, "i" * 300, ""):
        for at_end in (False, True):
            shown = fitted(text, at_end=at_end)
            assert text_width(shown.replace("…", "")) <= ROOM
    assert fitted("x" * 100).startswith("…")
    assert fitted("y" * 100, at_end=True).endswith("…")
    assert fitted("short") == "short"


def test_an_arrow_to_its_own_box_is_drawn_beside_it() -> None:
    picture = Picture("p", (PictureNode("a", "a", "/", 1),), (PictureEdge("a", "a", "calls"),), "")
    root = ElementTree.fromstring(str(svg(picture)))
    assert len(root.findall(".//{*}path")) == 1


def test_a_crowded_folder_is_drawn_in_part_and_the_rest_counted(tmp_path: Path) -> None:
    root = tmp_path / "crowd"
    root.mkdir()
    for number in range(MAX_NODES + 15):
        (root / f"m{number:02}.py").write_text(f"import m{(number + 1) % (MAX_NODES + 15):02}\n")
    places = ["--project", str(root), "--data-dir", str(tmp_path / "data")]
    drawn = atlas("graph", ".", "--format", "html", *places)
    assert drawn.returncode == 0, drawn.stderr
    assert len(re.findall('<rect class="box"', drawn.stdout)) == MAX_NODES
    assert "not drawn: 15 entries" in drawn.stdout


def test_imports_of_packages_are_imports_of_their_folders(tmp_path: Path) -> None:
    """Go imports packages, which have no file of their own: a picture of its folders must not be empty."""
    root = tmp_path / "shop"
    for path, text in {
        "go.mod": "module example.org/shop\n\ngo 1.22\n",
        "shop.go": "package shop\n\nimport \"example.org/shop/tax\"\n\nfunc Total() int { return tax.Rate() }\n",
        "tax/tax.go": "package tax\n\nfunc Rate() int { return 7 }\n",
        "cmd/main.go": "package main\n\nimport \"example.org/shop\"\n\nfunc main() { shop.Total() }\n",
    }.items():  # fmt: skip
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    places = ["--project", str(root), "--data-dir", str(tmp_path / "data")]
    drawn = atlas("graph", ".", "--format", "mermaid", *places)
    assert drawn.returncode == 0, drawn.stderr
    names = dict(re.findall(r'(n\d+)\["([^"]*)"\]', drawn.stdout))
    arrows = {(names[one], names[other]) for one, other in re.findall(r"(n\d+) --> (n\d+)", drawn.stdout)}
    assert arrows == {("cmd", "this folder"), ("this folder", "tax")}
