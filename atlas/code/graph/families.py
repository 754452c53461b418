"""Methods of one name that override one another: the one that all of them go back to. Reads the graph only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from atlas.code.graph.relation import EdgeAnswer, RelatedSymbol
from atlas.code.graph.targets import MAX_NODES, Target, Targets, group_symbols
from atlas.code.question.relation_kinds import Kind, RelationIntent, TestScope
from atlas.code.reader import Reader
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
_MAX_LEVELS = 8
_MIXED_IN = 0.8
"""Confidence that a method of a mixin overrides the root: the order of bases is not looked at."""
_OF_ALL = frozenset((Kind.CALLERS, Kind.USAGES, Kind.TESTS, Kind.DEPENDENTS, Kind.IMPACT))
"""Relations whose edges may end at any method of the family: each of them is called through the first."""
_OTHERS_SHOWN = 3
_OVERRIDES_SHOWN = 5
_INHERITING_SHOWN, _MANY_INHERIT = 8, 12
_CONTRACTS = frozenset(("interface", "trait", "protocol"))
"""Kinds of types that have no body of their own to override with."""
_OF_SUPER = lazy_regex(r"(?<!\w)(?:super(?:\([^()\n]{0,80}\))?\.|parent::)(\w{1,120})")
"""A call of a method of the base."""
_METHODS_SHOWN = 20
_OF_ROOT = frozenset((Kind.OVERRIDES, Kind.SUBTYPES))
"""Relations that lead from the first method to the others."""


async def find_family(reader: Reader, kind: Kind, targets: Targets, project: str) -> Targets | None:
    """Return the method that all symbols of a name override, directly or not; None if there is no such method.

    The target of a relation such as callers holds the uids of all of them.
    """
    if kind not in _OF_ALL | _OF_ROOT:
        return None
    nodes = await reader.store.find(targets.name, Match.SUFFIX, Filter(project=project), MAX_NODES)
    nodes = [node for node in nodes if node.row.label not in EXTERNAL_LABELS and not node.row.is_test]
    if len(nodes) in (0, MAX_NODES) or any(node.row.label != Label.METHOD for node in nodes):
        return None
    uids = [node.row.uid for node in nodes]
    edges = await reader.store.edges(uids, Direction.OUT, (EdgeType.OVERRIDES,), 4 * MAX_NODES)
    known = set(uids)
    overriding = {edge.row.source for edge in edges if edge.row.target in known}
    first = [node for node in nodes if node.row.uid not in overriding]
    root = first[0] if len(first) == 1 else await _root_of_mixins(reader, first)
    if root is None:
        return None
    others = [node.row.uid for node in first if node is not root]
    members = tuple(uids) if kind in _OF_ALL else (root.row.uid, *others)
    return Targets(targets.name, (Target(root, members),), 1, targets.near)


async def find_extended(
    reader: Reader, intent: RelationIntent, targets: Targets, project: str
) -> tuple[Targets | None, tuple[str, ...]]:
    """Return the only type of a name that has subclasses or implementations, with a note about the others.

    None if no type has some, or several have.
    """
    if intent.kind != Kind.SUBTYPES:
        return None, ()
    same = await _namesakes(reader, targets, project)
    uids = [uid for each in same for uid in each.uids]
    degrees = await reader.store.degrees(uids, intent.direction, (EdgeType.INHERITS,))
    extended = [each for each in same if any(sum(degrees.get(uid, {}).values()) for uid in each.uids)]
    if len(extended) != 1 or len(same) != targets.total:
        return None, ()
    return Targets(targets.name, (extended[0],), 1), (_without_subtypes(targets.name, same, extended[0]),)


async def _namesakes(reader: Reader, targets: Targets, project: str) -> Sequence[Target]:
    """Return the types of a name, also those that are too many to be listed."""
    if targets.total <= len(targets.targets):
        return targets.targets
    where = Filter(project=project, labels=(Label.CLASS,))
    nodes = await reader.store.find(targets.name, Match.SUFFIX, where, MAX_NODES)
    own = [node for node in nodes if not node.row.is_test] or nodes
    return group_symbols(own, reader.languages.constructors)


def _without_subtypes(name: str, same: Sequence[Target], chosen: Target) -> str:
    """Return a line about the other symbols of a name, which have no subclasses."""
    others = [each.node.row for each in same if each is not chosen]
    shown = ", ".join(f"{row.kind} {row.path}:{row.line}" for row in others[:_OTHERS_SHOWN])
    more = f" and {len(others) - _OTHERS_SHOWN} more" if len(others) > _OTHERS_SHOWN else ""
    return f"{counted(len(others), 'other symbol')} called `{name}` without any in the index: {shown}{more}"


async def find_definitions(reader: Reader, kind: Kind, targets: Targets, project: str) -> list[Node]:
    """Return all methods of a name that has no first method, for "which classes implement X"; else none."""
    if kind not in _OF_ROOT:
        return []
    # with the mark that a question takes off: `valid?`
    name = targets.targets[0].node.row.name if targets.total else targets.name
    nodes = await reader.store.find(name, Match.SUFFIX, Filter(project=project), MAX_NODES)
    own = [node for node in nodes if node.row.label not in EXTERNAL_LABELS]
    return own if all(map(_is_member, own)) else []


def _is_member(node: Node) -> bool:
    """Return whether a node is a method, or a function of a module that is mixed in, as its capital tells."""
    owner = node.row.qualified_name.rpartition(".")[0].rpartition(".")[2]
    return node.row.label == Label.METHOD or (node.row.label == Label.FUNCTION and owner[:1].isupper())


async def find_overriding(reader: Reader, called: Sequence[Node]) -> tuple[str, ...]:
    """Return notes with the methods that may run where the called ones are: those that override them, at any level."""
    own = {node.row.uid: node for node in called if node.row.label == Label.METHOD}
    first = await reader.store.edges(list(own), Direction.IN, (EdgeType.OVERRIDES,), 4 * MAX_NODES) if own else []
    level = [(edge.row.target, edge.node) for edge in first]
    below: dict[str, dict[str, Node]] = {}
    for _ in range(_MAX_LEVELS):
        new = [(root, node) for root, node in level if node.row.uid not in below.get(root, {})]
        if not new:
            break
        roots: dict[str, list[str]] = {}
        for root, node in new:
            below.setdefault(root, {})[node.row.uid] = node
            roots.setdefault(node.row.uid, []).append(root)
        edges = await reader.store.edges(list(roots), Direction.IN, (EdgeType.OVERRIDES,), 4 * MAX_NODES)
        level = [(root, edge.node) for edge in edges for root in roots[edge.row.target]]
    notes: list[str] = []
    for root in list(below)[:_OTHERS_SHOWN]:
        nodes = sorted(below[root].values(), key=lambda node: (node.row.is_test, node.row.path, node.row.line or 0))
        shown = [f"{_with_owner(node)} {node.row.path}:{node.row.line}" for node in nodes[:_OVERRIDES_SHOWN]]
        more = f" and {len(nodes) - len(shown)} more" if len(nodes) > len(shown) else ""
        notes.append(f"a call of `{_with_owner(own[root])}` may run an override of it: {', '.join(shown)}{more}")
    if len(below) > _OTHERS_SHOWN:
        more = counted(len(below) - _OTHERS_SHOWN, "more called method")
        notes.append(f"{more} may run an override as well: `overrides of NAME` lists them")
    return tuple(notes)


async def overridden_of_class(reader: Reader, intent: RelationIntent, targets: Targets) -> EdgeAnswer | None:
    """Answer which methods of its bases a class overrides, or which of its own its subclasses do; None for others."""
    if intent.kind == Kind.OVERRIDES:
        return await _overridden_in_subclasses(reader, intent, targets)
    return await _overridden_by_class(reader, intent, targets)


async def _overridden_by_class(reader: Reader, intent: RelationIntent, targets: Targets) -> EdgeAnswer | None:
    """Answer which methods of bases classes override; None for other questions, and classes without known bases.

    What a class overrides of a base that is not indexed is not known, so its other methods are named. `within` may be a
    base.
    """
    is_asked = intent.kind == Kind.OVERRIDDEN and not intent.is_negated
    if not is_asked or any(each.node.row.label != Label.CLASS for each in targets.targets):
        return None
    answers = [await _overridden_by(reader, intent, each) for each in targets.targets]
    known = [each for each in answers if each is not None]
    return replace(known[0], further=tuple(known[1:])) if known else None


async def _overridden_by(reader: Reader, intent: RelationIntent, target: Target) -> EdgeAnswer | None:
    row = target.node.row
    bases = await _bases_of(reader, target.uids)
    held = await reader.store.edges(target.uids, Direction.OUT, (EdgeType.DEFINES_METHOD,), 4 * MAX_NODES)
    makers = ("constructor", "destructor")
    methods = {edge.node.row.uid: edge.node for edge in held if edge.node.row.kind not in makers}
    if not bases or not methods:
        return None
    fields = await _fields_of(reader, bases)
    found = await _overridden_above(reader, list(methods))
    above = {uid: (*found.get(uid, ()), *fields.get(each.row.name, ())) for uid, each in methods.items()}
    wanted = [each for each in bases if each.row.name == intent.within.rpartition(".")[2]]
    owners = tuple(f"{each.row.qualified_name}." for each in wanted or bases)
    kept = {uid: [each for each in nodes if each.row.qualified_name.startswith(owners)] for uid, nodes in above.items()}
    related = [
        RelatedSymbol(methods[uid], methods[uid].row.path, (methods[uid].row.line,), through=_with_owner(nodes[0]))
        for uid, nodes in kept.items()
        if nodes
    ]
    outside = [each for each in wanted or bases if each.row.label in EXTERNAL_LABELS]
    rest = [each for uid, each in methods.items() if not above[uid]] if outside else []
    calling = await _calling_base(reader, rest)
    of = f"{outside[0].row.name}." if len(outside) == 1 else "a base's "
    related += [
        RelatedSymbol(each, each.row.path, (each.row.line,), through=f"{of}{each.row.name}") for each in calling
    ]
    related.sort(key=lambda each: each.lines)
    rest = [each for each in rest if each.row.name not in {found.row.name for found in calling}]
    notes = (_maybe_overriding(rest, outside),) if rest else ()
    whose = f"those of {wanted[0].row.name}" if wanted else "those of its bases"
    title = f"methods of {row.kind} {row.qualified_name} {row.path}:{row.line} that override {whose}"
    at_least = "at least " if notes else ""
    count = f"{at_least}{len(related)}" if related else "unknown" if notes else "none found"
    one = Targets(row.name, (target,), 1)
    return EdgeAnswer(intent, one, related=tuple(related), notes=notes, title=f"{title}: {count}")


async def _overridden_in_subclasses(reader: Reader, intent: RelationIntent, targets: Targets) -> EdgeAnswer | None:
    """Answer which methods of a class its subclasses define again; None for other questions, and without subclasses.

    By name, as most languages decide it: constructors that are called like their class are no such methods.
    """
    target = targets.targets[0] if targets.total == 1 else None
    is_asked = intent.kind == Kind.OVERRIDES and not intent.is_negated and not intent.within and not intent.outside
    if target is None or not is_asked or target.node.row.label != Label.CLASS:
        return None
    below = await reader.store.symbols(sorted(await _reached(reader, target.uids, Direction.IN)))
    below = [each for each in below if intent.tests != TestScope.EXCLUDED or not each.row.is_test]
    held = await reader.store.edges(
        [*target.uids, *(each.row.uid for each in below)], Direction.OUT, (EdgeType.DEFINES_METHOD,), 8 * MAX_NODES
    )
    if not below or len(held) >= 8 * MAX_NODES:
        return None
    own = {edge.node.row.name: edge.node for edge in held if edge.row.source in target.uids}
    again = [edge.node for edge in held if edge.row.source not in target.uids and edge.node.row.name in own]
    related = [
        RelatedSymbol(each, each.row.path, (each.row.line,), through=_with_owner(own[each.row.name])) for each in again
    ]
    row = target.node.row
    names = {each.row.name for each in again}
    left = sorted((node.row.line, name) for name, node in own.items() if name not in names)
    rest = ", ".join(f"{name} {line}" for line, name in left[:_METHODS_SHOWN])
    more = f" and {len(left) - _METHODS_SHOWN} more" if len(left) > _METHODS_SHOWN else ""
    notes = (f"no subclass defines: {rest}{more}",) if left else ()
    title = (
        f"methods of {row.kind} {row.qualified_name} {row.path}:{row.line} that its {counted(len(below), 'subclass')}"
        f" override: {len(names) or 'none'} of {len(own)}" + (f" in {len(related)} places" if related else "")
    )
    return EdgeAnswer(intent, targets, related=tuple(related), notes=notes, title=title)


async def _bases_of(reader: Reader, uids: Sequence[str]) -> list[Node]:
    """Return the classes above others, at any level."""
    found: dict[str, Node] = {}
    level = list(uids)
    for _ in range(_MAX_LEVELS):
        edges = await reader.store.edges(level, Direction.OUT, (EdgeType.INHERITS,), MAX_NODES) if level else []
        new = {edge.node.row.uid: edge.node for edge in edges if edge.node.row.uid not in found}
        found.update(new)
        level = list(new)
    return list(found.values())


async def _fields_of(reader: Reader, classes: Sequence[Node]) -> Mapping[str, Sequence[Node]]:
    """Return the fields of classes by name: `head = _unimplemented` is overridden by a method."""
    edges = await reader.store.edges([each.row.uid for each in classes], Direction.OUT, _HOLDS, 4 * MAX_NODES)
    found: dict[str, list[Node]] = {}
    for edge in edges:
        if edge.node.row.label == Label.VALUE:
            found.setdefault(edge.node.row.name, []).append(edge.node)
    return found


async def _overridden_above(reader: Reader, uids: Sequence[str]) -> Mapping[str, Sequence[Node]]:
    """Return the methods that each method overrides, the nearest first."""
    found: dict[str, list[Node]] = {}
    own = {uid: {uid} for uid in uids}
    for _ in range(_MAX_LEVELS):
        edges = await reader.store.edges(list(own), Direction.OUT, (EdgeType.OVERRIDES,), 4 * MAX_NODES) if own else []
        above: dict[str, set[str]] = {}
        for edge in edges:
            for uid in own[edge.row.source]:
                if edge.node not in found.setdefault(uid, []):
                    found[uid].append(edge.node)
                    above.setdefault(edge.node.row.uid, set()).add(uid)
        own = above
    return found


async def _calling_base(reader: Reader, methods: Sequence[Node]) -> list[Node]:
    """Return the methods that call the base's method of their name, which they therefore override."""
    if not methods:
        return []
    texts = await reader.store.content(methods[0].project, sorted({each.row.path for each in methods}))
    rows = {path: text.decode("utf-8", "replace").splitlines() for path, text in texts.items()}
    bodies = ("\n".join(rows.get(each.row.path, [])[each.row.start_line - 1 : each.row.end_line]) for each in methods)
    return [each for each, body in zip(methods, bodies, strict=True) if each.row.name in _OF_SUPER.findall(body)]


def _maybe_overriding(methods: Iterable[Node], outside: Sequence[Node]) -> str:
    """Return a line with the methods of a class below a base that is not indexed, each of its overloads once."""
    ordered = sorted(methods, key=lambda each: (each.row.path, each.row.line or 0), reverse=True)
    lines = {each.row.name: each.row.line for each in ordered}
    places = [f"{name} {line}" for name, line in sorted(lines.items(), key=lambda each: each[1] or 0)]
    more = f" and {len(places) - _METHODS_SHOWN} more" if len(places) > _METHODS_SHOWN else ""
    names = " and ".join(f"`{each.row.name}`" for each in outside[:_OTHERS_SHOWN])
    are = "are" if len(outside) > 1 else "is"
    shown = ", ".join(places[:_METHODS_SHOWN])
    return f"{names} {are} not indexed, any of these others may override a method of it: {shown}{more}"


def _with_owner(node: Node) -> str:
    return ".".join(node.row.qualified_name.partition("#")[0].split(".")[-2:])


async def related_inside(reader: Reader, intent: RelationIntent, targets: Targets) -> list[RelatedSymbol]:
    """Return what is related within a family: methods mixed in, or overrides that call the method they override."""
    uids = targets.uids
    if intent.kind in _OF_ROOT:
        nodes = await reader.store.symbols(uids[1:])
        return [RelatedSymbol(node, node.row.path, (), "mixed-in", _MIXED_IN) for node in nodes]
    edges = await reader.store.edges(uids, Direction.IN, intent.types, 4 * MAX_NODES)
    found: dict[str, RelatedSymbol] = {}
    for edge in edges:
        row, uid = edge.row, edge.row.source
        if uid in uids and uid != row.target:
            lines = found[uid].lines if uid in found else ()
            merged = tuple(sorted({*lines, *row.lines}))
            found[uid] = RelatedSymbol(edge.node, edge.node.row.path, merged, row.strategy, row.confidence)
    return list(found.values())


async def _root_of_mixins(reader: Reader, first: Sequence[Node]) -> Node | None:
    """Return the method for which the others are mixed in; None if they are unrelated.

    A class is mixed in for another if one of its subclasses derives from both: its method then overrides that one.
    """
    held = await reader.store.edges([node.row.uid for node in first], Direction.IN, _HOLDS, MAX_NODES)
    owners = {edge.row.target: edge.node.row.uid for edge in held}
    if len(owners) != len(first):
        return None
    roots = set(owners.values())
    for owner in dict.fromkeys(owners.values()):
        below = await _reached(reader, [owner], Direction.IN)
        roots &= {owner, *await _reached(reader, sorted(below), Direction.OUT)}
        if not roots:
            return None
    return next((node for node in first if owners[node.row.uid] in roots), None)


async def _reached(reader: Reader, uids: Sequence[str], direction: Direction) -> set[str]:
    """Return the classes below or above some classes."""
    found: set[str] = set()
    level = list(uids)
    for _ in range(_MAX_LEVELS):
        if not level or len(found) > MAX_NODES:
            break
        edges = await reader.store.edges(level, direction, (EdgeType.INHERITS,), 4 * MAX_NODES)
        level = sorted({edge.node.row.uid for edge in edges} - found)
        found.update(level)
    return found


async def find_inheriting(reader: Reader, base: Node, overriding: Sequence[Node]) -> list[Node]:
    """Return the classes below that of a method which have the method as it is: neither they nor a base override it.

    What derives from two classes, one of which overrides it, is none of them.
    """
    held = await reader.store.edges([base.row.uid], Direction.IN, _HOLDS, MAX_NODES)
    owners = [edge.node.row.uid for edge in held if edge.node.row.label == Label.CLASS]
    if len(owners) != 1:
        return []
    held = await reader.store.edges([node.row.uid for node in overriding], Direction.IN, _HOLDS, MAX_NODES)
    own = {edge.node.row.uid for edge in held}
    without = await _reached(reader, owners, Direction.IN) - own - await _reached(reader, sorted(own), Direction.IN)
    nodes = [node for node in await reader.store.symbols(sorted(without)) if node.row.kind not in _CONTRACTS]
    return sorted(nodes, key=lambda node: (node.row.is_test, node.row.path, node.row.line or 0))


def describe_inheriting(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return a note with the classes that have a method as it is; () without any."""
    count = _INHERITING_SHOWN if len(nodes) <= _MANY_INHERIT else _OTHERS_SHOWN
    shown = ", ".join(f"{node.row.name} {node.row.path}:{node.row.line}" for node in nodes[:count])
    more = f" and {len(nodes) - count} more" if len(nodes) > count else ""
    return (f"inherited without an override by {len(nodes)}: {shown}{more}",) if nodes else ()
