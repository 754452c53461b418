"""Resolve the name in a question about a relation to its symbol. Reads names only; follows no edge.

Overloads, redefinitions, declarations and a class with its constructor are one symbol. Only nodes to which the relation
can apply are candidates: a method has no subclasses. A definition of the project is preferred to a test and to a symbol
of another package; a file is never returned in place of a symbol.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.code.graph.absence.not_found import why_missing
from atlas.code.graph.absence.renamed_imports import find_renamed
from atlas.code.graph.aliases.alias_text import is_alias
from atlas.code.graph.near_names import find_near_names
from atlas.code.question.names import is_code_shaped, without_arity
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.reader import Reader
from atlas.code.retrieve.resolve import deeper, resolve
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

MAX_TARGETS = 12
"""Maximum number of symbols listed for one name; `Targets.total` counts all."""

MAX_NODES = 500
"""Maximum number of nodes read for one name."""

MAX_MEMBERS = 20_000
"""Definitions of files and packages that are read."""
_MAX_FOLDERS = 8
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
_CLASSES = (Label.CLASS,)
_CALLABLE = (Label.FUNCTION, Label.METHOD, Label.CLASS)
_FILES = (Label.MODULE, Label.PACKAGE, Label.FILE)
_ANY_CODE = (*_CALLABLE, Label.VALUE)

APPLIES: Mapping[Kind, tuple[tuple[Label, ...], ...]] = {
    Kind.CALLERS: (_ANY_CODE,),
    Kind.CALLEES: (_CALLABLE,),
    Kind.SUBTYPES: (_CLASSES, (Label.METHOD, Label.FUNCTION)),
    Kind.SUPERTYPES: (_CLASSES, (Label.METHOD,)),
    Kind.HIERARCHY: (_CLASSES,),
    Kind.OVERRIDES: ((Label.METHOD, Label.VALUE), _CLASSES, (Label.FUNCTION,)),
    Kind.OVERRIDDEN: ((Label.METHOD, Label.VALUE), _CLASSES, (Label.FUNCTION,)),
    Kind.IMPORTERS: (_FILES, _ANY_CODE),
    Kind.IMPORTS: (_FILES,),
    Kind.TESTS: (_ANY_CODE, _FILES),
    Kind.PATH: (_CALLABLE, _FILES),
    Kind.USAGES: (_ANY_CODE, _FILES),
    Kind.USES: (_ANY_CODE, _FILES),
    Kind.INSTANTIATIONS: (_CLASSES, _ANY_CODE),
    Kind.RETURNERS: (_CLASSES, _ANY_CODE),
    Kind.DEFINITION: (_ANY_CODE, _FILES),
    Kind.DOCS: (_ANY_CODE, _FILES),
    Kind.NOTES: (_ANY_CODE, _FILES),
}
"""By kind of relation: labels of what can have its edges, the first group that fits any node is meant."""

_OF_FILES = (Kind.IMPORTERS, Kind.IMPORTS)
_OF_FOLDERS = (Kind.IMPORTERS, Kind.DEPENDENTS, Kind.USAGES)
_FOLDER_WORDS = ("folder", "directory", "dir", "package")
_MOST_OF_FOLDER = 200
"""Files of a folder up to which all that it holds is followed."""
_OF_CALLS = (Kind.CALLERS, Kind.CALLEES, Kind.PATH)
_OF_TYPES = (Kind.SUBTYPES, Kind.SUPERTYPES, Kind.HIERARCHY)

_REDEFINITION = lazy_regex(r"#\d+$")


@dataclass(frozen=True, slots=True)
class Target:
    """One symbol: its definition and the nodes that are the same symbol (overloads, declarations, constructor)."""

    node: Node
    uids: tuple[str, ...]
    further: str = ""
    """The places of its other definitions, as ` and :49`."""


@dataclass(frozen=True, slots=True)
class Targets:
    """The symbols of a name: one target, several (ambiguous), or none, with near names and reasons."""

    name: str
    targets: tuple[Target, ...]
    total: int = 0
    """Symbols of that name; `targets` holds at most `MAX_TARGETS` of them."""
    near: tuple[Node, ...] = ()
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What there is to say about how the name was resolved: inherited, or written in another case."""
    is_near: bool = False
    """Whether no symbol is called so: the targets have the name in another form, such as `_name`."""
    is_other_kind: bool = False
    """Whether symbols have the name, but of kinds that cannot have such edges: a way leads to no value."""
    is_text: bool = False
    """Whether only files without definitions have the name: what they say about it is text."""

    @property
    def is_article(self) -> bool:
        """Whether a name of one letter is rather the article `a`: no definition is called exactly so."""
        return len(self.name) == 1 and all(target.node.row.name != self.name for target in self.targets)

    @property
    def nearness(self) -> tuple[str, ...]:
        """What there is to say of targets with another form of the name."""
        return (f"no symbol is called `{self.name}`: this is the nearest form of it",) if self.is_near else ()

    @property
    def uids(self) -> tuple[str, ...]:
        """Uids of all nodes of all targets."""
        return tuple(uid for target in self.targets for uid in target.uids)


async def find_targets(
    reader: Reader, name: str, intent: RelationIntent, project: str, *, allows_near: bool = False
) -> Targets:
    """Return the symbols that a name in a question stands for; with `allows_near` those with another form of it.

    A scope (`in Y`) that is the owner of such a symbol decides: `callers of save in User` are those of `User.save`.
    """
    where = Filter(project=project)
    if intent.within and not intent.is_limited and "/" not in intent.within and name == intent.name:
        owned = await _resolved(reader, f"{intent.within}.{name}", intent.kind, where)
        if owned.targets:
            return owned
    found = await _resolved(reader, name, intent.kind, where)
    if found.is_text:
        return found
    if not found.targets and (bare := without_arity(name)) != name:
        name = bare
        found = await _resolved(reader, name, intent.kind, where)
    inner = name.removeprefix(f"{reader.root.name}.")
    if not found.targets and inner != name:
        # the project's folder is the package itself
        found = await _resolved(reader, inner, intent.kind, where)
    if not found.targets and "." in name:
        found = await _of_package(reader, name, where) or found
    if not found.targets and "/" in name:
        found = await _inside_module_path(reader, name, intent.kind, where) or found
    if not found.targets and not found.reasons and is_code_shaped(name):
        renamed = _preferred(await find_renamed(reader, name, where), APPLIES.get(intent.kind, ()))
        if groups := group_symbols(renamed, reader.languages.constructors):
            return Targets(name, tuple(groups[:MAX_TARGETS]), len(groups))
    if not found.targets and intent.kind in _OF_FILES:
        found = await _by_stem(reader, name, where) or found
    if found.targets or not intent.certain:
        return found
    if found.reasons:
        return found
    if allows_near and (is_code_shaped(name) or intent.said_kind):
        near = _preferred(await find_near_names(reader, name, where), APPLIES.get(intent.kind, ()))
        if groups := group_symbols(near, reader.languages.constructors):
            return Targets(name, tuple(groups[:MAX_TARGETS]), len(groups), is_near=True)
    return replace(found, reasons=await why_missing(reader, name, where))


async def with_folder(reader: Reader, targets: Targets, intent: RelationIntent) -> Targets:
    """Return a module that is called like its folder with all that the folder holds, where the folder may be meant.

    `lib/store` for `lib/store/index.js`, `store` for `store/mod.rs`: what depends on it imports other files, too.
    """
    is_meant = intent.kind == Kind.DEPENDENTS or intent.said_kind in _FOLDER_WORDS or "/" in intent.name
    if intent.kind not in _OF_FOLDERS or not is_meant or targets.total != 1:
        return targets
    target = targets.targets[0]
    folder, _, file = target.node.row.path.rpartition("/")
    is_module = target.node.row.label == Label.MODULE and folder.rpartition("/")[2] == target.node.row.name
    if not is_module or file.partition(".")[0] == target.node.row.name:
        return targets
    paths = [path for path in await reader.store.paths(target.node.project) if path.startswith(f"{folder}/")]
    if not 1 < len(paths) <= _MOST_OF_FOLDER:
        return targets
    where = Filter(project=target.node.project)
    held = [await reader.store.find(path, Match.PATH, where, MAX_MEMBERS) for path in paths]
    uids = dict.fromkeys((*target.uids, *(node.row.uid for nodes in held for node in nodes)))
    note = f"of everything in {folder}/ ({counted(len(paths), 'file')})"
    return replace(targets, targets=(replace(target, uids=tuple(uids)),), notes=(*targets.notes, note))


async def _of_package(reader: Reader, name: str, where: Filter) -> Targets | None:
    """Return the symbols of another package that `package.name` means, whose modules and classes are left out."""
    package, _, last = name.partition(".")
    nodes = await reader.store.find(last, Match.SUFFIX, replace(where, labels=(Label.EXTERNAL_SYMBOL,)), MAX_TARGETS)
    own = [node for node in nodes if node.row.qualified_name.startswith(f"ext:{package}.")]
    return Targets(name, tuple(Target(node, (node.row.uid,)) for node in own), len(own)) if own else None


async def _by_stem(reader: Reader, name: str, where: Filter) -> Targets | None:
    """Return the one file outside tests whose name without its ending is `name`: `body_proxy` of `body_proxy.rb`."""
    wanted = f"/{name}"
    paths = [path for path in await reader.store.paths(where.project) if f"/{path}".rpartition(".")[0].endswith(wanted)]
    held = [await reader.store.find(path, Match.PATH, replace(where, labels=_FILES), 1) for path in paths[:MAX_TARGETS]]
    nodes = [node for nodes in held for node in nodes if not node.row.is_test]
    return Targets(name, (Target(nodes[0], (nodes[0].row.uid,)),), 1) if len(nodes) == 1 else None


async def _resolved(reader: Reader, name: str, kind: Kind, where: Filter) -> Targets:
    resolution = await resolve(reader, name, where)
    if not resolution.nodes and name and (name[-1].isalnum() or name[-1] == "_"):
        # Ruby's `save!` and `empty?` lose their last character to the punctuation of a question
        for mark in "!?":
            marked = await resolve(reader, name + mark, where)
            if marked.how in ("exact", "suffix"):
                name, resolution = name + mark, marked
                break
    if resolution.how == "suffix":
        # all of them: resolve prefers one definition to its declarations
        nodes = await reader.store.find(name, Match.SUFFIX, where, MAX_NODES)
    else:
        nodes = [*resolution.nodes, *resolution.declarations]
    if resolution.how in ("exact", "uid"):
        nodes = await _with_redefinitions(reader, nodes, where)
    if nodes and not (nodes := [node for node in nodes if not _is_text(reader, node)]):
        return Targets(name, (), is_text=True)
    if kind in _OF_CALLS and resolution.how == "exact" and all(node.row.label in _FILES for node in nodes):
        # the function `main` of the module `main`
        callable_ = await reader.store.find(name, Match.SUFFIX, replace(where, labels=_CALLABLE), MAX_NODES)
        nodes = [node for node in callable_ if not node.row.is_test] or nodes
    if resolution.how == "folded" and kind in _OF_TYPES:
        # `Error` is not a method `error`
        nodes = [node for node in nodes if node.row.label in (Label.CLASS, *EXTERNAL_LABELS)]
    if kind == Kind.OVERRIDDEN:
        # a class, before its constructor and a test of its name
        nodes = [node for node in nodes if node.row.label == Label.CLASS] or nodes
    if not nodes and name:
        # `http.IncomingMessage` of the package `http`
        nodes = await reader.store.find(f"ext:{name}", Match.EXACT, where, MAX_NODES)
    found = _preferred(nodes, APPLIES.get(kind, ()))
    if not found and resolution.how in ("exact", "suffix"):
        # `render` is a value here, and the class that is meant is `Render`
        found = _preferred(await reader.store.find(name, Match.FOLDED, where, MAX_NODES), APPLIES.get(kind, ()))
    if "." in name and not any(node.row.label not in EXTERNAL_LABELS for node in found):
        found = _preferred(await deeper(reader, name, where), APPLIES.get(kind, ())) or found
    if nodes and not found and kind == Kind.SUBTYPES:
        found = await _mixed_in(reader, nodes)
    if nodes and not found:
        return Targets(name, (), near=resolution.near, reasons=(_wrong_kind(nodes, kind),), is_other_kind=True)
    groups = group_symbols(found, reader.languages.constructors)
    return Targets(name, tuple(groups[:MAX_TARGETS]), len(groups), resolution.near, notes=resolution.notes)


async def _with_redefinitions(reader: Reader, nodes: list[Node], where: Filter) -> list[Node]:
    """Return the nodes with the further definitions of their qualified names: `Cart.add#2` of `Cart.add`."""
    found = {node.row.uid: node for node in nodes}
    for node in nodes[:MAX_TARGETS]:
        name = node.row.qualified_name
        if not node.row.path or node.row.label in _FILES or name.startswith("ext:"):
            continue
        same = await reader.store.find(name, Match.SUFFIX, where, MAX_NODES)
        found |= {each.row.uid: each for each in same if _REDEFINITION.sub("", each.row.qualified_name) == name}
    return list(found.values())


async def all_targets(reader: Reader, targets: Targets, kind: Kind, project: str) -> Targets:
    """Return all symbols of a name instead of the first `MAX_TARGETS`. Raises store errors."""
    nodes = await reader.store.find(targets.name, Match.SUFFIX, Filter(project=project), MAX_NODES)
    groups = group_symbols(_preferred(nodes, APPLIES.get(kind, ())), reader.languages.constructors)
    return replace(targets, targets=tuple(groups), total=len(groups)) if len(groups) >= targets.total else targets


async def _mixed_in(reader: Reader, nodes: Sequence[Node]) -> list[Node]:
    """Return the namespaces that classes mix in, as Ruby's modules."""
    spaces = [node for node in nodes if node.row.kind == "namespace"]
    degrees = await reader.store.degrees([node.row.uid for node in spaces], Direction.IN, (EdgeType.INHERITS,))
    return [node for node in spaces if any(degrees.get(node.row.uid, {}).values())]


def _is_text(reader: Reader, node: Node) -> bool:
    """Return whether a node belongs to a file without definitions."""
    row = node.row
    return row.label == Label.CHUNK or (row.label == Label.FILE and reader.languages.is_windowed(row.language))


async def _inside_module_path(reader: Reader, name: str, kind: Kind, where: Filter) -> Targets | None:
    """Return a folder or file of a path that begins with the name of the module (`github.com/owner/repo/folder`)."""
    parts = name.split("/")
    for start in range(1, len(parts)):
        found = await _resolved(reader, "/".join(parts[start:]), kind, replace(where, labels=_FILES))
        if found.targets:
            return found
    return None


def _wrong_kind(nodes: Sequence[Node], kind: Kind) -> str:
    """Say that what has the name cannot have such edges."""
    row = nodes[0].row
    more = f" (the first of {len(nodes)})" if len(nodes) > 1 else ""
    wanted = " or ".join(label.lower() for label in APPLIES[kind][0])
    return f"there is no {wanted} of that name, only: {row.kind} {row.qualified_name} {row.path}:{row.line}{more}"


def _preferred(nodes: Sequence[Node], groups: Sequence[Sequence[Label]]) -> list[Node]:
    """Return the nodes with the labels of the first group that fits, own before external, code before tests."""
    fitting = list(nodes) if not groups else []
    for labels in groups:
        if fitting := [node for node in nodes if _fits(node, labels)]:
            break
    own = fitting or [node for node in nodes if node.row.label in EXTERNAL_LABELS]
    return [node for node in own if not node.row.is_test] or own


def _fits(node: Node, labels: Sequence[Label]) -> bool:
    """Return whether a node has one of the labels; where classes alone count, so does another name for a type."""
    return node.row.label in labels or (labels is _CLASSES and is_alias(node.row))


async def members_of(reader: Reader, targets: Targets, *, nested: bool = False, with_files: bool = False) -> list[str]:
    """Return the uids of what files, modules and packages hold: an import of a symbol is an import of its file.

    With `nested` also those of the modules in a package, at any depth, and `with_files` those of its own files. Raises
    store errors.
    """
    nodes = [target.node for target in targets.targets]
    held = await reader.store.edges(targets.uids, Direction.OUT, _HOLDS, MAX_MEMBERS)
    members = [edge.node.row.uid for edge in held]
    level = [node.row.uid for node in nodes if (nested or with_files) and node.row.label == Label.PACKAGE]
    for _ in range(_MAX_FOLDERS if nested else 1):
        edges = await reader.store.edges(level, Direction.OUT, (EdgeType.CONTAINS,), MAX_MEMBERS) if level else []
        edges = edges if nested else [edge for edge in edges if edge.node.row.label != Label.PACKAGE]
        nodes += (edge.node for edge in edges)
        level = [edge.node.row.uid for edge in edges if edge.node.row.uid not in members]
        members += level
    where = Filter(project=targets.targets[0].node.project)
    for path in dict.fromkeys(node.row.path for node in nodes if node.row.label in _FILES and node.row.path):
        members += (node.row.uid for node in await reader.store.find(path, Match.PATH, where, MAX_MEMBERS))
        if len(members) > MAX_MEMBERS:
            break
    return list(dict.fromkeys(members))


def group_symbols(nodes: Iterable[Node], constructors: frozenset[str]) -> list[Target]:
    """Return one target per symbol, in the order of the nodes."""
    nodes = list(nodes)
    classes = {node.row.qualified_name for node in nodes if node.row.label == Label.CLASS}
    groups: dict[str, list[Node]] = {}
    for node in nodes:
        owner, _, name = node.row.qualified_name.rpartition(".")
        makes = name in constructors or node.row.kind == "constructor"
        symbol = owner if makes and owner in classes else node.row.qualified_name
        groups.setdefault(_REDEFINITION.sub("", symbol), []).append(node)
    return [Target(_definition(group), tuple(node.row.uid for node in group)) for group in groups.values()]


def _definition(group: Sequence[Node]) -> Node:
    """Return the node that shows a symbol best: a class before its constructor, a definition before declarations."""

    def standing(node: Node) -> tuple[bool, bool]:
        return (node.row.label != Label.CLASS, "declaration" in node.row.modifiers.split())

    return min(group, key=standing)
