"""Documented objects in the markup of generators: Sphinx, mkdocstrings, Javadoc, rustdoc and TypeDoc."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.formats.html.inline import attribute, classes
from atlas.packs.documentation.formats.restructured.signatures import ROLES

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

SPHINX_DOMAINS = frozenset(("py", "c", "cpp", "js", "std", "rst", "http", "ts", "php", "rb", "java"))

RUSTDOC_PREFIX = lazy_regex(
    r"(?P<kind>method|tymethod|fn|structfield|variant|associatedconstant|associatedtype|macro)\.(?P<name>\w+)"
)
RUSTDOC_ROLES = {
    "method": "method", "tymethod": "method", "fn": "function", "structfield": "attribute", "variant": "constant",
    "associatedconstant": "constant", "associatedtype": "type", "macro": "macro",
}  # fmt: skip
RUSTDOC_TITLE = lazy_regex(
    r"(?P<kind>Struct|Enum|Trait|Union|Function|Macro|Module|Crate|Type|Type Alias|Constant|Static|Attribute Macro|"
    r"Derive Macro|Primitive Type|Keyword)\s+(?P<name>[\w:`]+)"
)
JAVADOC_TITLE = lazy_regex(
    r"(?:Class|Interface|Enum(?: Class)?|Record(?: Class)?|Annotation (?:Type|Interface))\s+(?P<name>[\w.]+)"
)
DOXYGEN_NAME = lazy_regex(r"([\w:~]{1,300})(?: ?operator[^\s\w(]{1,3})?(?:\(|$)")
KEY_OF_ID = lazy_regex(
    r"(?:std-)?(?:setting|templatetag|templatefilter|fieldlookup|envvar|confval|django-admin)-(?P<name>[\w.-]+)$"
)


@dataclass(frozen=True, slots=True)
class PageSubject:
    """What a page as a whole documents."""

    generator: str = ""
    """rustdoc, javadoc, typedoc or "" (others need no context)."""
    package: str = ""
    name: str = ""
    """Qualified name of the item that the page is about."""


@dataclass(frozen=True, slots=True)
class HtmlSignature:
    """One signature."""

    name: str
    text: str
    role: str
    replaces_heading: bool = False


def is_doxygen(generator: LexborNode | None) -> bool:
    """Return whether the element that names a page's generator names Doxygen."""
    return generator is not None and attribute(generator, "content").lower().startswith("doxygen")


def page_of(node: LexborNode) -> PageSubject:
    """Return what can be told of a page before its headings are read."""
    root = node
    while root.parent is not None and root.tag != "html":
        root = root.parent
    generator = root.css_first("meta[name=generator]")
    name = attribute(generator, "content").lower() if generator else ""
    if name.startswith("rustdoc") or root.css_first("meta[name=rustdoc-vars]"):
        title = root.css_first("title")
        found = re.match(r"(?P<item>[\w]+!?) in (?P<path>[\w:]+)", title.text() if title else "")
        return PageSubject(
            "rustdoc", found["path"] if found else "", f"{found['path']}::{found['item']}" if found else ""
        )
    if name.startswith("javadoc"):
        package = root.css_first(".sub-title a[href*=package-summary]")
        return PageSubject("javadoc", " ".join(package.text().split()) if package else "")
    if root.css_first(".tsd-page-title"):
        return PageSubject("typedoc")
    return PageSubject()


def page_of_title(title: str, page: PageSubject) -> PageSubject:
    """Return the page with the name that its title has."""
    if page.generator == "javadoc" and (found := JAVADOC_TITLE.match(title)):
        return replace(page, name=f"{page.package}.{found['name']}".strip("."))
    if page.generator == "rustdoc" and not page.name and (found := RUSTDOC_TITLE.match(title)):
        return replace(page, name=found["name"].strip("`"))
    return page


def heading_signature(node: LexborNode, text: str, anchor: str, page: PageSubject) -> HtmlSignature | None:
    """Return the object that a heading documents, None if it is a heading like any other."""
    names = classes(node)
    if "code-header" in names:
        identity = attribute(node, "id") or anchor
        found = RUSTDOC_PREFIX.match(identity)
        if not found:
            return HtmlSignature("", text, "object", replaces_heading=True) if page.generator == "rustdoc" else None
        name = f"{page.name}::{found['name']}" if page.name else found["name"]
        return HtmlSignature(name, text, RUSTDOC_ROLES[found["kind"]], replaces_heading=True)
    if "doc-heading" in names and (identity := attribute(node, "id") or anchor):
        kind = next(
            (
                label
                for label in ("class", "function", "method", "attribute", "module")
                if _within(node, f"doc-{label}")
            ),
            "object",
        )
        return HtmlSignature(identity, text.strip("`¶ ") or identity, kind)
    return None


def block_signature(
    node: LexborNode, tag: str, names: list[str], anchor: str, page: PageSubject
) -> HtmlSignature | None:
    """Return the object that an element outside of headings and lists documents."""
    if "member-signature" in names:
        name = re.split(r"[(\s]", anchor, maxsplit=1)[0]
        text = " ".join(node.text().replace("\xa0", " ").split())
        role = "method" if "(" in text else "attribute"
        name = name.replace("%3Cinit%3E", "<init>")
        return HtmlSignature(f"{page.name}.{name}".strip("."), text, role)
    if "type-signature" in names and page.name:
        return HtmlSignature(page.name, " ".join(node.text().replace("\xa0", " ").split()), "class")
    if "memproto" in names:
        text = " ".join(node.text(separator=" ").replace("\xa0", " ").split())
        text = re.sub(r" ?([(),]) ?", lambda found: f"{found[1]} " if found[1] == "," else found[1], text)
        found = DOXYGEN_NAME.search(text)
        return HtmlSignature(found[1], text, "function" if "(" in text else "attribute") if found else None
    if "tsd-signature" in names:
        text = " ".join(node.text().split())
        found = re.match(r"(?:(?:abstract|static|readonly|type|class|interface|function|const)\s+)*([\w$.]+)", text)
        role = "function" if "(" in text else "attribute"
        return HtmlSignature(found[1], text, role) if found else None
    return None


def item_declaration(text: str, page: PageSubject) -> HtmlSignature | None:
    """Return the item that a page of rustdoc is about."""
    flat = " ".join(text.split())
    words = re.search(r"\b(struct|enum|trait|union|fn|macro_rules|macro|const|static|type|mod)\b", flat)
    roles = {"struct": "class", "enum": "class", "trait": "class", "union": "class", "fn": "function"}
    kind = words[1] if words else "object"
    return HtmlSignature(page.name, flat[:2000], roles.get(kind, kind)) if page.name else None


def definition_signature(node: LexborNode, list_names: list[str]) -> HtmlSignature | None:
    """Return the object that a `dt` of Sphinx documents, None if it is a term."""
    names = classes(node)
    domain = next((name for name in list_names if name in SPHINX_DOMAINS), "")
    is_signature = "sig" in names or "sig-object" in names or bool(domain and "glossary" not in list_names)
    if not is_signature or (not domain and "sig" not in names):
        return None
    text = " ".join(node.text().replace("\xa0", " ").replace("¶", "").split())
    text = text.removesuffix("[source]").strip()
    kind = next((name for name in list_names if name in ROLES), "")
    role = ROLES.get(kind) or next((name for name in list_names if name != domain and name != "simple"), "object")
    return HtmlSignature(_sphinx_name(node, text, domain), text, role)


def _sphinx_name(node: LexborNode, text: str, domain: str) -> str:
    identity = attribute(node, "id")
    if found := KEY_OF_ID.match(identity):
        described = node.css_first(".descname")
        return " ".join(described.text().split()) if described else found["name"]
    if domain == "py" and identity and re.fullmatch(r"[\w.]+", identity):
        return identity
    parts = [" ".join(part.text().split()) for part in node.css(".sig-prename, .descclassname, .sig-name, .descname")]
    unique: list[str] = []
    for part in parts:
        if part and part not in unique:
            unique.append(part)
    name = "".join(unique)
    if not name:
        return re.split(r"[(\s=:]", text, maxsplit=1)[0]
    return identity if identity.endswith(f".{name}") else name


def _within(node: LexborNode, name: str) -> bool:
    parent = node.parent
    for _ in range(4):
        if parent is None:
            return False
        if name in classes(parent):
            return True
        parent = parent.parent
    return False
