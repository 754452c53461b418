"""From the bytes of a document to its article: chooses the reader by name, declared type and content.

Every reader runs within a limit of bytes, and an error in one becomes a problem of the article: no input raises.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.formats.asciidoc import read_asciidoc
from atlas.packs.documentation.formats.decoding import decode
from atlas.packs.documentation.formats.draft import Draft, finish
from atlas.packs.documentation.formats.markdown import read_markdown
from atlas.packs.documentation.formats.notebook import read_notebook
from atlas.packs.documentation.formats.openapi import read_openapi
from atlas.packs.documentation.formats.plain_text import read_plain_text
from atlas.packs.documentation.formats.restructured.settings import NO_SETTINGS
from atlas.packs.documentation.formats.restructured.text import read_restructured
from atlas.runtime.process.extras import missing_extra

if TYPE_CHECKING:
    from atlas.packs.documentation.article import Article
    from atlas.packs.documentation.formats.document import Document

SUBSTITUTED = lazy_regex(rb"\|\S|\{\{|_\b")
"""What a name of the settings looks like in a document: `|name|`, `{{ name }}`, `target_`."""
VARIABLE = lazy_regex(r"\{\{ ?(\w{1,80}) ?\}\}")
MAX_BYTES = 8 << 20
"""Of a text or page; the rest is cut with a problem. PDF files have a limit of their own."""

ENDINGS = {
    "md": "markdown", "markdown": "markdown", "mdx": "markdown", "mkd": "markdown", "qmd": "markdown",
    "rst": "restructuredtext", "rest": "restructuredtext",
    "html": "html", "htm": "html", "xhtml": "html",
    "adoc": "asciidoc", "asciidoc": "asciidoc", "asc": "asciidoc",
    "ipynb": "notebook", "pdf": "pdf", "txt": "text", "text": "text",
}  # fmt: skip

MEDIA_TYPES = {
    "text/html": "html", "application/xhtml+xml": "html", "text/markdown": "markdown", "text/x-markdown": "markdown",
    "text/x-rst": "restructuredtext", "text/prs.fallenstein.rst": "restructuredtext", "application/pdf": "pdf",
    "application/x-ipynb+json": "notebook", "text/asciidoc": "asciidoc", "text/plain": "text",
}  # fmt: skip

PLAIN_NAMES = frozenset(("readme", "changelog", "changes", "news", "history", "authors", "install", "faq", "howto"))
"""Files without an ending that are documentation."""

RESTRUCTURED = lazy_regex(
    r"^\.\. [\w-]+(?:::|:[\w-]+::)|^\.\. _[^\n]+:|:(?:ref|doc|func|class|meth|mod):`|^[^\n]+\n(=|-|~){4,}\n\n", re.M
)


def format_of(path: str, media_type: str = "") -> str:
    """Return the format that a path or declared type names, "" if no reader knows it."""
    name = path.rpartition("/")[2].lower()
    stem, _, ending = name.rpartition(".")
    declared = MEDIA_TYPES.get(media_type.partition(";")[0].strip().lower(), "")
    # servers send the sources of every markup as text/plain
    if declared and declared != "text":
        return declared
    known = ENDINGS.get(ending, "") if stem else ""
    if not known and ending in ("yaml", "yml", "json") and _is_of_openapi(stem):
        return "openapi"
    return known or declared or ("text" if name in PLAIN_NAMES else "")


def _is_of_openapi(stem: str) -> bool:
    """Return whether a file is named as a description of an interface: others of its format are data."""
    return "openapi" in stem or "swagger" in stem or stem == "api" or stem.endswith("-api")


def read_article(document: Document) -> Article:
    """Return the article of a document, with problems instead of errors."""
    digest = hashlib.blake2b(document.data, digest_size=16, key=settings_key(document)).hexdigest()
    draft = Draft()
    form = "text"
    try:
        form = _read(document, draft)
    except Exception as error:  # noqa: BLE001 a reader's mistake must not lose the other documents
        draft.problem(0, "reader-failed", f"{type(error).__name__}: {error}")
    if document.cut:
        draft.problem(0, "too-large", "only the first part was read")
    return finish(draft, document, form, digest)


def _read(document: Document, draft: Draft) -> str:
    data = document.data
    form = format_of(document.path or document.url, document.media_type)
    if data.startswith(b"%PDF-"):
        form = "pdf"
    if form == "pdf":
        from atlas.packs.documentation.formats.pdf import read_pdf

        read_pdf(data, draft)
        return form
    if len(data) > MAX_BYTES:
        draft.problem(0, "too-large", f"{len(data):,} bytes; {MAX_BYTES:,} of them are read")
        data = data[:MAX_BYTES]
    if _is_binary(data):
        draft.problem(0, "binary", "the document is not text")
        return form or "text"
    text, problem = decode(data, document.charset)
    if problem:
        draft.problems.append(problem)
    if form == "html" and is_json(text):
        draft.problem(0, "not-html", "the page is JSON")
        return form
    form = _by_content(form, text)
    _read_text(form, text, document, draft)
    return form


def _read_text(form: str, text: str, document: Document, draft: Draft) -> None:
    if form == "html":
        try:
            from atlas.packs.documentation.formats.html.page import read_page
        except ModuleNotFoundError as error:
            if missing_extra(error) is None:
                raise
            draft.problem(0, "no-html-reader", "no HTML reader: install the extra code-atlas[packs], see atlas doctor")
            return

        read_page(text, document, draft)
    elif form == "markdown":
        read_markdown(_with_variables(text, document), draft, document.path)
    elif form == "restructuredtext":
        read_restructured(text, draft, document.inclusion, document.settings or NO_SETTINGS)
    elif form == "openapi":
        read_openapi(text, draft)
    elif form == "notebook":
        read_notebook(text, draft)
    elif form == "asciidoc":
        read_asciidoc(text, draft)
    else:
        read_plain_text(text, draft)


def settings_key(document: Document) -> bytes:
    """Return what the digest of a document has of its settings: nothing if it cannot use any of their names."""
    if document.settings is None or not SUBSTITUTED.search(document.data):
        return b""
    return hashlib.blake2b(document.settings.text.encode("utf-8", "replace"), digest_size=16).digest()


def _with_variables(text: str, document: Document) -> str:
    """Return a Markdown text with the values of the variables that its settings define."""
    variables = (document.settings or NO_SETTINGS).variables
    return VARIABLE.sub(lambda found: variables.get(found[1], found[0]), text) if variables else text


def _by_content(form: str, text: str) -> str:
    """Correct what the name says by the content: text that is reStructuredText, pages that are JSON."""
    head = text[:2000].lstrip()
    if form in ("text", ""):
        if re.match(r"<!doctype html|<html", head, re.I):
            return "html"
        if RESTRUCTURED.search(text[:20_000]):
            return "restructuredtext"
        return "text"
    return form


def is_json(text: str) -> bool:
    """Return whether a text is an object or array of JSON."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_binary(data: bytes) -> bool:
    sample = data[:4096]
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")) or not sample:
        return False
    zeros = sample.count(0)
    # UTF-16 has a zero in every other byte of ASCII text
    is_wide = max(sample[::2].count(0), sample[1::2].count(0)) > len(sample) * 0.3
    odd = sum(1 for byte in sample if byte < 9 or 13 < byte < 32)
    return (zeros > 0 and not is_wide) or odd > len(sample) * 0.3
