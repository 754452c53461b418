"""Asks a language server about the calls of a graph, and compares its answers with the edges of the same lines.

A site is a name on the line of a call. The server's answer is the definition of the index that has this name on the
line it points to. A parameter, a variable or no answer leave the site open. Constructors stand for their classes.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from atlas.core.errors import AtlasError
from atlas_bench.edges.graph import CALLABLE, CallEdge, CalledNode, CallGraph, Line
from atlas_bench.edges.language_server import LanguageServer, Location

WORD = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
CALL = re.compile(r"\s*(?:\?\.|!)?\s*(?:<[^()]{0,120}?>|\[[^\[\]()]{0,80}\])?\s*\(")
"""What follows the name of a callee: type arguments, an optional chain, the parenthesis."""
KEYWORD = re.compile(
    r"and|assert|await|catch|case|del|elif|else|except|for|func|function|if|import|in|not|of|or|raise|return|select|"
    r"switch|throw|typeof|void|while|with|yield"
)
"""Words before a parenthesis that call nothing, unless they are members; a server may name what is around them."""
MAX_LINE = 2_000
"""Characters of a line that are read; longer ones are generated."""


@dataclass(frozen=True, slots=True)
class AskedSite:
    """A name on a line, and what the server says it is.

    `targets`: definitions of the index; `outside`: the definition is in no file of the index. Neither: unknown.
    """

    line: Line
    column: int
    name: str
    is_call: bool
    targets: tuple[CalledNode, ...]
    outside: bool

    @property
    def known(self) -> bool:
        """Whether the server resolves the name to what a call runs: a variable may hold anything."""
        return self.outside or any(target.label in CALLABLE for target in self.targets)


@dataclass(frozen=True, slots=True)
class JudgedEdge:
    """An edge inside of the tree; `right` is None where the server cannot tell. `answer`: what it says instead."""

    edge: CallEdge
    right: bool | None
    answer: str = ""


@dataclass(frozen=True, slots=True)
class JudgedSite:
    """A call that the server resolves inside of the tree, and whether an edge of its line leads there."""

    line: Line
    name: str
    target: CalledNode
    found: bool


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All that was compared."""

    edges: tuple[JudgedEdge, ...]
    sites: tuple[JudgedSite, ...]
    asked: int
    """Lines with calls."""


def choose(graph: CallGraph, sample: int, seed: int, strategies: Collection[str] = ()) -> list[Line]:
    """Return lines with calls in order, at most `sample` (0: all), of edges of `strategies` only if given."""
    lines = {
        line
        for line, edges in graph.edges.items()
        if any(edge.target for edge in edges) and (not strategies or any(edge.strategy in strategies for edge in edges))
    }
    if not strategies:
        lines |= graph.unresolved.keys()
    ordered = sorted(line for line in lines if line[0] in graph.languages)
    return sorted(random.Random(seed).sample(ordered, sample)) if 0 < sample < len(ordered) else ordered


def judge(
    server: LanguageServer, root: Path, graph: CallGraph, lines: list[Line], tell: Callable[[int], None]
) -> Verdicts:
    """Ask about the lines, file by file, and compare; `tell` receives the number of lines done.

    Raises AtlasError if the server fails, or resolves nothing at all.
    """
    texts, known = _Texts(root), False
    edges, sites = list[JudgedEdge](), list[JudgedSite]()
    for done, line in enumerate(lines, 1):
        asked = _ask(server, root, graph, line, texts)
        ours = graph.edges.get(line, [])
        edges += (judge_edge(graph, edge, ours, asked) for edge in ours if edge.target is not None)
        sites += judge_sites(graph, ours, asked)
        known = known or any(site.known for site in asked)
        tell(done)
    if not known:
        said = f": {server.refused}" if server.refused else ""
        raise AtlasError(f"the server resolves no name on {len(lines)} lines{said}", "Try it in an editor first.")
    return Verdicts(tuple(edges), tuple(sites), len(lines))


def judge_edge(graph: CallGraph, edge: CallEdge, ours: list[CallEdge], asked: list[AskedSite]) -> JudgedEdge:
    """Compare one edge inside of the tree with the sites of its line.

    An edge whose name stands on the line is judged by these names. Another one (an alias, an operator) is wrong only if
    a call on the line leads to a definition that no edge names: nothing tells which text made it.
    """
    assert edge.target is not None
    if any(_fits(graph, edge.target, target) for site in asked for target in site.targets):
        return JudgedEdge(edge, right=True)
    names = {edge.name, edge.target.same_as.rpartition(".")[2]}
    named = [site for site in asked if site.name in names]
    if named and not all(site.known for site in named):
        return JudgedEdge(edge, right=None)
    others = named or [
        site
        for site in asked
        if site.is_call
        and site.known
        and site.targets
        and not any(_fits(graph, one.target, target) for one in ours if one.target for target in site.targets)
    ]
    if not others:
        return JudgedEdge(edge, right=None)
    said = {target.uid for site in others for target in site.targets}
    return JudgedEdge(edge, right=False, answer=", ".join(sorted(said)) or "outside of the tree")


def judge_sites(graph: CallGraph, ours: list[CallEdge], asked: list[AskedSite]) -> Iterator[JudgedSite]:
    """Yield each call of the line that the server resolves to a function, method or class of the tree."""
    for site in asked:
        targets = [target for target in site.targets if target.label in CALLABLE]
        if site.is_call and targets:
            found = any(_fits(graph, edge.target, target) for edge in ours if edge.target for target in targets)
            yield JudgedSite(site.line, site.name, targets[0], found)


def _fits(graph: CallGraph, ours: CalledNode, theirs: CalledNode) -> bool:
    """Return whether two definitions are the same target; an inherited constructor is that of the class, too."""
    if ours.same_as == theirs.same_as:
        return True
    if not (_is_constructor(ours) or _is_constructor(theirs)):
        return False
    return ours.same_as in graph.ancestors(theirs.same_as) or theirs.same_as in graph.ancestors(ours.same_as)


def _is_constructor(node: CalledNode) -> bool:
    return node.label == "Method" and len(node.same_as) < len(node.uid) and node.uid[len(node.same_as)] == "."


def _ask(server: LanguageServer, root: Path, graph: CallGraph, line: Line, texts: _Texts) -> list[AskedSite]:
    path, number = line
    text = texts.line(path, number)
    named = {edge.name for edge in graph.edges.get(line, ())} | {
        edge.target.same_as.rpartition(".")[2] for edge in graph.edges.get(line, ()) if edge.target
    }
    words = [
        (word.start(), word.group(), bool(CALL.match(text, word.end())))
        for word in WORD.finditer(text)
        if not KEYWORD.fullmatch(word.group()) or text[: word.start()].endswith(".")
    ]
    words = [(column, name, is_call) for column, name, is_call in words if is_call or name in named]
    places = server.definitions(
        root / path, [(number - 1, column) for column, _, _ in words], graph.languages.get(path, "")
    )
    found = list[AskedSite]()
    for (column, name, is_call), locations in zip(words, places, strict=True):
        # The name of a definition is no call of it.
        if any(root / path == place.path and place.line == number - 1 for place in locations):
            continue
        targets, outside = _targets(root, graph, locations, texts)
        found.append(AskedSite(line, column, name, is_call, targets, outside))
    return found


def _targets(
    root: Path, graph: CallGraph, locations: list[Location], texts: _Texts
) -> tuple[tuple[CalledNode, ...], bool]:
    """Return the definitions at the locations, and whether all locations are outside of the index."""
    targets, inside = list[CalledNode](), False
    for place in locations:
        path = place.path.relative_to(root).as_posix() if place.path.is_relative_to(root) else ""
        if path not in graph.languages:
            continue
        inside = True
        word = texts.word(path, place)
        targets += (
            node for node in graph.by_line.get((path, place.line + 1), ()) if word in (node.name, f"#{node.name}")
        )
    return tuple(targets), bool(locations) and not inside


class _Texts:
    """Lines of files, the last ones read kept."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._kept: dict[str, list[str]] = defaultdict(list)

    def line(self, path: str, number: int) -> str:
        if path not in self._kept:
            if len(self._kept) > 500:
                self._kept.clear()
            self._kept[path] = (self._root / path).read_bytes().decode(errors="replace").splitlines()
        lines = self._kept[path]
        return lines[number - 1][:MAX_LINE] if 0 < number <= len(lines) else ""

    def word(self, path: str, place: Location) -> str:
        """Return the name that begins at a location."""
        units = self.line(path, place.line + 1).encode("utf-16-le")
        found = re.match(r"#?[\w$]+", units[place.column * 2 :].decode("utf-16-le", errors="replace"))
        return found.group() if found else ""
