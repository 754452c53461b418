"""Packages that a manifest of SwiftPM declares, and the targets that take their products.

That a manifest declares a package does not say that the library depends on it: a target has to list a product of it,
and it may be a test. The manifest is a program, of which the usual forms are read. Reads the indexed texts only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from atlas.code.lines.line_report import LineReport, TextLine, shown
from atlas.code.lines.scan_texts import read_texts, scan_texts
from atlas.code.question.grammar import MAX_RELATION_CHARACTERS
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter
from atlas.core.wording import counted

_MANIFEST = lazy_regex(r"(?:^|/)Package(?:@swift-[\d.]+)?\.swift$")
_PACKAGE = lazy_regex(
    r"^\s{0,40}\.package\(\s?(?:name:\s?\"(?P<name>[^\"]{1,80})\",\s?)?(?:url|path):\s?\"(?P<url>[^\"]{1,200})\""
    r"(?:,\s?(?P<range>[^\n]{1,120}?))?\)?,?\s{0,9}(?://[^\n]{0,200})?$"
)
_TARGET = lazy_regex(r"^\s{0,40}\.(?P<kind>\w{0,20}[tT]arget|macro|plugin)\(")
_NAME = lazy_regex(r"\bname:\s?\"(?P<name>[^\"]{1,80})\"")
_PRODUCT = lazy_regex(r"\.product\(\s?name:\s?\"(?P<product>[^\"]{1,80})\",\s?package:\s?\"(?P<package>[^\"]{1,80})\"")
_WORD = lazy_regex(r"[A-Za-z][\w.-]{1,80}(?<![.-])")
_ABOUT = lazy_regex(
    r"\b(?:versions?|targets?|products?|depend\w*|need\w*|use[ds]?|using|usage|why|for|declar\w*|manifest|packages?"
    r"|requir\w*|import\w*|minimum|pinned|revision|branch|range)\b",
    re.IGNORECASE,
)
MOST_IMPORTS = 6
MAX_LINE = 400
MOST_COMMENTS = 6


@dataclass(frozen=True, slots=True)
class TargetPackage:
    """A package that a manifest declares."""

    name: str
    range: str
    """As written: `from: "1.2.1"`; "" for a path."""
    line: int
    comment: str
    """What stands above it in comments."""


@dataclass(frozen=True, slots=True)
class TargetProduct:
    """A product that a target takes from a package."""

    name: str
    package: str
    target: str
    is_test: bool
    line: int


@dataclass(frozen=True, slots=True)
class TargetManifest:
    """What a manifest of SwiftPM says about packages."""

    path: str
    packages: tuple[TargetPackage, ...]
    products: tuple[TargetProduct, ...]
    others: tuple[tuple[int, str], ...] = ()
    """The other lines with something in quotes: a package may be named there in a form that is not read."""


def read_target_manifest(path: str, lines: Sequence[str]) -> TargetManifest:
    """Return the packages and products of a manifest, line by line; commented lines declare nothing."""
    packages: list[TargetPackage] = []
    products: list[TargetProduct] = []
    others: list[tuple[int, str]] = []
    target = kind = ""
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("//") or len(line) > MAX_LINE:
            continue
        if (found := _PACKAGE.match(line)) is not None:
            name = found["name"] or found["url"].rstrip("/").rpartition("/")[2].removesuffix(".git")
            packages.append(TargetPackage(name, found["range"] or "", number, _comment_above(lines, number)))
        if (opened := _TARGET.match(line)) is not None:
            target, kind = "", opened["kind"]
        if kind and not target and (named := _NAME.search(line)) is not None and ".product" not in line:
            target = named["name"]
        known = len(products) + (found is not None)
        products += [
            TargetProduct(each["product"], each["package"], target, "test" in kind.lower(), number)
            for each in _PRODUCT.finditer(line)
        ]
        if found is None and len(products) == known and '"' in line:
            others.append((number, line))
    return TargetManifest(path, tuple(packages), tuple(products), tuple(others))


def _comment_above(lines: Sequence[str], line: int) -> str:
    above: list[str] = []
    for text in reversed(lines[max(line - 1 - MOST_COMMENTS, 0) : line - 1]):
        if not text.lstrip().startswith("//") or ".package(" in text:
            break
        above.append(text.strip().lstrip("/ "))
    return " ".join(reversed(above))


async def target_manifests(reader: Reader, where: Filter) -> list[TargetManifest]:
    """Return what the project's manifests of SwiftPM say. Raises store errors."""
    files = await read_texts(reader, where, lambda path: _MANIFEST.search(path) is not None)
    return [read_target_manifest(each.path, each.lines) for each in files]


async def package_of_targets(reader: Reader, query: Query, where: Filter) -> str:
    """Return the one package of a manifest of SwiftPM that a question asks about; "" for none."""
    text = query.text
    if query.states or query.reports or len(text) > MAX_RELATION_CHARACTERS or _ABOUT.search(text) is None:
        return ""
    words = {word.lower() for word in _WORD.findall(text)}
    manifests = await target_manifests(reader, where)
    named = {each.name for own in manifests for each in own.packages if each.name.lower() in words}
    return named.pop() if len(named) == 1 else ""


async def answer_target_products(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer which version of a package is declared, and which targets take a product of it; None for others."""
    name = await package_of_targets(reader, query, where)
    if not name:
        return None
    lines: list[TextLine] = []
    taken: list[TargetProduct] = []
    ranges: list[str] = []
    named: list[TextLine] = []
    for own in await target_manifests(reader, where):
        for each in own.packages:
            if each.name == name:
                ranges.append(f"{each.range or 'a path'} ({own.path}:{each.line})")
                said = f"{each.range}{f' // {each.comment}' if each.comment else ''}"
                lines.append(TextLine("declared", f"{own.path}:{each.line}", said))
        products = [each for each in own.products if each.package.lower() == name.lower()]
        taken += products
        lines += [TextLine("targets", f"{own.path}:{each.line}", _said(each)) for each in products]
        quoted = f'"{name.lower()}"'
        named += [
            TextLine("named", f"{own.path}:{at}", shown(line)) for at, line in own.others if quoted in line.lower()
        ]
    lines += named
    lines += await _imports(reader, {each.name for each in taken}, where)
    return LineReport("packages", f"{name}: declared {', '.join(ranges)}; {_taken_by(taken, named)}", tuple(lines))


def _said(product: TargetProduct) -> str:
    return f"{product.name} in {'test target' if product.is_test else 'target'} {product.target}"


def _taken_by(products: Sequence[TargetProduct], named: Sequence[TextLine]) -> str:
    if named and not products:
        return f"named in {counted(len(named), 'further line')}, of a form that is not read"
    if not products:
        return "no target declares a product of it"
    own = sorted({each.target for each in products if not each.is_test})
    tests = sorted({each.target for each in products if each.is_test})
    if not own:
        return f"only test targets take a product of it: {', '.join(tests)}"
    more = f", and {counted(len(tests), 'test target')}" if tests else ""
    return f"taken by {'target' if len(own) == 1 else 'targets'} {', '.join(own)}{more}"


async def _imports(reader: Reader, products: set[str], where: Filter) -> list[TextLine]:
    """Return the lines that import modules called like products."""
    if not products:
        return []
    names = "|".join(map(re.escape, sorted(products)))
    pattern = re.compile(rf"^[ \t]{{0,9}}(?:@\w{{1,30}} )?(?:\w{{1,20}} )?import (?:{names})\b", re.MULTILINE)
    scan = await scan_texts(reader, where, pattern, (b"import ",), lambda path: path.endswith(".swift"))
    kept = [TextLine("imported_by", each.place, shown(each.text)) for each in scan.found[:MOST_IMPORTS]]
    more = len(scan.found) - len(kept)
    return [*kept, *([TextLine("imported_by", "", f"and {counted(more, 'further line')}")] if more > 0 else [])]
