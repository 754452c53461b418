"""One document as every reader of a format takes it: its bytes, what its source knows, and the files it may include.

A target is looked up among the files of the source; a path that leads out of it is in no list and is not read.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from atlas.core.lazy_regex import lazy_regex

MAX_DEPTH = 4
"""Files that include each other."""
MAX_BYTES = 1 << 20
"""Of one included file."""
MAX_FILES = 2_000
"""Included files of one source."""
DIRECTIVE = lazy_regex(rb"^[ \t]*+\.\. (?:include|literalinclude)::[ \t]++([^\r\n]++)\r?$", re.MULTILINE)
_RANGE = lazy_regex(r"(\d*+)(-?)(\d*+)")


@dataclass(frozen=True, slots=True)
class Inclusion:
    """The files that one document may include."""

    path: str = ""
    """Of the document that includes, below the root of its source."""
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    articles: frozenset[str] = frozenset()
    """Paths that are articles of their own: their text is not repeated."""
    around: tuple[str, ...] = ()
    """Files whose inclusion led here: they are not included again, so that circles end."""

    def resolve(self, target: str) -> str:
        """Return the path of a target in the source, "" if there is none."""
        return next((path for path in candidates(self.path, target) if path in self.files or path in self.articles), "")

    def inner(self, path: str) -> Inclusion:
        """Return what an included file may include itself."""
        around = (*self.around, path)
        files = {one: data for one, data in self.files.items() if one not in around} if len(around) < MAX_DEPTH else {}
        return Inclusion(path, files, self.articles, around)


NOTHING = Inclusion()


@dataclass(frozen=True, slots=True)
class SphinxSettings:
    """The names that the settings of a documentation define."""

    substitutions: Mapping[str, str] = field(default_factory=dict[str, str])
    """By name in lower case: `rst_prolog`, `rst_epilog`, `|version|` and `|release|`."""
    targets: Mapping[str, str] = field(default_factory=dict[str, str])
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    """`myst_substitutions`, by name: `{{ name }}` in Markdown."""

    @property
    def text(self) -> str:
        """Everything that changes documents, for digests."""
        return repr([sorted(one.items()) for one in (self.substitutions, self.targets, self.variables)])


@dataclass(frozen=True, slots=True)
class Document:
    """A file or page to read. Fields that `Article` has as well mean the same here."""

    key: str
    data: bytes
    path: str = ""
    """File name, or path of the URL: its ending tells the format."""
    url: str = ""
    """Address after redirects; relative links of a page are resolved against it."""
    media_type: str = ""
    """Of the response, such as `text/html`; "" for files."""
    charset: str = ""
    """As the response states it."""
    retrieved: str = ""
    licence: str = ""
    source: str = ""
    source_version: str = ""
    parents: tuple[str, ...] = ()
    cut: bool = False
    """The source had more bytes than its limit."""
    settings: SphinxSettings | None = None
    """Names that the settings of its documentation define."""
    inclusion: Inclusion = NOTHING
    """Files of the same source that it may include."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the response, names in lower case: `link`, `x-robots-tag` and `content-language` are read."""


def candidates(document: str, target: str) -> Iterator[str]:
    """Yield the paths that a target may mean: next to the document; with a leading "/" below one of its folders."""
    folder: str = posixpath.dirname(document)
    if not target.startswith("/"):
        path = posixpath.normpath(posixpath.join(folder, target))
        if not path.startswith(("..", "/")):
            yield path
        return
    while True:
        path = posixpath.normpath(posixpath.join(folder, target.lstrip("/")))
        if not path.startswith(("..", "/")):
            yield path
        if not folder:
            return
        folder = posixpath.dirname(folder)


def targets(data: bytes) -> list[str]:
    """Return what the directives of a document include, as written."""
    return [found.decode("utf-8", "replace") for found in DIRECTIVE.findall(data)]


def chosen_lines(text: str, options: Mapping[str, str]) -> list[str]:
    """Return the part of an included text that its options name; nothing if they name a part that is not there."""
    lines = text.splitlines()
    if "pyobject" in options:
        lines = _python_object(text, options["pyobject"].strip())
    start, end = _number(options.get("start-line", "")), _number(options.get("end-line", ""))
    lines = lines[start:end]
    if "lines" in options:
        lines = _listed(lines, options["lines"])
    for name, after in (("start-after", 1), ("start-at", 0)):
        if options.get(name):
            at = next((number for number, line in enumerate(lines) if options[name].strip() in line), None)
            lines = [] if at is None else lines[at + after :]
    for name, more in (("end-before", 0), ("end-at", 1)):
        if options.get(name):
            at = next((number for number, line in enumerate(lines) if options[name].strip() in line), None)
            lines = lines if at is None else lines[: at + more]
    return lines


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d{1,7}", text.strip()) else None


def _listed(lines: Sequence[str], ranges: str) -> list[str]:
    """Return lines as Sphinx counts them: `1,3,5-10,20-`."""
    found: list[str] = []
    for part in ranges.split(","):
        match = _RANGE.fullmatch(part.strip())
        if not match or not (match[1] or match[3]):
            continue
        first = max(int(match[1][:7] or 1), 1)
        last = int(match[3][:7]) if match[3] else len(lines) if match[2] else first
        found += lines[first - 1 : last]
    return found


def _python_object(text: str, name: str) -> list[str]:
    """Return the lines of a class or function of a Python text, with its decorators."""
    try:
        body: Sequence[ast.stmt] = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | None = None
    for part in name.split("."):
        kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        node = next((one for one in body if isinstance(one, kinds) and one.name == part), None)
        if node is None:
            return []
        body = node.body
    if node is None:
        return []
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return text.splitlines()[first - 1 : node.end_lineno]
