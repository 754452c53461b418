"""Source as tokens: colours, and a link from each name that the graph resolves at its line.

One linear scan for all languages knows comments, strings, numbers, names and the words that languages reserve. It is no
parser: a wrong colour costs nothing, while a library of lexers is slow to import and has patterns that take minutes on
hostile texts (ADR 0075). Which name is what comes from the graph alone.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from atlas.code.reader import Reader
from atlas.code.tools.citations import place_of
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, Edge, EdgeType, Filter, Match, NodeRow
from atlas.server.explorer.render import FOLDER, symbol_url

MAX_LINE = 1_000
"""Characters of a line that are shown; the rest is counted."""
MAX_NODES = 4_000
"""Definitions of a file whose references become links."""
MAX_EDGES = 4_000
SIGNATURE = 160
"""Characters of a signature in a title."""

REFERENCES = (
    EdgeType.CALLS,
    EdgeType.REFERENCES,
    EdgeType.USES_TYPE,
    EdgeType.INHERITS,
    EdgeType.IMPORTS,
    EdgeType.OVERRIDES,
    EdgeType.EMITS_EVENT,
    EdgeType.HANDLES_EVENT,
)
"""Edges whose evidence is a name in the source node's file."""

_STRINGS = r'"(?:[^"\\\n]|\\.)*"?|' + r"'(?:[^'\\\n]|\\.)*'?"
_REST = r"|(?P<number>\b\d[\w.]*)|(?P<name>[^\W\d]\w*)|(?P<other>\s+|.)"
_STRING = "|(?P<string>" + _STRINGS + ")" + _REST
_HASH = lazy_regex(r"(?P<comment>#[^\n]*)|(?P<long>\"{3}|'{3})" + _STRING)
_SLASH = lazy_regex(r"(?P<comment>//[^\n]*)|(?P<long>/\*|`)" + _STRING)
_BOTH = lazy_regex(r"(?P<comment>#[^\n]*|//[^\n]*)|(?P<long>/\*)" + _STRING)
_DASH = lazy_regex(r"(?P<comment>--[^\n]*)" + _STRING)
_PLAIN = lazy_regex(r"(?P<name>[^\W\d]\w*)|(?P<other>\s+|.)")
_ENDS = {"/*": "*/"}
"""What ends a long text, where that is not what begins it; one that does not end takes the rest."""
_LEXERS: Mapping[str, re.Pattern[str]] = {"hash": _HASH, "hash_and_slash": _BOTH, "dash": _DASH, "none": _PLAIN}
"""By the name of the style in `comments.toml`."""

_RESERVED = frozenset(
    """
    abstract and as assert async await begin bool boolean break byte case catch char class const constexpr continue
    crate def default defer del delete do done double elif else elsif end ensure enum except export extends extern
    false False final finally float fn for foreach from func function global go goto guard if impl implements import
    in include inline instanceof int interface internal is lambda let local long loop match mod module mut namespace
    new nil None nonlocal not null nullptr object of operator or override package pass private proc protected
    protocol pub public raise readonly record ref require rescue return sealed select self short signed sizeof
    static str string struct super switch template then this throw throws trait true True try type typedef typename
    typeof undefined union unless unsafe unsigned until use using val var virtual void volatile when where while
    with yield
    """.split()  # noqa: SIM905 one word a line would fill pages
)


@dataclass(frozen=True, slots=True)
class CodeToken:
    """A piece of a line; `kind` is k (reserved), s (string), c (comment), n (number) or ""."""

    text: str
    kind: str = ""
    href: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of source with its number in the file."""

    number: int
    tokens: tuple[CodeToken, ...]


@dataclass(frozen=True, slots=True)
class NameLink:
    """Where a name at a line leads, and what is known of it."""

    href: str
    title: str


Links = Mapping[tuple[int, str], NameLink]
"""(line, name) -> link."""


async def links_in(reader: Reader, project: str, path: str, first: int, last: int) -> Links:
    """Return the links of the names in the lines `first` to `last` of a file: its definitions and their references."""
    nodes = await reader.store.find(path, Match.PATH, Filter(project=project), MAX_NODES)
    rows = [each.row for each in nodes if each.row.start_line <= last and each.row.end_line >= first]
    edges = await reader.store.edges([row.uid for row in rows], Direction.OUT, REFERENCES, MAX_EDGES)
    links: dict[tuple[int, str], NameLink] = {}
    for row in rows:
        if first <= row.line <= last:
            links[row.line, row.name] = NameLink(symbol_url(row.uid), title_of(row))
    for edge in sorted(edges, key=lambda each: -each.row.confidence):
        for line in edge.row.lines:
            if first <= line <= last:
                for name in _written(edge.node.row):
                    links.setdefault((line, name), NameLink(symbol_url(edge.node.row.uid), edge_title(edge)))
    return links


def title_of(row: NodeRow) -> str:
    """Return kind and signature of a definition, and where it is."""
    signature = row.signature if row.signature and row.name in row.signature else f"{row.kind} {row.qualified_name}"
    short = signature if len(signature) <= SIGNATURE else f"{signature[:SIGNATURE]}..."
    return f"{short}\n{place_of(row)}".strip()


def edge_title(edge: Edge) -> str:
    """Return what an edge leads to, and how sure that is."""
    return f"{title_of(edge.node.row)}\n{edge.row.type.lower()}, {edge.row.strategy} {edge.row.confidence:.2f}"


def code_lines(text: str, language: str, start: int, links: Links, before: str = "") -> list[CodeLine]:
    """Return the lines of a text whose first line has the number `start`; `before` is what precedes it in its file."""
    cut = "".join(f"{_cut(line)}\n" for line in text.split("\n"))
    opened = _opened(before, language)
    shown: list[CodeLine] = []
    current: list[CodeToken] = []
    for number, token in enumerate(_tokens(opened + cut, language)):
        head, *rest = (token.text if number else token.text[len(opened) :]).split("\n")
        if head:
            current.append(replace(token, text=head))
        for piece in rest:
            shown.append(CodeLine(start + len(shown), _joined(current, start + len(shown), links)))
            current = [replace(token, text=piece)] if piece else []
    return shown


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}... and {len(line) - MAX_LINE} characters more"


@cache
def _styles() -> Mapping[str, str]:
    """Return the style of comments by language."""
    listed = tomllib.loads((FOLDER / "comments.toml").read_text(encoding="utf-8"))
    return {language: style for style, languages in listed.items() for language in languages}


def _opened(text: str, language: str) -> str:
    """Return what begins the long string or comment that is open at the end of a text, "" for none."""
    lexer, end = _LEXERS.get(_styles().get(language or "plain", ""), _SLASH), 0
    while (found := lexer.match(text, end)) is not None:
        end = found.end()
        if found.lastgroup == "long":
            closing = _ENDS.get(found.group(), found.group())
            closed = text.find(closing, end)
            if closed < 0:
                return found.group()
            end = closed + len(closing)
    return ""


def _tokens(text: str, language: str) -> Iterator[CodeToken]:
    kinds = {"comment": "c", "string": "s", "long": "s", "number": "n", "name": "@"}
    lexer, end = _LEXERS.get(_styles().get(language or "plain", ""), _SLASH), 0
    while (found := lexer.match(text, end)) is not None:
        start, end = found.span()
        if found.lastgroup == "long":
            closing = _ENDS.get(found.group(), found.group())
            closed = text.find(closing, end)
            end = closed + len(closing) if closed >= 0 else len(text)
        word, kind = text[start:end], kinds.get(found.lastgroup or "", "")
        kind = "c" if found.group() in _ENDS else kind
        # `.delete()` is a member, whatever the word
        is_reserved = kind == "@" and word in _RESERVED and text[start - 1 : start] != "."
        yield CodeToken(word, "k" if is_reserved else kind)


def _joined(tokens: Sequence[CodeToken], number: int, links: Links) -> tuple[CodeToken, ...]:
    """Return the tokens of a line with their links; neighbours of one kind are one token."""
    found: list[CodeToken] = []
    for token in tokens:
        link = links.get((number, token.text)) if token.kind in ("@", "k") else None
        own = replace(token, kind="" if token.kind == "@" else token.kind)
        if link is not None:
            own = replace(own, href=link.href, title=link.title)
        elif found and not found[-1].href and found[-1].kind == own.kind:
            found[-1] = replace(own, text=found[-1].text + own.text)
            continue
        found.append(own)
    return tuple(found)


def _written(row: NodeRow) -> Sequence[str]:
    """Return the names under which a node may stand at a line: a constructor under that of its class."""
    owner = row.qualified_name.rpartition(".")[0].rpartition(".")[2]
    return (row.name, owner) if row.kind == "constructor" and owner else (row.name,)
