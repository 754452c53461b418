"""Inline markup of reStructuredText: one pass of one pattern gives plain text and its links."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import Link
from atlas.packs.documentation.formats.draft import page_link

# Every repetition that may start at many places is bounded, so that the pattern stays linear.
NAME = r"[A-Za-z][\w.+-]{0,40}(?::[A-Za-z][\w.+-]{0,40}){0,2}"

MARKUP = lazy_regex(
    rf"""
      ``(?P<literal>(?:[^`]|`(?!`))+)``
    | :(?P<role>{NAME}):`(?P<content>(?:[^`\\]|\\.)+)`
    | `(?P<phrase>(?:[^`\\]|\\.)+)`(?:(?P<ends>__?)(?!\w)|:(?P<after>{NAME}):)?
    | \*\*(?P<strong>[^\s*][^*]*(?:\*[^*]+)*)\*\*
    | (?<![\w*])\*(?P<emphasis>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])
    | (?<![\w|])\|(?P<substitution>[^\s|](?:[^|]*[^\s|])?)\|(?P<linked>__?)?
    | \[(?P<footnote>\#?[\w.-]+|\*)\]_(?!\w)
    | (?P<url>(?:https?|ftp)://[^\s<>`|\\]+[^\s<>`|\\.,;:!?)\]}}'"*])
    | (?<![\w`:])(?P<word>[A-Za-z0-9](?:[\w.+-]{{0,80}}[A-Za-z0-9])?)(?P<reference>__?)(?![\w`])
    | \\(?P<escaped>[\s\S])
    """,
    re.VERBOSE,
)

NEEDS_MARKUP = lazy_regex(r"[`*|\\]|_(?!\w)|://")

SYMBOL_ROLES = frozenset((
    "func", "meth", "class", "mod", "attr", "exc", "data", "obj", "const", "type", "deco", "decorator", "macro",
    "member", "enum", "enumerator", "struct", "union", "var", "setting", "djadmin", "djadminopt", "ttag", "tfilter",
    "lookup", "option", "envvar", "cmdoption", "program", "confval", "fixture", "hook", "function", "method", "module",
    "attribute", "exception", "keyword", "opcode", "token", "templatetag", "templatefilter", "fieldlookup",
))  # fmt: skip
CODE_ROLES = frozenset((
    "file", "samp", "code", "command", "kbd", "literal", "source", "src", "regexp", "makevar", "mailheader", "mimetype",
))  # fmt: skip
LABEL_ROLES = frozenset(("ref", "numref", "term", "any", "std:ref"))
PARENTHESES = frozenset(("func", "meth", "function", "method"))


@dataclass(slots=True)
class Names:
    """Targets and substitutions that a document defines; both may follow their uses."""

    targets: dict[str, str] = field(default_factory=dict[str, str])
    anonymous: list[str] = field(default_factory=list[str])
    next_anonymous: int = 0
    substitutions: dict[str, str] = field(default_factory=dict[str, str])


def read_inline(text: str, names: Names) -> tuple[str, tuple[Link, ...]]:
    """Return the text without markup, code in backticks, and the links in it."""
    if not NEEDS_MARKUP.search(text):
        return text, ()
    parts: list[str] = []
    links: list[Link] = []
    at = 0
    for found in MARKUP.finditer(text):
        parts.append(text[at : found.start()])
        parts.append(_replace(found, names, links))
        at = found.end()
    parts.append(text[at:])
    return "".join(parts), tuple(links)


def _replace(found: re.Match[str], names: Names, links: list[Link]) -> str:
    kind = found.lastgroup
    if (literal := found["literal"]) is not None:
        return f"`{literal}`"
    if (content := found["content"]) is not None:
        return read_role(found["role"], content, links)
    if (phrase := found["phrase"]) is not None:
        if after := found["after"]:
            return read_role(after, phrase, links)
        return _phrase(unescape(phrase), found["ends"] or "", names, links)
    if (strong := found["strong"] or found["emphasis"]) is not None:
        return unescape(strong)
    if (name := found["substitution"]) is not None:
        value = names.substitutions.get(name.lower())
        return found[0] if value is None else value
    if found["footnote"] is not None:
        return ""
    if (url := found["url"]) is not None:
        links.append(Link(url, url, "url"))
        return url
    if (word := found["word"]) is not None:
        return _reference(word, word, found["reference"], names, links, found[0])
    escaped = found["escaped"] if kind == "escaped" else ""
    return "" if escaped.isspace() else escaped


def _phrase(phrase: str, ends: str, names: Names, links: list[Link]) -> str:
    if not ends:
        return phrase
    title, target = split_title(phrase)
    if not target:
        return _reference(phrase, phrase, ends, names, links, phrase)
    title = title or target
    if title != target:
        names.targets.setdefault(normal(title), target)
    return _reference(title, target, "_" if target.endswith("_") else "", names, links, title)


def _reference(title: str, target: str, ends: str, names: Names, links: list[Link], unknown: str) -> str:
    """Add the link of a reference; a word that names no target stays as written."""
    name = normal(target.rstrip("_") if not ends or target.endswith("_") else target)
    if ends == "__":
        if names.next_anonymous >= len(names.anonymous):
            return unknown
        target = names.anonymous[names.next_anonymous]
        names.next_anonymous += 1
    elif ends == "_":
        for _ in range(5):
            if name not in names.targets:
                break
            target = names.targets[name]
            if not target.endswith("_"):
                break
            name = normal(target.rstrip("_").strip("`"))
        else:
            return title
        if name not in names.targets:
            if unknown.endswith("_"):
                return unknown
            links.append(Link(name, title, "label"))
            return title
        if not target:
            links.append(Link(name, title, "label"))
            return title
    link = page_link(target, title)
    if link:
        links.append(link)
    return title


def read_role(role: str, content: str, links: list[Link]) -> str:
    """Return the text of a role and add its link."""
    name = role.rpartition(":")[2].lower()
    content = unescape(content)
    title, target = split_title(content)
    titled = bool(title and target)
    title = " ".join((title if titled else content).split())
    target = " ".join((target if titled else content).split())
    if name in SYMBOL_ROLES:
        return _symbol(name, title, target, titled, links)
    if name in LABEL_ROLES:
        shown = title if titled or name in ("term", "any") else title.replace("-", " ").replace("_", " ")
        links.append(Link(normal(target.lstrip("~!")), shown, "label"))
        return shown
    if name == "doc":
        links.append(Link(target, title, "page"))
        return title if titled else title.rpartition("/")[2].replace("-", " ").replace("_", " ")
    if name in ("pep", "rfc"):
        number = target.partition("#")[0]
        base = "https://peps.python.org/pep-" if name == "pep" else "https://datatracker.ietf.org/doc/html/rfc"
        if number.isdigit():
            links.append(Link(base + (f"{number:0>4}" if name == "pep" else number), title, "url"))
        return title if titled else f"{name.upper()} {title}"
    if name in CODE_ROLES:
        return f"`{title}`"
    if name == "abbr":
        return content
    return title


def _symbol(role: str, title: str, target: str, titled: bool, links: list[Link]) -> str:
    hidden = target.startswith("!")
    short = target.startswith("~")
    target = target.lstrip("~!.").removesuffix("()")
    if not titled:
        title = title.lstrip("~!.")
        if short:
            title = title.rpartition(".")[2]
        if role in PARENTHESES and not title.endswith(")"):
            title += "()"
    if target and not hidden:
        links.append(Link(target, title, "symbol"))
    return f"`{title}`" if not titled or " " not in title else title


def split_title(text: str) -> tuple[str, str]:
    """Divide `title <target>`; the target is "" if there is none."""
    text = text.strip()
    start = text.rfind("<") if text.endswith(">") else -1
    if start < 0 or start == len(text) - 2:
        return text, ""
    return text[:start].strip(), text[start + 1 : -1].strip()


def unescape(text: str) -> str:
    r"""Return the text without backslash escapes: `\\ ` is nothing, `\\*` an asterisk."""
    return re.sub(r"\\(\s?)", "", text) if "\\" in text else text


def normal(name: str) -> str:
    """Return a reference name as docutils compares them: lower case, single spaces, no quotes."""
    return " ".join(name.replace("`", "").lower().split())
