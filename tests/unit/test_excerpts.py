"""Bodies in pieces: they are cut at the borders of statements, in every language."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas.code.tools.search.excerpts import MAX_PARAGRAPH, borders, dedented, indentation, pieces_of
from atlas.parsing import make_statements

STATEMENTS = make_statements().of

PYTHON = '''\
def load(path):
    """Read it."""
    with open(path) as file:
        text = file.read(
            100,
        )
        if not text:
            raise ValueError(
                "empty")
        else:
            count = 1
    return text, count
'''
BODIES = {
    "python": PYTHON,
    "go": "func a() error {\n\tif b {\n\t\treturn c(\n\t\t\t1)\n\t}\n\td()\n\treturn nil\n}\n",
    "java": "public int a() {\n  if (b) {\n    return c(\n        1);\n  }\n  d();\n  return 2;\n}\n",
    "javascript": "function a() {\n  if (b) {\n    return c(\n      1);\n  }\n  d();\n  return 2;\n}\n",
    "typescript": "function a(): number {\n  if (b) {\n    return c(\n      1);\n  }\n  d();\n  return 2;\n}\n",
    "rust": "fn a() -> u8 {\n    if b {\n        return c(\n            1);\n    }\n    d();\n    2\n}\n",
    "ruby": "def a\n  if b\n    return c(\n      1)\n  end\n  d\n  2\nend\n",
    "c": "int a() {\n  if (b) {\n    return c(\n      1);\n  }\n  d();\n  return 2;\n}\n",
    "cpp": "int a() {\n  if (b) {\n    return c(\n      1);\n  }\n  d();\n  return 2;\n}\n",
    "csharp": "int A() {\n  if (b) {\n    return C(\n      1);\n  }\n  D();\n  return 2;\n}\n",
    "kotlin": "fun a(): Int {\n  if (b) {\n    return c(\n      1)\n  }\n  d()\n  return 2\n}\n",
    "scala": "def a(): Int = {\n  if (b) {\n    return c(\n      1)\n  }\n  d()\n  2\n}\n",
    "swift": "func a() -> Int {\n  if b {\n    return c(\n      1)\n  }\n  d()\n  return 2\n}\n",
    "lua": "function a()\n  if b then\n    return c(\n      1)\n  end\n  d()\n  return 2\nend\n",
    "bash": "a() {\n  if b; then\n    c \\\n      1\n  fi\n  d\n  return 2\n}\n",
}


@pytest.mark.parametrize("language", BODIES)
def test_no_piece_ends_within_a_statement(language: str) -> None:
    text = BODIES[language]
    lines = text.splitlines()
    pieces = pieces_of(lines, STATEMENTS(language, text.encode()))
    spans = [(piece.first, piece.last) for piece in pieces]
    inner = 3 if language == "python" else 2
    call = next(span for span in spans if span[0] <= inner <= span[1])
    assert call[1] >= inner + 1, f"the call has its arguments: {spans}"
    assert all(first <= last for first, last in spans) and spans == sorted(spans)
    assert len(spans) >= 3, "statements can be left out"
    assert spans[0][0] > 0, "the first line is in the hit's line"


def test_pieces_of_python_are_statements_or_heads_of_them() -> None:
    lines = PYTHON.splitlines()
    texts = [lines[piece.first : piece.last + 1] for piece in pieces_of(lines, STATEMENTS("python", PYTHON.encode()))]
    assert [text[0].strip() for text in texts] == [
        '"""Read it."""',
        "with open(path) as file:",
        "text = file.read(",
        "if not text:",
        "raise ValueError(",
        "else:",
        "count = 1",
        "return text, count",
    ]
    for text in texts:
        source = textwrap.dedent("\n".join(text))
        if source.endswith(":"):
            source = {"else:": "if x: pass\nelse:"}.get(source, source) + " pass"
        ast.parse(f"def f():\n{textwrap.indent(source, '    ')}")


@given(st.lists(st.sampled_from(["", "a b", "  c", "}", "    d", "x: y"]), max_size=60))
def test_borders_divide_any_text_completely(lines: list[str]) -> None:
    found = borders(lines, STATEMENTS("python", "\n".join(lines).encode()))
    assert found == sorted(set(found)) and (not lines or found[0] == 0)
    pieces = pieces_of(lines, ())
    assert all(piece.last < len(lines) and piece.last - piece.first < MAX_PARAGRAPH for piece in pieces)
    covered = [number for piece in pieces for number in range(piece.first, piece.last + 1)]
    assert len(set(covered)) == len(covered), "nothing is shown twice"


def test_a_long_statement_is_divided_into_lines() -> None:
    lines = ["def f():", "    return {", *(f"        'k{number}': {number}," for number in range(20)), "    }"]
    pieces = pieces_of(lines, STATEMENTS("python", "\n".join(lines).encode()))
    assert all(piece.first == piece.last for piece in pieces) and len(pieces) == 21


def test_paragraphs_are_pieces_where_there_are_no_statements() -> None:
    lines = ["Title", "=====", "", "One", "line.", "", "", "Two."]
    assert [(piece.first, piece.last) for piece in pieces_of(lines, ())] == [(3, 4), (7, 7)]


def test_indentation_that_all_lines_have_is_left_out() -> None:
    lines = ["def f():", "\ta", "", "\t\tb", "    c"]
    assert [dedented(line, indentation(lines)) for line in lines] == ["def f():", "a", "", "    b", "c"]
