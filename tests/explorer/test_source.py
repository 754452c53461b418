"""Colours of source: a page of a long file has those of the whole file, wherever it begins."""

from __future__ import annotations

import pytest

from atlas.server.explorer.source import CodeLine, code_lines

TEXTS = {
    "python": 'def f():\n    """Say "what".\n\n    A def in it.\n    """\n    return "a"  # """\n\n\nx = \'\'\'\n1\n\'\'\'\n',
    "javascript": "/* a\n const */ const b = `x\n ${y}\n`; // `\nlet c = '/*'\nreturn 1\n",
    "c": 'int a; /* b\n * return\n */ int c = "/*";\nreturn a;\n',
    "rust": "let a = 1; /* open\nlet b = 2;\n",
}


def kinds(lines: list[CodeLine]) -> list[tuple[int, str, str]]:
    return [(line.number, char, token.kind) for line in lines for token in line.tokens for char in token.text]


@pytest.mark.parametrize("language", TEXTS)
def test_a_part_of_a_file_has_the_colours_of_the_whole(language: str) -> None:
    text = TEXTS[language]
    whole, lines = kinds(code_lines(text, language, 1, {})), text.split("\n")
    for start in range(len(lines)):
        part = code_lines("\n".join(lines[start:]), language, start + 1, {}, "\n".join(lines[:start]))
        assert kinds(part) == [each for each in whole if each[0] > start], start
