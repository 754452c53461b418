"""No bytes make a reader of documentation raise or take long, in any format."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas.packs.documentation.extract.entities import find_entities
from atlas.packs.documentation.formats.document import Document
from atlas.packs.documentation.formats.reading import read_article
from atlas.packs.documentation.rendering import render

NAMES = ("a.md", "a.mdx", "a.rst", "a.html", "a.adoc", "a.txt", "a.ipynb", "README", "SUMMARY.md")

PIECES = (
    ".. ", "::", ":ref:`", "`", "``", "*", "**", "_", "__", "|", "\n", "\n\n", "  ", "   ", "    ", "=====", "-----", "+---+",
    "| a |", "====  ====", ".. note::", ".. class:: A", ".. _a:", ":param x:", "- ", "1. ", "!!! note", "/// tip", "///", ":::",
    "```{note}", "```", "~~~", "[a](b)", "[a][b]", "<p>", "</p>", "<dl><dt class=sig>", "<table><tr>", "<pre>", "<a href=x>",
    "<h1 id=a>", "<!--", "&amp;", "NOTE: ", "[source,java]", "----", "|===", "include::x[]", '{"cells": [', "{", "\x00", "é",
    "\\", "\t", "---", "+++", "term\n  definition", "a\n=\n", "::\n\n  code", "<section id=s>", "$", "{func}`x`", "(label)=",
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(NAMES),
    st.binary(max_size=400) | st.lists(st.sampled_from(PIECES), max_size=60).map("".join).map(str.encode),
)
def test_any_input_gives_an_article_with_unique_anchors(name: str, data: bytes) -> None:
    article = read_article(Document("k", data, name))
    assert not [problem for problem in article.problems if "reader-failed" in problem]
    anchors = [section.anchor for section in article.sections]
    assert anchors[0] == ""
    assert len(set(anchors)) == len(anchors)


HOSTILE = {
    "open literals": "``a " * 40_000,
    "open roles": ":a" * 60_000,
    "nested roles": ":ref:`" * 30_000,
    "dotted word": "a." * 60_000,
    "stars": "*a " * 60_000,
    "spaces in a phrase": "`a" + " " * 100_000 + "`_",
    "bars": "|a " * 50_000,
    "nested lists": "\n".join("  " * (n % 200) + "- x" for n in range(3_000)),
    "nested directives": "\n\n".join("   " * n + ".. note::" for n in range(400)),
    "quotes": "> " * 40_000,
    "brackets": "[" * 60_000,
    "open links": "[a](" * 30_000,
    "nested elements": "<div>" * 100_000,
    "nested formatting": "<b><i>" * 60_000,
    "open tables": "<table><tr><td>" * 30_000,
    "attributes": "<a " + "x=1 " * 60_000 + ">",
    "open tags": "<" * 100_000,
    "comments": "<!--" * 50_000,
    "definition lists": "<dl><dt>a<dd>" * 20_000,
    "fences": "```{note}\n" * 5_000,
    "colons": ":::note\n" * 5_000,
    "slashes": "/// tip\n" * 5_000,
    "titles": "a\n=\n\n" * 30_000,
    "same headings": "# a\n\n" * 30_000,
    "grid": "+-" * 2_000 + "+\n" + ("|a" * 2_000 + "|\n") * 30,
    "json": "[" * 100_000,
    "adoc terms": "a::" * 40_000,
    "adoc links": "<<a" * 40_000,
    "underlines": ("=" * 50_000 + "\n") * 3,
    "options": "-a, " * 40_000 + "  x",
    "front matter": "---\n" + "title: x\n" * 50_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_takes_time_in_proportion(name: str) -> None:
    """Each of these once was, or is in common libraries, quadratic; the limit is that of quadratic work."""
    for path in NAMES[:7]:
        begun = time.process_time()
        read_article(Document("k", HOSTILE[name].encode(), path))
        assert time.process_time() - begun < 10, path


@pytest.mark.parametrize(
    ("path", "text", "problem"),
    [
        ("a.md", "- a\n" * 60_000, "too-many-blocks"),
        ("a.rst", "a\n b\n" * 60_000, "too-many-blocks"),
        ("a.rst", ".. function:: f(a)\n\n   Does it.\n\n" * 20_000, "too-many-signatures"),
        ("a.md", "<div>a</div>\n\n" * 20_000, "too-much-html"),
    ],
)
def test_a_document_that_is_full_says_so_once(path: str, text: str, problem: str) -> None:
    article = read_article(Document("k", text.encode(), path))
    assert len(article.problems) == 1
    assert problem in article.problems[0]
    assert sum(len(section.blocks) for section in article.sections) <= 40_000


def test_each_signature_of_many_has_its_summary_in_linear_time() -> None:
    text = "".join(f".. function:: f{number}()\n\n   Does {number}.\n\n" for number in range(9_000))
    rendered = render(read_article(Document("k", text.encode(), "a.rst")))
    begun = time.process_time()
    found = [entity for entity in find_entities(rendered) if entity.strategy == "signature"]
    assert time.process_time() - begun < 10
    assert [(entity.name, entity.summary) for entity in found[:2]] == [("f0", "Does 0."), ("f1", "Does 1.")]
    assert len(found) == 9_000
