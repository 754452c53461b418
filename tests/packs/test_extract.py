"""What rules take from articles: entities, facts with evidence, relations."""

import pytest

from atlas.core.english.sentences import sentences
from atlas.packs.documentation.article import Article, Block, BlockKind, Section
from atlas.packs.documentation.extract.facts import find_facts
from atlas.packs.documentation.extract.names import code_symbol
from atlas.packs.documentation.formats.document import Document
from atlas.packs.documentation.formats.reading import read_article
from atlas.packs.documentation.graph import build_graph, extract
from atlas.packs.documentation.rendering import render


def article(*blocks: Block, title: str = "Page", heading: str = "Part") -> Article:
    sections = (Section("", title, 1, ()), Section("part", heading, 2, blocks))
    return Article("page.md", title, sections)


def paragraph(text: str) -> Block:
    return Block(BlockKind.PARAGRAPH, text)


@pytest.mark.parametrize(
    ("text", "kind", "subject", "value"),
    [
        ("`SPIN_TIMEOUT` defaults to `30`.", "default", "SPIN_TIMEOUT", "30"),
        ("By default, `max_length` is `255`.", "default", "max_length", "255"),
        ("A key of `CACHE_KEYS` has at most 250 characters.", "limit", "CACHE_KEYS", "250 characters"),
        ("`get_object()` raises `Http404` if there is none.", "error", "get_object", "Http404"),
        ("A `ValidationError` is raised for `clean_name()`.", "error", "clean_name", "ValidationError"),
        ("`max_age` must be between 10 and 20 here.", "limit", "max_age", "10 and 20"),
        ("`x.y()` accepts up to 5 and no more.", "limit", "x.y", "5"),
        ("`old.thing()` has been deprecated since 4.2.", "deprecated", "old.thing", "4.2"),
        ("The `old.thing()` function is removed.", "removed", "old.thing", ""),
        ("Deprecated `old_thing()` in 4.2.", "deprecated", "old_thing", "4.2"),
        ("Automatically calling `x.show()` is deprecated.", "deprecated", "", ""),
        ("Reading it is now deprecated, so `new.thing()` does not.", "deprecated", "", ""),
        ("`x.spin()` was added in version 1.5.", "added", "x.spin", "1.5"),
        ("Support for `a.b` was removed in version 5.0.", "removed", "a.b", "5.0"),
    ],
)
def test_facts_have_subject_value_and_sentence(text: str, kind: str, subject: str, value: str) -> None:
    (fact,) = (one for one in extract(render(article(paragraph(text)))).facts if one.kind == kind)
    assert (fact.subject, fact.value, fact.sentence, fact.section) == (subject, value, text, "part")


@pytest.mark.parametrize(
    "text",
    [
        "The default route is long.",
        "It is an error to do so.",
        "Nothing is said here at most.",
        "If an option has no default value (or the default value is `None`), nothing is shown.",
        "`log()` prints everything if the level is at least 2.",
        "Starting takes up to 30% less time.",
        "`--trace` shows a stack trace when a `CommandError` is raised.",
        "Bug in `to_latex()` where a missing value would cause an `IndexError`.",
        "Fixed an error introduced in 0.5.4 in `merge()`.",
        "What\u2019s new in 2.0 and the new 2.0 style.",
        "`OTHER_DEFAULT`: Not used. Default: Not defined.",
        "When the support added in 1.4 was active, `dates()` was slow.",
        "Previously, passing nothing would raise a `TypeError`.",
        "If a feature is deprecated, it goes on to work.",
        "The notes list the deprecated features in 1.2.",
    ],
)
def test_sentences_without_a_value_are_no_facts(text: str) -> None:
    assert extract(render(article(paragraph(text)))).facts == ()


def test_release_notes_give_the_version_of_what_they_declare_deprecated() -> None:
    notes = article(paragraph("The `old.thing()` function is deprecated."), title="Widget 2.1 release notes")
    (fact,) = extract(render(notes)).facts
    assert (fact.kind, fact.value, fact.of_whole) == ("deprecated", "2.1", True)
    argument = article(paragraph("The `old.thing()` argument is deprecated."))
    assert not any(one.of_whole for one in extract(render(argument)).facts)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Deprecated since version 1.8.", True),
        ("This function is deprecated since 1.8.", True),
        ("This was removed in 1.8.", True),
        ("Passing strings is deprecated since 1.8.", False),
        ("Deprecated since 1.8: the `axis` argument.", False),
        ("The old syntax is deprecated since 1.8.", False),
    ],
)
def test_a_section_that_says_it_is_deprecated_means_the_name_in_its_heading(text: str, whole: bool) -> None:
    facts = extract(render(article(paragraph(text), heading="`widget.brake()`"))).facts
    (fact,) = (one for one in facts if one.kind in ("deprecated", "removed"))
    assert (fact.subject, fact.value, fact.of_whole) == ("widget.brake", "1.8", whole)


def test_signatures_are_entities_with_versions_and_members() -> None:
    blocks = (
        Block(BlockKind.SIGNATURE, "class Query(model)", "db.Query", "class"),
        paragraph("Asks the database."),
        Block(BlockKind.SIGNATURE, "Query.first(*, key=None)", "db.Query.first", "method", depth=1),
        Block(BlockKind.NOTE, "Use `one()` instead.", "deprecated 4.2"),
        paragraph("Returns the first row."),
    )
    graph = build_graph("p", [article(*blocks)])
    nodes = {row.qualified_name: row for unit in graph.units for row in unit.nodes or ()}
    first = nodes["entity:db.Query.first"]
    assert (first.kind, first.signature, first.docstring) == (
        "method",
        "Query.first(*, key=None)",
        "Returns the first row.",
    )
    assert '"deprecated":"4.2"' in first.properties
    edges = {(edge.source, edge.target, edge.properties) for unit in graph.units for edge in unit.edges}
    assert ("p:entity:db.Query.first", "p:entity:db.Query", '{"type":"member of"}') in edges
    assert all(row.start_byte <= row.end_byte for row in nodes.values())


NESTED_RST = """
API
===

.. py:class:: Server(port)

   Serves.

   .. py:method:: start()
      :deprecated: 2.1

      Starts it.

   .. option:: port

      :type: int
      :default: 8080

   .. deprecated:: 2.0
      Use :class:`Other` instead.
"""
NESTED_HTML = """<html><body><h1>API</h1><dl class="py class"><dt id="Server">class <code>Server</code>(port)</dt><dd>
<p>Serves.</p><dl class="py method"><dt id="Server.start"><code>start</code>()</dt><dd><p>Starts it.</p>
<div class="deprecated"><p>Deprecated since version 2.1.</p></div></dd></dl>
<div class="deprecated"><p>Deprecated since version 2.0: Use Other instead.</p></div></dd></dl></body></html>"""


@pytest.mark.parametrize(("name", "text"), [("a.rst", NESTED_RST), ("a.html", NESTED_HTML)])
def test_what_follows_the_parts_of_an_object_is_about_the_object(name: str, text: str) -> None:
    found = extract(render(read_article(Document(name, text.encode(), name)))).facts
    deprecated = {fact.value: fact.subject for fact in found if fact.kind == "deprecated"}
    assert deprecated == {"2.0": "Server", "2.1": "Server.start"}
    assert all(fact.subject == "port" for fact in found if fact.kind == "default")


def test_every_passage_and_fact_is_the_text_at_its_place() -> None:
    text = "Größe: naïve. " + "Each sentence says a little more about widgets. " * 60 + "`W.x` defaults to `7`."
    graph = build_graph("p", [article(paragraph(text), Block(BlockKind.CODE, "spin()\n" * 400, "python"))])
    unit = graph.units[1]
    content = unit.content or b""
    chunks = [row for row in unit.nodes or () if row.label == "Chunk"]
    assert len(chunks) > 3
    assert max(row.end_byte - row.start_byte for row in chunks) < 2000
    joined = b"".join(content[row.start_byte : row.end_byte] for row in chunks).decode()
    assert "".join(joined.split()) == "".join(content[chunks[0].start_byte :].decode().split())
    (fact,) = (row for row in unit.nodes or () if row.label == "Fact")
    assert content[fact.start_byte : fact.end_byte].decode() == fact.docstring == "`W.x` defaults to `7`."


@pytest.mark.parametrize(
    ("code", "name"),
    [
        *(("get_user()", "get_user"), ("~a.b.C", "a.b.C"), ("Foo.bar(x, y=1)", "Foo.bar"), ("--dry-run", "--dry-run")),
        *(("name", ""), ("settings.py", ""), ("SELECT 1", ""), ("a + b", "")),
    ],
)
def test_inline_code_is_a_name_only_if_it_looks_like_one(code: str, name: str) -> None:
    assert code_symbol(code) == name


def test_sentences_end_where_people_read_an_end() -> None:
    assert sentences("Use e.g. `a.B. c`. Then stop! See Dr. Who. It works.") == [
        "Use e.g. `a.B. c`.",
        "Then stop!",
        "See Dr. Who.",
        "It works.",
    ]


def test_the_type_of_a_parameter_is_no_part_of_its_name() -> None:
    page = (
        b"<html><head><title>Widget</title></head><body><h1>Widget</h1><p>It turns the wheel of the widget.</p><dl>"
        b"<dt><strong>step</strong><span class='classifier'>int, optional</span></dt><dd><p>Defaults to <code>1</code>.</p></dd>"
        b"</dl></body></html>"
    )
    read = read_article(Document(key="widget.html", data=page, path="widget.html"))
    (fact,) = (one for one in extract(render(read)).facts if one.kind == "default")
    assert (fact.subject, fact.value) == ("step", "1")


@pytest.mark.parametrize(
    ("item", "subject", "value"),
    [
        ("`check_dir` - Looks for the folder. Defaults to `True`.", "check_dir", "True"),
        ("**bodyTimeout** `number | null` (optional) - Default: `300e3` - Milliseconds.", "bodyTimeout", "300e3"),
        ("`retries` (int, optional): Tries again. Defaults to `3`.", "retries", "3"),
        ("`pool`: `Pool` - Default: `new Pool()`.", "pool", "new Pool()"),
        ("Waits before it stops. Defaults to `5`.", "Server", "5"),
    ],
)
def test_a_list_item_names_the_option_that_it_describes(item: str, subject: str, value: str) -> None:
    text = f"# Server\n\n## `Server`\n\nServes files.\n\n* {item}\n"
    found = find_facts(render(read_article(Document(key="a.md", data=text.encode(), path="a.md"))))
    fact = next(one for one in found if one.kind == "default")
    assert (fact.subject, fact.value) == (subject, value)
    assert fact.is_option == (subject != "Server")
    assert fact.owner == ("Server" if fact.is_option else "")


def test_the_number_of_an_issue_is_no_version() -> None:
    text = "# Changes\n\n`box_body` still exists but is deprecated (#530)\n"
    found = find_facts(render(read_article(Document(key="a.md", data=text.encode(), path="a.md"))))
    assert [(one.kind, one.value) for one in found] == [("deprecated", "")]


def test_relations_of_sentences_headings_and_errors() -> None:
    text = """# API

## `old_run()`

Deprecated since 2.0. Use `new_run()` instead.

Raises `ValueError` if it is empty.

## Changes

- `fetch_all` was renamed to `fetch_rows`.
- `Alpha` is deprecated. Use `Beta` instead.
- `Gamma` replaces `Delta`.
- Use `a_list` where you can, `b_list` is fine, too.
"""
    found = extract(render(read_article(Document("a.md", text.encode(), "a.md")))).relations
    assert [(one.source, one.type, one.target) for one in found] == [
        ("old_run", "replaced by", "new_run"),
        ("fetch_all", "replaced by", "fetch_rows"),
        ("Alpha", "replaced by", "Beta"),
        ("Delta", "replaced by", "Gamma"),
        ("old_run", "raises", "ValueError"),
    ]


FIELDS = {
    "api.rst": """API
===

.. function:: spin.up(speed)

   Start.

   :param int speed: Turns. Defaults to ``7``.
   :raises spin.Fault, ValueError: The axle is missing.
   :except OSError: no device
   :returns: KeyError
""",
    "api.md": """# API

## `spin.up(speed)`

**Parameters**

- `speed` (int): Turns. Defaults to `7`.

**Raises:**

- `spin.Fault`, `ValueError`: The axle is missing.
- `OSError` when there is no device.

It returns one of these:

- `KeyError`: not raised.
""",
    "api.html": """<html><body><h1>API</h1><p>What the library does for those who use it.</p>
<dl class="py function"><dt class="sig sig-object py" id="spin.up"><span class="sig-prename">spin.</span><span
class="sig-name">up</span><span class="sig-paren">(</span>speed<span class="sig-paren">)</span></dt><dd><p>Start.</p>
<dl class="field-list"><dt>Parameters:</dt><dd><p><strong>speed</strong> (<em>int</em>) \u2013 Turns. Defaults to
<code>7</code>.</p></dd><dt>Raises:</dt><dd><ul><li><p><strong>spin.Fault</strong> \u2013 no axle</p></li>
<li><p><strong>ValueError</strong> \u2013 negative</p></li><li><p><strong>OSError</strong> \u2013 no device</p></li></ul>
</dd><dt>Returns:</dt><dd><p>KeyError \u2013 or none</p></dd></dl></dd></dl></body></html>""",
}


@pytest.mark.parametrize("path", FIELDS)
def test_fields_say_what_is_raised_and_what_parameters_default_to(path: str) -> None:
    found = extract(render(read_article(Document(path, FIELDS[path].encode(), path))))
    raised = [(one.source, one.target) for one in found.relations if one.type == "raises"]
    assert raised == [("spin.up", "spin.Fault"), ("spin.up", "ValueError"), ("spin.up", "OSError")]
    (default,) = (one for one in found.facts if one.kind == "default")
    assert (default.owner, default.subject, default.value) == ("spin.up", "speed", "7")


def test_an_error_that_only_a_field_names_is_an_entity_with_an_edge() -> None:
    page = read_article(Document("api.rst", FIELDS["api.rst"].encode(), "api.rst"))
    edges = [edge for unit in build_graph("p", [page]).units for edge in unit.edges]
    raised = {edge.target for edge in edges if edge.type == "ENTITY_RELATION" and "raises" in edge.properties}
    assert raised == {"p:entity:spin.Fault", "p:entity:ValueError", "p:entity:OSError"}


def test_titles_of_lists_outside_descriptions_are_no_fields() -> None:
    text = "# Guide\n\nRaises:\n\n- `ValueError`: bad\n\nArguments\n\n- `speed`: It defaults to `7`.\n"
    found = extract(render(read_article(Document("a.md", text.encode(), "a.md"))))
    assert not [one for one in found.facts if one.kind == "error"] and not found.relations
