"""Text search as Memgraph 3.12 does it, on the same search library: no question fails, and what is asked for is found.

Memgraph keeps the indexed properties of a node in one JSON field `data` with Tantivy's default tokenizer, and makes
the whole query lower case but for the words AND, OR and NOT before Tantivy's parser reads it. That much is repeated
here; everything else is Tantivy itself, of the version that Memgraph is built with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import tantivy

from atlas.adapters.stores.bolt.dialect import MemgraphDialect
from atlas.adapters.stores.bolt.rows import WORDS, entry_properties
from atlas.core.model import SearchText
from atlas.parsing import split_words
from tests.conformance.rows import node

DIALECT = MemgraphDialect()


class TextIndex:
    """Documents by name, each with what it is searched by."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        schema = tantivy.SchemaBuilder().add_json_field("data").add_text_field("uid", stored=True).build()
        self._index = tantivy.Index(schema)
        writer = self._index.writer(heap_size=15_000_000)
        for uid, text in documents.items():
            writer.add_document(tantivy.Document.from_dict({"data": {WORDS: text}, "uid": uid}))
        writer.commit()
        self._index.reload()

    def search(self, query: str) -> list[str]:
        """Names of the documents, best first; raises `ValueError` for what Memgraph answers with an error."""
        parts = re.split(r"(\s+)", query)
        lowered = "".join(part if part in ("AND", "OR", "NOT") else part.lower() for part in parts)
        searcher: Any = self._index.searcher()
        hits = searcher.search(self._index.parse_query(lowered, []), 100).hits
        return [searcher.doc(place)["uid"][0] for _, place in hits]

    def ask(self, asked: Sequence[str]) -> list[str]:
        """What the store's question for these words finds; nothing is asked for nothing."""
        query = DIALECT.text_query(asked)
        return self.search(query) if query else []


def words(text: str) -> str:
    """A text as the indexer writes it."""
    return " ".join(split_words(text))


TEXTS = {
    "camel": "getUserById",
    "snake": "parse_http_header",
    "number": "error 404",
    "truth": "true false null nan inf",
    "accent": "café naïve",
    "han": "日本語 解析",
    "hindi": "हिन्दी",
    "turkish": "İstanbul",
    "sharp": "straße",
    "operators": "and or not in to",
    "date": "2024-01-01T00:00:00Z",
    "property": "words data",
    "long": "X" * 100,
    "path": "src/app.py:12 C:\\temp",
    "marks": "foo(bar) [baz] {qux} \"quoted\" 'single' `tick` a+b -c ^d ~e *f ?g !h <T> @i #j $k %l &m |n",
}
INDEX = TextIndex({uid: words(text) for uid, text in TEXTS.items()})

NASTY = [
    *("", " ", "\0", '"', '""', "'", "`", "(", ")", "((", "[", "]", "{", "}", "[a TO b]", "{* TO z}", "<T>", "\\", "\\\\", "\\("),
    *("AND", "OR", "NOT", "and", "IN", "IN [a b]", "a AND", "AND a", "NOT x", "a OR OR b", "(NOT x)", "AND(", "TO"),
    *(":", "a:b", "data.words:x", "data.:", "::", "http://x/y?z=1&w=2", "*", "*:*", "get*", "g?t", '"get us"*', "/re.*/"),
    *("^2", "x^", "x^-1", "~", "x~2", "+a -b", "-a", "--", "!x", "&&", "||", "get_user", "_", "___", "\u0301", "a\u0301"),
    *("🙂", "\u200b", "\u202e", "\ufeff", "ﬁ", "²", "٣", "𝔘", "İ", "ſ", "ß", "\ud800", "😀" * 1000, "x\ny\tz"),
    *("1e5", "1e999", "-1", "0x1f", "9" * 400, "true", "null", "nan", "inf", "2024-01-01", "2024-01-01T00:00:00Z"),
    *("x" * 39, "x" * 40, "é" * 20, "日" * 14, "x" * 100_000, "日" * 100_000, "( " * 50_000, "word " * 20_000, "हिन्दी" * 5_000),
]  # fmt: skip


def test_the_library_is_that_of_memgraph() -> None:
    assert re.match(r"tantivy v0\.25\.0\b", tantivy.__version__)


@pytest.mark.parametrize("text", NASTY, ids=lambda text: ascii(text[:24]))
def test_no_question_fails(text: str) -> None:
    """As one word, as words, with a good word beside it, and twice."""
    for asked in ([text], text.split(), [text, "header"], [text, text + text]):
        found = INDEX.ask(asked)
        assert "header" not in asked or "snake" in found


@pytest.mark.parametrize("text", NASTY, ids=lambda text: ascii(text[:24]))
def test_no_question_fails_as_it_comes_from_the_search(text: str) -> None:
    """And none hides what a good word next to it finds."""
    assert "snake" in INDEX.ask([*split_words(text.replace("\ud800", "")), "header"])


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("getUserById", ["camel"]),
        ("GETUSERBYID", ["camel"]),
        ("user", ["camel"]),
        ("parse_http_header", ["snake"]),
        ("HTTP AND Header", ["snake"]),
        ("404", ["number"]),
        ("nan", ["truth"]),
        ("inf NULL", ["truth"]),
        ("CAFÉ", ["accent"]),
        ("日本語", ["han"]),
        ("語", ["han"]),
        ("हिन्दी", ["hindi"]),
        ("İstanbul", ["turkish"]),
        ("STRASSE Straße", ["sharp"]),
        ("2024-01-01T00:00:00Z", ["date"]),
        ("words:data", ["property"]),
        ("C:\\temp", ["path"]),
        ('"quoted"', ["marks"]),
        ("foo(bar)", ["marks"]),
        ("[baz] OR {qux}", ["marks"]),
        ("data", ["property"]),
        ("getUserById 404", ["camel", "number"]),
        ("NOT user", ["camel"]),
        ("-user", ["camel"]),
        ("nothing of this", []),
        ("not in to", []),
    ],
)
def test_what_is_asked_for_is_found(asked: str, expected: list[str]) -> None:
    """A question names words: nothing in it excludes, ranges or names a property."""
    assert sorted(INDEX.ask(split_words(asked))) == expected
    if " " not in asked:
        assert sorted(INDEX.ask([asked])) == expected


def test_words_with_spaces_between_them_are_a_phrase() -> None:
    assert INDEX.ask(["http header"]) == ["snake"]
    assert INDEX.ask(["header http"]) == []


def test_a_name_counts_more_than_a_docstring_and_that_more_than_the_source() -> None:
    filler = SearchText("p:a", "other", "other", "other", "other", "other")
    texts = {
        "source": filler._replace(source="parse"),
        "docstring": filler._replace(docstring="parse"),
        "name": filler._replace(name="parse"),
        "none": filler,
    }
    index = TextIndex({uid: str(entry_properties("p", "a.py", node("a"), text)[WORDS]) for uid, text in texts.items()})
    assert index.ask(["parse"]) == ["name", "docstring", "source"]


@pytest.mark.parametrize(
    "query",
    [
        "parse",
        "data.words:(",
        "data.words:(a b",
        'data.words:"a',
        "data.words:(a AND )",
        "data.words:[a TO b]",
        "data.words:a:b:",
        f"data.words:({'x' * 40})^8",
        "-data.words:a",
    ],
)
def test_what_would_fail(query: str) -> None:
    """Why the words of a question are cut out and nothing else is sent: each of these is an error of the server."""
    with pytest.raises(ValueError):
        INDEX.search(query)


def test_a_property_in_mixed_case_would_never_be_found() -> None:
    """The names of properties are made lower case, too: the dialect's are (`test_bolt_dialect`)."""
    assert INDEX.search(f"data.{WORDS}:user") == ["camel"]
    schema = tantivy.SchemaBuilder().add_json_field("data").build()
    mixed = tantivy.Index(schema)
    writer = mixed.writer(heap_size=15_000_000)
    writer.add_document(tantivy.Document.from_dict({"data": {"textName": "user"}}))
    writer.commit()
    mixed.reload()
    assert not mixed.searcher().search(mixed.parse_query("data.textName:user".lower(), []), 1).hits
