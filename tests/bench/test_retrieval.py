"""The gate of adr/0008: on real questions the hybrid is at least as good as words alone, as meaning alone, and as plain RRF."""

from __future__ import annotations

import ast
from pathlib import Path

from atlas.code.find import Fusion, Mode

from .questions import copy_without_docstrings
from .retrieval import run, searching


async def test_hybrid_is_not_worse_than_its_parts(django_parts: Path, tmp_path: Path) -> None:
    variants = {
        "words": searching(Mode.WORDS),
        "meaning": searching(Mode.MEANING),
        "rrf": searching(Mode.HYBRID, Fusion.RRF),
        "hybrid": searching(Mode.HYBRID),
    }
    found = await run(django_parts / "django/db", tmp_path / "data", tmp_path / "tree", 400, variants)
    for other in ("words", "meaning", "rrf"):
        assert found["hybrid"]["mrr10"] >= found[other]["mrr10"], found
        assert found["hybrid"]["r10"] >= found[other]["r10"], found


def test_questions_are_not_in_the_copy(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    source = '''"""Module text."""


@decorated
class A:
    """Hold the values of a row."""

    def f(self): """Give back the first value."""; return 1

    def g(self):
        """Tell whether the row is empty.

        More text.
        """
'''
    (tmp_path / "tree/a.py").write_text(source)
    questions = copy_without_docstrings(tmp_path / "tree", tmp_path / "copy")
    assert [(each.text, each.place) for each in questions] == [
        ("Tell whether the row is empty", "a.py:10"),
        ("Hold the values of a row", "a.py:5"),
        ("Give back the first value", "a.py:8"),
    ]
    copied = (tmp_path / "copy/a.py").read_text()
    assert "value" not in copied and "row" not in copied
    assert copied.count("\n") == source.count("\n")
    assert not any(ast.get_docstring(node) for node in ast.walk(ast.parse(copied)) if isinstance(node, ast.ClassDef))
