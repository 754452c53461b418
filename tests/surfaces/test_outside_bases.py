"""Classes below a base without a symbol, such as one of a namespace that the project adds to: their declarations are the evidence, and are said to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.graph.cards import names_in
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES = {
    "errors.h": "#include <string>\n\nclass NoOrder : public std::exception {\n public:\n  int number;\n};\n\n"
    "template <class T> class Base {};\n\nclass Matcher : Base<std::exception> {\n  int x;\n};\n",
    "hash.h": "namespace std {\nstruct OrderHash {};\n}\n",
    "main.cpp": '#include "errors.h"\n\nint main() {\n  try {\n    throw NoOrder();\n  } catch (const std::exception &e) {\n'
    "    return 1;\n  }\n}\n",
}


@pytest.mark.parametrize("question", ["subclasses of std::exception", "which classes derive from std::exception?"])
async def test_classes_below_a_base_of_a_library(tmp_path: Path, question: str) -> None:
    for name, text in FILES.items():
        (tmp_path / "shop").mkdir(exist_ok=True)
        (tmp_path / "shop" / name).write_text(text)
    await indexed(tmp_path / "shop", tmp_path / "data")
    async with open_atlas(load_settings(str(tmp_path / "shop"), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await hybrid_search(atlas, question)).render()
    assert "named as a base by 1: errors.h:3 NoOrder" in said, said


@pytest.mark.parametrize(
    ("bases", "names"),
    [
        (" : public std::exception", {"std::exception", "exception", "public"}),
        (" : Base<std::exception>", {"Base"}),
        ("(errors.Base, Mixin)", {"errors.Base", "Base", "Mixin"}),
        (" < ActiveRecord::Base", {"ActiveRecord::Base", "Base"}),
        (" extends \\Lib\\Model implements Countable", {"extends", "Lib\\Model", "Model", "implements", "Countable"}),
    ],
)
def test_names_behind_the_name_of_a_class(bases: str, names: set[str]) -> None:
    assert names_in(bases) == names
