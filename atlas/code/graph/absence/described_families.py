"""Lines about classes that a question describes by what they are: `which worker classes run a job in a child process`.

The word for them is looked up as the name of a class that others derive from. A question of which nothing else is
certain is searched; these lines stand before its hits and say what the graph has, not that it is the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from atlas.code.graph.absence.derivations import may_derive
from atlas.code.graph.absence.proof import is_prose, unaccounted
from atlas.code.question.relation_kinds import Kind
from atlas.code.reader import Reader
from atlas.core.english.stems import base_forms, root_of
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.invisible import escaped
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

MOST_SHOWN = 20
LEAST = 2
"""Classes below one that a question asks about in the plural."""
MOST_READ = 2_000
MAX_LEVELS = 8
MOST_METHODS = 2
MOST_PLACES = 3
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
_DESCRIBED = lazy_regex(
    r"\b(?:which|what|all|every|each|list)(?: of)?(?: the| our| its)? "
    r"(?P<words>[a-z-]{2,24}(?: [a-z-]{2,24})?)(?![\w.(])"
)
_ON_TOP = lazy_regex(
    r"\b(?:on top of|based on|below|under|derived? from|deriving from|inherit\w* from|extend\w*|subclass\w*)"
    r" (?:the |our |an? )?(?P<which>[a-z\d]{2,24}) (?P<noun>[a-z]{3,24})\b"
)
"""`client classes built on top of the postgres client`: of one class of the family."""
_WORD = lazy_regex(r"\w+")
_ACCESSORS = frozenset(("get", "set", "is", "has", "do", "on"))


async def family_lines(reader: Reader, text: str, project: str) -> tuple[str, ...]:
    """Return the classes below the one that a question describes, or those that override a method whose words it has.

    () where no class is called so, or fewer than `LEAST` derive from it. Raises store errors.
    """
    words = (word for match in [*_DESCRIBED.finditer(text)][:LEAST] for word in match["words"].split())
    for noun in (word for word in words if word not in STOP_WORDS and word.isalpha() and _is_plural(text, word)):
        root, below = await _family(reader, noun, project)
        if root is not None:
            if (told := _ON_TOP.search(text)) is not None and noun.startswith(told["noun"]):
                root, below = await _part_of_family(reader, root, below, told["which"])
            lines = await _overridden(reader, text, root, below)
            return tuple(lines or (_classes(root, below), *await _at_least(reader, root, below)))
    return ()


async def _part_of_family(reader: Reader, root: Node, below: Sequence[Node], which: str) -> tuple[Node, Sequence[Node]]:
    """Return the class of a family that a word of its name or path tells, with those below it; else the family."""
    named = [each for each in below if which in reader.split_words(f"{each.row.name} {each.row.path}")]
    found = [(each, own) for each in named if (own := await _below(reader, each))]
    return found[0] if len(found) == 1 else (root, below)


def _is_plural(text: str, noun: str) -> bool:
    """Return whether a question asks for several of a kind: `workers`, `worker classes`, not `what error occurs`."""
    if noun.endswith("s") and not noun.endswith("ss"):
        return True
    return any(f" {noun} {kinds}" in text for kinds in ("classes", "subclasses", "types", "implementations"))


async def _family(reader: Reader, noun: str, project: str) -> tuple[Node | None, Sequence[Node]]:
    """Return the class of a name made of the noun that most classes derive from, with these."""
    best: tuple[Node | None, Sequence[Node]] = (None, ())
    where = Filter(project=project, labels=(Label.CLASS,))
    for word in dict.fromkeys((noun, *base_forms(noun))):
        name = word.capitalize()
        for each in (name, f"Base{name}", f"Abstract{name}", f"{name}Base", f"{name}Interface", f"I{name}"):
            for node in await reader.store.find(each, Match.SUFFIX, where, LEAST):
                below = await _below(reader, node) if node.row.name == each and not node.row.is_test else []
                if len(below) >= max(LEAST, len(best[1]) + 1):
                    best = node, below
    return best


async def _below(reader: Reader, node: Node) -> list[Node]:
    found: dict[str, Node] = {}
    level = [node.row.uid]
    for _ in range(MAX_LEVELS):
        edges = await reader.store.edges(level, Direction.IN, (EdgeType.INHERITS,), MOST_READ) if level else []
        new = {edge.node.row.uid: edge.node for edge in edges if edge.node.row.uid not in found}
        level = [*new]
        found.update(new)
    return [each for each in found.values() if not each.row.is_test]


async def _overridden(reader: Reader, text: str, root: Node, below: Sequence[Node]) -> list[str]:
    """Return a line for each method of the class of whose name the question has all words, but for `get` and such."""
    said = {root_of(word) for word in reader.split_words(text)}
    held = await reader.store.edges([root.row.uid], Direction.OUT, _HOLDS, MOST_READ)
    named: list[Node] = []
    for node in (edge.node for edge in held if edge.node.row.label == Label.METHOD):
        parts = (word for word in reader.split_words(node.row.name) if word != node.row.name.lower())
        words = {root_of(word) for word in parts if word not in _ACCESSORS}
        if len(words) >= LEAST and words <= said:
            named.append(node)
    inside = await reader.store.edges([node.row.uid for node in below], Direction.OUT, _HOLDS, MOST_READ)
    lines: list[str] = []
    for method in named[:MOST_METHODS]:
        own = [edge.node for edge in inside if edge.node.row.name == method.row.name]
        if own:
            lines.append(_listed("defined again below", method, own))
    return lines


async def _at_least(reader: Reader, root: Node, below: Sequence[Node]) -> tuple[str, ...]:
    """Return a line with what may derive from a class without an edge: what a macro makes, for one."""
    left = await unaccounted(reader, [root], Kind.SUBTYPES, {(each.row.path, each.row.line) for each in below})
    names = {each.row.name for each in below}
    places = [
        each
        for each in left.places
        if may_derive(each, root.row.name) and not is_prose(each) and names.isdisjoint(_WORD.findall(each.text))
    ]
    if not places:
        return ()
    shown = ", ".join(each.at for each in places[:MOST_PLACES])
    return (escaped(f"at least: {counted(len(places), 'more line')} may be such, without an edge: {shown}"),)


def _classes(root: Node, below: Sequence[Node]) -> str:
    """Return the classes below one, of many only the number and the call that lists them."""
    if len(below) <= MOST_SHOWN:
        return _listed("classes below", root, below)
    call = f"relation=subclasses, of={root.row.qualified_name}"
    place = f"{root.row.path}:{root.row.line}"
    return escaped(f"{counted(len(below), 'class')} below {_short(root.row.qualified_name)} {place}: {call}")


def _listed(what: str, node: Node, found: Sequence[Node]) -> str:
    row = node.row
    order = sorted((each.row for each in found), key=lambda each: (each.path, each.line or 0))
    files: dict[str, list[str]] = {}
    for each in order[:MOST_SHOWN]:
        files.setdefault(each.path, []).append(f"{_short(each.qualified_name)} {each.line}")
    shown = "; ".join(f"{path}: {', '.join(names)}" for path, names in files.items())
    more = f" and {len(order) - MOST_SHOWN} more" if len(order) > MOST_SHOWN else ""
    return escaped(f"{what} {_short(row.qualified_name)} {row.path}:{row.line}: {len(order)}: {shown}{more}")


def _short(qualified: str) -> str:
    *owners, name = qualified.partition("#")[0].split(".")
    return f"{owners[-1]}.{name}" if owners and name[:1].islower() else name
