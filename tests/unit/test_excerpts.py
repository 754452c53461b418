"""What is shown of bodies: pieces end where statements do, in every language, and those that answer are worth most."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas.core.english.stems import root_of
from atlas.parsing import make_excerpts, split_words
from atlas.parsing.excerpts import HitSource, HitSpan, RatedBody

EXCERPTS = make_excerpts()
LONG = 65_536

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


def rate(text: str, question: str, *, language: str = "python", summary: str = "", last: int = 1 << 30) -> RatedBody:
    """Rate a text whose first line is shown of a hit that ends with the line `last`."""
    content = text.encode()
    hit = HitSource("a.x", content, 1, summary, [HitSpan(language, 1, last, 0, len(content), 0.5)])
    (body,) = EXCERPTS.rate(question, split_words(question), [hit], 0.0, None)
    return body


def texts_of(text: str, language: str) -> list[str]:
    """Return all pieces of a body."""
    return ["\n".join(line for _, line in lines) for _, _, lines in rate(text, "", language=language)[0]]


def best(question: str, *lines: str) -> str:
    """Return the line of a body that answers best."""
    pieces, _ = rate("\n".join(("head", *(f"\n{line}" for line in lines))), question, language="")
    return max(pieces)[2][0][1]


@pytest.mark.parametrize("language", BODIES)
def test_no_piece_ends_within_a_statement(language: str) -> None:
    lines = BODIES[language].splitlines()
    pieces = [[number for number, _ in lines] for _, _, lines in rate(BODIES[language], "", language=language)[0]]
    inner = 4 if language == "python" else 3
    call = next(numbers for numbers in pieces if inner in numbers)
    assert inner + 1 in call, f"the call has its arguments: {pieces}"
    shown = [number for numbers in pieces for number in numbers]
    assert shown == sorted(set(shown))
    assert len(pieces) >= 2 and pieces[0][0] > 1, "statements can be left out, and the first line is in the hit's line"
    cuts = EXCERPTS.borders(language, lines)
    assert cuts[0] == 0 and not {inner, len(lines)} & set(cuts), "a source is not cut within it either"


def test_pieces_of_python_are_statements_or_heads_of_them() -> None:
    texts = texts_of(PYTHON, "python")
    assert [text.partition("\n")[0].strip() for text in texts] == [
        '"""Read it."""',
        "with open(path) as file:",
        "text = file.read(",
        "if not text:",
        "else:",
        "count = 1",
        "return text, count",
    ]
    for text in texts:
        if text.lstrip().startswith("text ="):
            text += "\n        )"  # a line of mere marks is not shown
        source = textwrap.dedent(text)
        if source.endswith(":"):
            source = {"else:": "if x: pass\nelse:"}.get(source, source) + " pass"
        ast.parse(f"def f():\n{textwrap.indent(source, '    ')}")


@given(st.lists(st.sampled_from(["", "a b", "  c", "}", "    d", "x: y", "\u2028é", "\t数"]), max_size=60))
def test_borders_divide_any_text_completely_and_nothing_is_shown_twice(lines: list[str]) -> None:
    found = EXCERPTS.borders("python", lines)
    assert found == sorted(set(found)) and (found[0] == 0 if lines else found == [])
    pieces, characters = rate("\n".join(lines), "", language="")
    numbers = [number for _, _, lines in pieces for number, _ in lines]
    assert numbers == sorted(set(numbers))
    assert characters == sum(len(text) for _, _, lines in pieces for _, text in lines)


def test_a_long_statement_is_divided_into_lines() -> None:
    lines = ["def f():", "    return {", *(f"        'k{number}': {number}," for number in range(20)), "    }"]
    assert EXCERPTS.borders("python", lines) == list(range(len(lines)))
    assert len(texts_of("\n".join(lines), "python")) == 21


def test_of_a_large_file_the_bodies_of_hits_are_divided() -> None:
    filler = "# nothing\n" * (LONG // 10)
    text = f"{filler}def f():\n    a(\n        cart)\n\n\ndef g():\n    cart()\n"
    content, start = text.encode(), len(filler)
    first = text[:start].count("\n") + 1
    span = HitSpan("python", first, first + 2, start, start + len("def f():\n    a(\n        cart)"), 0.5)
    (body,) = EXCERPTS.rate("cart", ["cart"], [HitSource("a.py", content, first, "", [span, span])], 0.0, None)
    assert [lines for _, _, lines in body[0]] == [[(first + 1, "a("), (first + 2, "    cart)")]]


def test_other_statements_of_the_file_are_shown_if_they_have_a_word() -> None:
    text = 'def f():\n    """Load a cart."""\n    a()\n\n\ndef g():\n    save(Cart)\n    b()\n'
    pieces, characters = rate(text, "who will save a cart", summary="Load a cart.", last=3)
    assert [lines[0] for _, _, lines in pieces] == [(3, "    a()"), (7, "    save(Cart)")], (
        "the summary is shown anyway"
    )
    assert characters == len("    a()"), "of its own"
    assert pieces[0][0] > pieces[1][0] > 0.1


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("what is the default timeout", "DEFAULT_TIMEOUT = 30", "self.timeout(request)"),
        ("when is a closed connection refused", "if connection.closed:", "connection.close()"),
        ("where are headers merged", "merge_headers(old, new)", "send(body)"),
    ],
)
def test_words_in_other_forms_and_the_shape_that_is_asked_for_decide(question: str, answer: str, other: str) -> None:
    assert best(question, other, answer) == answer
    assert best(question, answer, other) == answer


@given(st.sampled_from(["migrat", "stop", "hash", "cod", "ca", "füll"]), st.data())
def test_a_word_counts_in_all_forms_with_its_root(word: str, data: st.DataObject) -> None:
    endings = st.sampled_from(["", "s", "es", "e", "ed", "ping", "ing", "ings", "ers", "ations", "ion", "ies", "ally"])
    asked, told = word + data.draw(endings), word + data.draw(endings)
    (has, _, _), (other, _, _) = rate(f"head\n\n{told}\n\nnothing", asked, language="")[0]
    assert (has > other) == (root_of(asked) == root_of(told))
