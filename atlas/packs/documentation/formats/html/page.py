"""A whole HTML page: its metadata, its main content without navigation, and the places that its navigation names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.formats.html import objects
from atlas.packs.documentation.formats.html.walk import HtmlWalker, attribute

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from atlas.packs.documentation.formats.document import Document
    from atlas.packs.documentation.formats.draft import Draft

MAX_NESTING = 400
"""Open elements. Lexbor's time is quadratic in them: 100,000 take 50 s."""

TAG = lazy_regex(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
NOT_NESTING = frozenset((
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "p", "li",
    "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "optgroup", "rb", "rt", "rp", "colgroup", "html",
    "head", "body", "path", "circle", "rect", "line", "polyline", "polygon", "ellipse", "use", "stop",
))  # fmt: skip

MAIN = (
    "[role=main] article", "[role=main]", "main article", "main", "article[role=main]", "#main-content", "div.body",
    "article", "#content", ".markdown-body", "div.document", "#main", ".content", ".post-content",
)  # fmt: skip
MIN_MAIN_TEXT = 0.2
"""Share of the page's text that the main content has at least; else the whole body is read."""

NOISE = (
    "script", "style", "noscript", "template", "nav", "footer", "aside", "form", "button", "iframe", "svg", "canvas",
    "select", "object", "dialog", "[role=navigation]", "[role=search]", "[role=banner]", "[role=contentinfo]",
    ".headerlink", ".sphinxsidebar", "div.related", ".md-sidebar", ".md-header", ".md-footer", ".toc", "#toc",
    ".table-of-contents", ".breadcrumb", ".breadcrumbs", ".wy-breadcrumbs", ".edit-page-link", ".prev-next-area",
    ".pagination-nav", ".sub-nav", ".skip-nav", ".skip-link", "a.anchor", "a.hash-link", "a.src", "a.viewcode-link",
    ".viewcode-back", ".linenos", ".copybtn", ".rst-versions", ".cookie-banner", "[hidden]", ".visually-hidden",
    "rustdoc-toolbar", ".nav-bread", "#rustdoc-modnav", ".sidebar", ".tooltip", "div.source.expanded",
)  # fmt: skip
DOXYGEN_NOISE = ("#top", "#nav-path", "#titlearea", "#side-nav", ".footer", ".permalink", ".summary")
PERMALINKS = "[aria-hidden=true]"
LOGIN_WORDS = lazy_regex(r"\b(?:log|sign)[ -]?in\b|\bpassword\b|\bauthenticat", re.I)
MIN_TEXT = 200
"""Characters of a page that has content next to a form or a script."""

MAX_ATTRIBUTE_NAMES = 20_000
"""Different words in all tags of a page; the parser needs 1.6 CPU seconds for as many names."""
_TAG = lazy_regex(r"<[A-Za-z](?:[^\"'>]++|\"[^\"]*+\"?|'[^']*+'?)*+")
_SEPARATOR = lazy_regex(r"[\s/\"']+")
_PROGRAM = lazy_regex(r"<(script|style)\b", re.I)
_PROGRAM_ENDS = {name: lazy_regex(rf"</{name}\b", re.I) for name in ("script", "style")}


def read_page(text: str, document: Document, draft: Draft) -> None:
    """Read a page into a draft."""
    tree = parse_html(text, draft)
    if tree.body is None:
        draft.problem(0, "empty", "the page has no content")
        return
    if is_excluded(tree, document):
        draft.problem(0, "noindex", "the page asks not to be indexed")
        return
    base = _metadata(tree, document, draft)
    reason = _without_content(tree)
    _navigation(tree, base, document, draft)
    generator = tree.css_first("meta[name=generator]")
    _remove_noise(tree, (*NOISE, *DOXYGEN_NOISE) if objects.is_doxygen(generator) else NOISE)
    if objects.is_doxygen(generator) and (title := tree.css_first(".headertitle .title")):
        draft.heading(1, title.text())
        title.decompose()
    body = tree.body
    main = _main(tree, body)
    HtmlWalker(draft, base, 0, "").walk(main)
    if not draft.title:
        draft.title = document.url
    if not draft.blocks:
        draft.problem(0, reason or "empty", "the page has no text of its own")


def parse_html(text: str, draft: Draft) -> LexborHTMLParser:
    """Return the tree of a text; one with too deep elements or too many attributes is read without its tags."""
    if deep := _too_deep(text):
        draft.problem(0, "deep-nesting", "elements are nested too deeply; the text is read without them")
    if many := _has_too_many_attributes(text):
        draft.problem(0, "too-many-attributes", "elements have too many attributes; the text is read without them")
    if deep or many:
        text = re.sub(r"<[^<>]{0,2000}>", " ", _without_programs(text)).replace("<", " ")
    return LexborHTMLParser(text)


def _without_programs(text: str) -> str:
    """Return a text without scripts and styles; one that is not closed goes on to the end, as browsers read it."""
    kept: list[str] = []
    at = 0
    while opening := _PROGRAM.search(text, at):
        kept.append(text[at : opening.start()])
        closing = _PROGRAM_ENDS[opening[1].lower()].search(text, opening.end())
        at = closing.end() if closing else len(text)
    return "".join((*kept, text[at:]))


def _has_too_many_attributes(text: str) -> bool:
    """Return whether the tags hold too many different words: the parser's time grows with the square of their names."""
    names: set[str] = set()
    for tag in _TAG.finditer(text):
        names.update(word.partition("=")[0] for word in _SEPARATOR.split(tag[0]))
        if len(names) > MAX_ATTRIBUTE_NAMES:
            return True
    return False


def is_excluded(tree: LexborHTMLParser, document: Document) -> bool:
    """Return whether the page, or the response with it, asks not to be indexed."""
    said = [document.headers.get("x-robots-tag", "")]
    said.extend(attribute(node, "content") for node in tree.css("meta[name=robots]"))
    return any(word in ("noindex", "none") for one in said for word in re.split(r"[\s,]+", one.lower()))


def _metadata(tree: LexborHTMLParser, document: Document, draft: Draft) -> str:
    """Read language, licence and canonical address. Return the address that links are relative to."""
    root = tree.css_first("html")
    language = attribute(root, "lang") if root else ""
    language = language or document.headers.get("content-language", "").partition(",")[0]
    draft.language = language.strip().lower()[:20]
    for node in tree.css("a[rel~=license], link[rel~=license]"):
        draft.licence = " ".join((node.text() or attribute(node, "href")).split())[:200] or attribute(node, "href")
        break
    base = document.url
    if node := tree.css_first("base[href]"):
        base = _joined(base, attribute(node, "href"))
    if document.url and (node := tree.css_first("link[rel=canonical]")):
        canonical = urldefrag(_joined(base, attribute(node, "href")))[0]
        # a page may only speak for its own site
        if urlsplit(canonical).netloc == urlsplit(document.url).netloc:
            draft.url = canonical
    if node := tree.css_first("title"):
        draft.title = re.split(r"\s[—–|·-]\s", " ".join(node.text().split()))[0][:300]
    return base


def _navigation(tree: LexborHTMLParser, base: str, document: Document, draft: Draft) -> None:
    """Take the children that the content's table of contents names, and the parents of a trail of breadcrumbs."""
    own = document.url or document.key
    for node in tree.css(".toctree-wrapper a[href], .section-toc a[href], nav.contents a[href]")[:2000]:
        target = urldefrag(_joined(base, attribute(node, "href")))[0]
        if target and target != own:
            draft.children.append(target)
    for selector in ("[aria-label*=readcrumb] li", ".wy-breadcrumbs li", ".breadcrumbs li", ".breadcrumb li"):
        names = [" ".join(node.text().split()) for node in tree.css(selector)][:12]
        names = [name.strip("»/› ") for name in names]
        if any(names):
            draft.parents = tuple(name for name in names[:-1] if name and len(name) < 120)
            return


def _without_content(tree: LexborHTMLParser) -> str:
    """Return why a page may have no content: `login` for a form with a password, `script` for one made by a script."""
    if tree.css_first("input[type=password]"):
        return "login"
    body = tree.body
    text = body.text() if body else ""
    if len(text) < MIN_TEXT * 5 and LOGIN_WORDS.search(text) and tree.css_first("form"):
        return "login"
    return "script" if tree.css_first("script") else ""


def _remove_noise(tree: LexborHTMLParser, noise: tuple[str, ...]) -> None:
    for node in tree.css(", ".join(noise)):
        # Docusaurus and others put the title into a header, Sphinx its content into a form of tabs
        if node.tag in ("form", "aside", "nav") and node.css_first("h1"):
            continue
        node.decompose()
    for node in tree.css("header"):
        if not node.css_first("h1"):
            node.decompose()
    for node in tree.css(f"a{PERMALINKS}, span{PERMALINKS}"):
        node.decompose()


def _main(tree: LexborHTMLParser, body: LexborNode) -> LexborNode:
    length = len(body.text())
    for selector in MAIN:
        found = tree.css_first(selector)
        if found is not None and len(found.text()) >= length * MIN_MAIN_TEXT:
            return found
    return body


def _too_deep(text: str) -> bool:
    depth = 0
    for found in TAG.finditer(text):
        if found[2].lower() in NOT_NESTING:
            continue
        depth += -1 if found[1] else 1
        if depth > MAX_NESTING:
            return True
        depth = max(depth, 0)
    return False


def _joined(base: str, target: str) -> str:
    try:
        return urljoin(base, target.strip())
    except ValueError:
        return ""


def read_fragment(text: str, draft: Draft, line: int, note: str) -> None:
    """Add the blocks of a piece of HTML at a line; `note` is the admonition around it."""
    from atlas.packs.documentation.formats.html.walk import HtmlWalker

    if text.lstrip().startswith("<!--"):
        return
    tree = parse_html(text, draft)
    if tree.body is not None:
        HtmlWalker(draft, "", line, note).walk(tree.body)
