"""What each reader takes from a document: sections, signatures, notices, terms, tables, code and links."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from atlas.packs.documentation.article import Article, BlockKind
from atlas.packs.documentation.extract.facts import find_facts
from atlas.packs.documentation.formats.document import Document
from atlas.packs.documentation.formats.pdf import (
    CHARACTERS,
    CPU_SECONDS,
    CPU_SECONDS_PER_MIB,
    MOST_CHARACTERS,
    MOST_CPU_SECONDS,
    limits,
)
from atlas.packs.documentation.formats.reading import read_article
from atlas.packs.documentation.formats.restructured.settings import read_settings
from atlas.packs.documentation.rendering import render
from tests.fuzz.worst_pdfs import PDFS


def read(name: str, text: str | bytes, **facts: str) -> Article:
    data = text.encode() if isinstance(text, str) else text
    return read_article(Document(facts.pop("key", name), data, name, **facts))


def rows(article: Article) -> list[tuple[str, str, str]]:
    return [(block.kind.value, block.label, block.text) for section in article.sections for block in section.blocks]


def links(article: Article) -> list[tuple[str, str]]:
    return [
        (link.kind, link.target) for section in article.sections for block in section.blocks for link in block.links
    ]


RESTRUCTURED = """
.. _top:

=====
Title
=====

Text with ``code``, *emphasis*, :func:`~pkg.mod.run`, :ref:`other-part`, :doc:`the guide </guide/one>` and `a site
<https://example.org/>`_. See `named`_ too.

.. _named: https://example.org/named
.. _other-part:
.. setting:: DEBUG

Other part
==========

.. module:: pkg.mod
   :synopsis: Does things.

.. class:: Runner(speed=1)

   Runs.

   .. versionadded:: 2.1

   .. method:: run(self, x, *, y=None)
               walk(self)

      :param x: what to run
      :raises ValueError: if it is *empty*

      .. deprecated:: 3.0

         Use :meth:`go` instead.

.. note::

   Be careful::

       rm -rf /

Term
    Its definition.

* item one

  * nested

====  =====
Name  Means
====  =====
a     first
====  =====

.. code-block:: python
   :linenos:

   import os

.. include:: /etc/passwd
.. raw:: html
   :file: /etc/passwd
.. csv-table:: T
   :header: "a", "b"

   1, "x, y"

.. toctree::
   :maxdepth: 2

   One <guide/one>
   self

.. comment that is not shown
"""


def test_restructured_text() -> None:
    article = read("index.rst", RESTRUCTURED)
    lead, other = article.sections
    assert (article.title, lead.labels) == ("Title", ("top",))
    assert (other.anchor, other.level, other.labels) == ("other-part", 2, ())
    assert lead.blocks[0].text.startswith("Text with `code`, emphasis, `run()`, other part, the guide and a site.")
    assert links(article)[:5] == [
        ("symbol", "pkg.mod.run"), ("label", "other-part"), ("page", "/guide/one"), ("url", "https://example.org/"),
        ("url", "https://example.org/named"),
    ]  # fmt: skip
    signatures = [(one.label, one.role, one.depth, one.text) for one in other.blocks if one.kind is BlockKind.SIGNATURE]
    assert signatures == [
        ("DEBUG", "setting", 0, "DEBUG"),
        ("pkg.mod", "module", 0, "module pkg.mod"),
        ("pkg.mod.Runner", "class", 0, "Runner(speed=1)"),
        ("pkg.mod.Runner.run", "method", 1, "run(self, x, *, y=None)"),
        ("pkg.mod.Runner.walk", "method", 1, "walk(self)"),
    ]
    found = rows(article)
    assert ("note", "versionadded 2.1", "Added in version 2.1.") in found
    assert ("note", "deprecated 3.0", "Deprecated since version 3.0: Use `go()` instead.") in found
    assert ("term", "param x", "what to run") in found
    assert ("term", "raises ValueError", "if it is empty") in found
    assert ("note", "note", "Be careful:") in found and ("code", "", "rm -rf /") in found
    assert ("term", "Term", "Its definition.") in found
    assert ("item", "", "nested") in found
    assert ("row", "Name | Means", "a | first") in found and ("row", "a | b", "1 | x, y") in found
    assert ("code", "python", "import os") in found
    assert article.children == ("guide/one",)
    assert not any("root:" in text or "comment" in text for _, _, text in found)
    assert {problem.split(": ")[1] for problem in article.problems} == {"file-not-read"}


def test_objects_that_autodoc_describes_stay_in_their_section() -> None:
    text = "T\n=\n\n.. autoclass:: pkg.Cache\n\nNext\n----\n\nText.\n\n.. class:: Own\n\nLast\n----\n\nIts text.\n"
    found = [[block.label for block in section.blocks if block.label] for section in read("a.rst", text).sections]
    assert found == [["pkg.Cache"], [], ["Own"]]


MARKDOWN = """---
title: From front matter
lang: en
---
# Title {#top}

Text with `code`, [a page](other.md#x), [Name][pkg.mod.Name] and [ref].

[ref]: https://example.org/

!!! warning "Look out"
    Indented *text*.

/// deprecated | 0.95

Use `other` instead.
///

```{py:function} run(x)
Runs it.
```

> [!TIP]
> From GitHub.

(a-label)=
## Second

- one
    - two

| a | b |
|---|---|
| 1 | [2](https://example.org/2) |

```python title="x"
import os
```

::: pkg.mod.Name
<details><summary>More</summary><p>Inside <code>html</code>.</p></details>

{* ../../docs_src/x.py *}
"""


def test_markdown_with_its_extensions() -> None:
    article = read("docs/a.md", MARKDOWN)
    assert (article.title, article.language) == ("Title", "en")
    assert [(one.title, one.anchor) for one in article.sections] == [("Title", ""), ("Second", "second")]
    assert article.sections[1].labels == ("a-label",)
    found = rows(article)
    assert found[0] == ("paragraph", "", "Text with `code`, a page, Name and ref.")
    assert links(article)[:3] == [("page", "other.md#x"), ("url", "https://example.org/"), ("symbol", "pkg.mod.Name")]
    assert ("note", "warning", "Indented text.") in found and ("note", "tip", "From GitHub.") in found
    assert ("note", "deprecated 0.95", "Use `other` instead.") in found
    assert ("signature", "run", "run(x)") in found and ("signature", "pkg.mod.Name", "pkg.mod.Name") in found
    assert ("item", "", "two") in found and ("row", "a | b", "1 | 2") in found
    assert ("code", "python", "import os") in found
    assert ("paragraph", "", "Inside `html`.") in found
    assert any("file-not-read" in problem for problem in article.problems)


SPHINX = """<!DOCTYPE html><html lang="en"><head><title>API — pkg 1.0</title><link rel="canonical" href="/api.html">
<base href="https://docs.example.org/en/"></head><body>
<nav><a href="/login">Sign in</a></nav><div class="sphinxsidebar">Contents</div>
<div class="body" role="main"><section id="api"><span id="api-ref"></span><h1>API<a class="headerlink"
href="#api">¶</a></h1> <p>See <a class="reference" href="guide.html#x"><code>run</code></a> or <a
href="https://other.org/">it</a>.</p> <dl class="py class"><dt class="sig sig-object py" id="pkg.Runner"><em>class</em>
<span class="sig-prename">pkg.</span><span class="sig-name">Runner</span>(<em>speed=1</em>)</dt><dd><p>Runs.</p><div
class="deprecated"><p><span class="versionmodified"> Deprecated since version 3.0: </span>Use go.</p></div>
<dl class="py method"><dt class="sig sig-object py" id="pkg.Runner.run"><span
class="sig-name">run</span>(<em>x</em>)</dt><dd> <dl class="field-list"><dt>Parameters</dt><dd><p>x:
what</p></dd></dl></dd></dl></dd></dl> <div class="highlight-python notranslate"><pre><span>import</span> os
</pre></div><div class="admonition warning"><p class="admonition-title">Warning</p><p>Careful.</p></div>
<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>
<section id="sub"><h2>Sub</h2><ul><li>one<ul><li>two</li></ul></li></ul><dl class="glossary"><dt
id="term-x">x</dt><dd>an x</dd></dl></section> <div class="toctree-wrapper"><ul><li><a class="reference internal"
href="guide.html#top">Guide</a></li></ul></div>
</section></div><footer><a rel="license" href="https://example.org/l">BSD</a></footer></body></html>"""


def test_a_page_of_sphinx() -> None:
    url = "https://docs.example.org/en/api.html"
    article = read("/en/api.html", SPHINX, key=url, url=url, media_type="text/html")
    assert (article.title, article.language, article.licence) == ("API", "en", "BSD")
    assert article.url == "https://docs.example.org/api.html"
    assert article.children == ("https://docs.example.org/en/guide.html",)
    assert [(one.title, one.anchor) for one in article.sections] == [("API", ""), ("Sub", "sub")]
    assert {"api", "api-ref"} <= set(article.sections[0].labels)
    found = rows(article)
    assert found[0] == ("paragraph", "", "See `run` or it.")
    assert links(article)[:2] == [("page", "https://docs.example.org/en/guide.html#x"), ("url", "https://other.org/")]
    signatures = [
        (one.label, one.role, one.depth) for one in article.sections[0].blocks if one.kind is BlockKind.SIGNATURE
    ]
    assert signatures == [("pkg.Runner", "class", 0), ("pkg.Runner.run", "method", 1)]
    assert ("note", "deprecated 3.0", "Deprecated since version 3.0: Use go.") in found
    assert ("note", "warning", "Careful.") in found and ("code", "python", "import os") in found
    assert ("row", "a | b", "1 | 2") in found and ("term", "Parameters", "x: what") in found
    assert ("item", "", "two") in found and ("term", "x", "an x") in found
    assert not any("Sign in" in text or "Contents" in text for _, _, text in found)


def test_pages_of_rustdoc_and_javadoc_name_what_they_document() -> None:
    rust = """<html><head><title>Vec in alloc::vec - Rust</title><meta name="generator"
    content="rustdoc"></head><body><main> <h1>Struct Vec</h1><pre class="rust item-decl"><code>pub struct Vec&lt;T&gt; {
    }</code></pre> <section id="method.push" class="method"><h4 class="code-header">pub fn push(&amp;mut self, value:
    T)</h4></section>
    <p>Appends an element.</p></main></body></html>"""
    found = [one for one in rows(read("v.html", rust)) if one[0] == "signature"]
    assert found == [
        ("signature", "alloc::vec::Vec", "pub struct Vec<T> { }"),
        ("signature", "alloc::vec::Vec::push", "pub fn push(&mut self, value: T)"),
    ]
    java = """<html><head><meta name="generator" content="javadoc/21"></head><body><main><div class="sub-title"><a
    href="package-summary.html">java.util</a></div><h1>Class ArrayList&lt;E&gt;</h1><section class="detail"
    id="add(E)"><h3>add</h3>
    <div class="member-signature">public boolean&nbsp;add(E e)</div><div class="block">Appends.</div></section></main></body></html>"""
    article = read("A.html", java)
    assert ("signature", "java.util.ArrayList.add", "public boolean add(E e)") in rows(article)
    assert article.sections[1].anchor == "add(E)"


def test_asciidoc() -> None:
    text = """= Title
:version: 2.1

Text with `code`, *strong* and <<part,a part>>, version {version}. See https://example.org/[the site].

[[part]]
== Part

* one
** two

term:: its definition

[source,java]
----
int x;
----

NOTE: Careful.

[cols="1,1"]
|===
|a |b

|1 |2
|===
include::/etc/passwd[]
"""
    article = read("a.adoc", text)
    found = rows(article)
    assert [(one.title, one.labels) for one in article.sections] == [("Title", ()), ("Part", ())]
    assert found[0][2] == "Text with `code`, strong and a part, version 2.1. See the site."
    assert ("term", "term", "its definition") in found and ("code", "java", "int x;") in found
    assert ("note", "note", "Careful.") in found and ("row", "a | b", "1 | 2") in found
    assert ("item", "", "two") in found and links(article) == [("label", "part"), ("url", "https://example.org/")]


def test_notebook_without_its_outputs() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "\n", "Some text."]},
        {"cell_type": "code", "source": "1 + 1", "outputs": [{"text": "secret output"}]},
    ]
    article = read("n.ipynb", json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}}))
    assert rows(article) == [("paragraph", "", "Some text."), ("code", "python", "1 + 1")]
    assert read("n.ipynb", "{").problems and read("n.ipynb", "[]").problems


def test_plain_text_and_text_that_is_markup() -> None:
    text = "Guide\n***\n\nA paragraph\nof two lines.\n\n- one\n- two\n\n    some code\n\n1.2 Limits\n\nText.\n"
    article = read("guide.text", text)
    assert [(one.title, one.level) for one in article.sections] == [("Guide", 1), ("1.2 Limits", 3)]
    assert rows(article)[0] == ("paragraph", "", "A paragraph of two lines.")
    assert read("a.txt", "T\n=\n\n.. class:: A(x)\n\n   An A.\n").format == "restructuredtext"
    assert read("a.txt", "<!DOCTYPE html><html><body><p>x</p></body></html>").format == "html"


def test_a_pdf_is_read_page_by_page_and_a_damaged_one_is_a_problem() -> None:
    pytest.importorskip("pypdf")
    from io import BytesIO

    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    page = writer.add_blank_page(300, 300)
    font = DictionaryObject({NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1"), NameObject("/BaseFont"): NameObject("/Helvetica")})  # fmt: skip
    page[NameObject("/Resources")] = DictionaryObject(
        {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
    )
    stream = DecodedStreamObject()
    stream.set_data(b"BT /F1 12 Tf 50 200 Td (The limit is ten pages.) Tj ET")
    page[NameObject("/Contents")] = writer._add_object(stream)
    writer.add_outline_item(title="Limits", page_number=0)
    writer.add_metadata({"/Title": "Manual"})
    buffer = BytesIO()
    writer.write(buffer)
    article = read("a.pdf", buffer.getvalue())
    assert article.title == "Limits" or article.title == "Manual"
    assert rows(article) == [("paragraph", "", "The limit is ten pages.")]
    damaged = read("a.pdf", buffer.getvalue()[:300])
    assert any("pdf-failed" in problem for problem in damaged.problems)


@pytest.mark.parametrize("name", ["pdf forms", "pdf shared text"])
def test_a_pdf_is_read_as_far_as_its_limits_go(name: str) -> None:
    pytest.importorskip("pypdf")
    data = PDFS[name](1 << 20)
    before = os.times()
    article = read("a.pdf", data)
    after = os.times()
    text = sum(len(text) for _, _, text in rows(article))
    (told,) = [problem for problem in article.problems if "pdf-in-part" in problem]
    if name == "pdf forms":
        # 2 to the power of 60 drawings
        assert "read: 0 pages; the limit of 1.4 seconds of CPU time is reached" in told
    else:
        assert 100_000 < text <= 1 << 19
    spent = sum(after[:4]) - sum(before[:4])
    assert spent < 2.0


def test_a_larger_pdf_may_take_longer() -> None:
    assert limits(100) == limits(1 << 20) == (CPU_SECONDS, CHARACTERS)
    assert limits(2 << 20) == (CPU_SECONDS + CPU_SECONDS_PER_MIB, 2 * CHARACTERS)
    assert limits(1 << 40) == (MOST_CPU_SECONDS, MOST_CHARACTERS)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Größe".encode("utf-16"), "Größe"),
        (b"\xef\xbb\xbfText", "Text"),
        ("Größe".encode("cp1252"), "Größe"),
        (b"one\r\ntwo\rthree", "one two three"),
    ],
)
def test_encodings(data: bytes, text: str) -> None:
    assert rows(read("a.txt", data)) == [("paragraph", "", text)]


def test_binary_and_large_input_is_named_and_bounded() -> None:
    assert any("binary" in one for one in read("a.md", bytes(range(32)) * 100).problems)
    article = read("a.md", b"word " * (3 << 20))
    assert any("too-large" in one for one in article.problems) and article.sections[0].blocks


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.rst", "A\n=\n\nText.\n\n.. deprecated:: 1.8\n   Use ``x``.\n", "Deprecated since version 1.8: Use `x`."),
        ("a.rst", "A\n=\n\nText.\n\n.. versionadded:: 2.0\n", "Added in version 2.0."),
        (
            "a.html",
            "<html><body><main><h1>A</h1><p>Text.</p><div class='versionchanged'><p>Changed in version 3.5: Is it."
            "</p></div></main></body></html>",
            "Changed in version 3.5: Is it.",
        ),
        (
            "a.html",
            "<html><body><main><h1>A</h1><p>Text.</p><div class='versionchanged'><p>Takes a path.</p></div></main>"
            "</body></html>",
            "Changed in version: Takes a path.",
        ),
    ],
)
def test_a_note_about_a_version_says_so_once(name: str, text: str, expected: str) -> None:
    shown = render(read(name, text)).content.decode()
    assert shown.partition("Text.")[2].strip() == expected


def test_the_first_of_several_equal_headings_is_no_title() -> None:
    assert read("docs/release-notes.md", "## 0.2\n\nNew.\n\n## 0.1\n\nOld.\n").title == "release-notes"
    assert read("docs/guide.md", "## Guide\n\nNew.\n\n### Part\n\nOld.\n").title == "Guide"


def test_braces_in_inline_code_are_no_role() -> None:
    text = "# A\n\nThe route `/foo` and the route `/{key}` do not overlap and `/foo` wins. See {py:func}`spin`.\n"
    (row,) = rows(read("a.md", text))
    assert row[2].startswith("The route `/foo` and the route `/{key}` do not overlap and `/foo` wins. See `spin()`")


@pytest.mark.parametrize("separator", [" ", "/", "\n"])
def test_a_page_with_endless_attributes_is_read_without_its_tags(separator: str) -> None:
    attributes = separator.join(f"a{number}=1" for number in range(25_000))
    article = read("a.html", f"<html><body><h1>Title</h1><p>Words.</p><p {attributes}>More.</p></body></html>")
    assert any("too-many-attributes" in problem for problem in article.problems)
    usual = "".join(f'<p id="p{number}" class="a">Words {number}.</p>' for number in range(5_000))
    assert not any("too-many" in problem for problem in read("a.html", f"<body><h1>T</h1>{usual}</body>").problems)


def test_a_page_of_too_deep_elements_has_no_programs() -> None:
    page = "<h1>Doc</h1><SCRIPT>run('<p>')</script ><style>p {color: red}</style><p>The port is 80.</p>"
    article = read_article(Document("a.html", f"{page}{'<div>' * 20_000}deep<script>left open".encode(), "a.html"))
    text = " ".join(block.text for section in article.sections for block in section.blocks)
    assert "The port is 80." in text and "deep" in text
    assert not any(word in text for word in ("run", "color", "left open"))


def test_options_of_descriptions_are_said_in_the_text_and_are_facts() -> None:
    rst = """T
=

.. confval:: follow_imports

    :type: string
    :default: ``normal``
    :version_added: 1.6

    What to do.

.. conf::
   :keys: ignore_errors
   :default: the value of :conf:`x`
   :deprecated: 3.1 use *y*

.. py:class:: Foo
   :no-index:
"""
    found = rows(read("a.rst", rst))
    assert found == [
        ("signature", "follow_imports", "follow_imports"),
        ("paragraph", "", "`follow_imports`: type: string; default: `normal`."),
        ("note", "versionadded 1.6", "Added in version 1.6."),
        ("paragraph", "", "What to do."),
        ("signature", "ignore_errors", "ignore_errors"),
        ("paragraph", "", "`ignore_errors`: default: the value of x."),
        ("note", "deprecated 3.1", "Deprecated since version 3.1: use y."),
        ("signature", "Foo", "Foo"),
    ]
    facts = [(one.kind, one.subject, one.value) for one in find_facts(render(read("a.rst", rst)))]
    assert facts == [
        ("default", "follow_imports", "normal"),
        ("added", "follow_imports", "1.6"),
        ("default", "ignore_errors", "the value of x"),
        ("deprecated", "ignore_errors", "3.1"),
    ]
    myst = "# T\n\n:::{confval} lifetime\n:type: int\n:default: 5\n\nSeconds.\n:::\n"
    assert rows(read("a.md", myst))[1] == ("paragraph", "", "`lifetime`: type: int; default: `5`.")


def test_settings_of_sphinx_are_parsed_and_never_run(tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    conf = f"""import os
from pathlib import Path
version = "3.1"
release = f"{{version}}.4"
rst_prolog = ".. |proj| replace:: **Foo**\\n"
rst_prolog += '''
.. |long| replace:: two
   lines
.. _site: https://foo.example/
'''
rst_epilog = ".. |lim| replace:: " + "``4096``"
myst_substitutions = {{"lim": "77", "run": Path({str(touched)!r}).touch()}}
"""
    settings = read_settings(conf.encode())
    text = "T\n=\n\n|proj| |release| takes |lim|, |long| and |unknown|, see site_.\n"
    article = read_article(Document("a.rst", text.encode(), "a.rst", settings=settings))
    assert rows(article) == [("paragraph", "", "Foo 3.1.4 takes `4096`, two lines and |unknown|, see site.")]
    assert links(article) == [("url", "https://foo.example/")]
    markdown = Document("a.md", b"# T\n\n{{ lim }} of {{ run }}\n", "a.md", settings=settings)
    assert rows(read_article(markdown)) == [("paragraph", "", "77 of {{ run }}")]
    assert not touched.exists()
    changed = read_settings(conf.replace("4096", "8192").encode())
    assert read_article(Document("a.rst", text.encode(), "a.rst", settings=changed)).digest != article.digest
    assert read_settings(b"def (").substitutions == {} and read_settings(b"", "2.0").substitutions["version"] == "2.0"
    deep = b"rst_prolog = " + b"(" * 5_000 + b"'a'" + b")" * 5_000
    assert read_settings(deep).substitutions == {}
    assert read_settings(b"rst_prolog = " + b"'a' + " * 5_000 + b"'b'").substitutions == {}
