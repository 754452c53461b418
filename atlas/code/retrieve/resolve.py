"""Resolution of a written name to nodes: the first strategy with a result wins.

The strategies in order: uid, `path:line`, `path::name`, exact qualified name, suffix, re-export, what a package
exports, a member of a base, suffix ignoring case, path. Several nodes from one strategy are all returned; the caller
chooses. Similar spellings are suggestions only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from atlas.code.question.languages import LanguageTerms, is_declaration
from atlas.code.question.names import dotted, valid, without_arity
from atlas.code.reader import Reader
from atlas.code.retrieve.written_files import find_files, innermost, relative
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node

CANDIDATES = 50
NEAR = 8
MIN_PREFIX = 3
"""Minimum length of a prefix; too many names start with fewer characters."""
MIN_SHARED = 2
"""Words that two names must have in common to be near."""
MAX_DEEPER = 500
"""Symbols of one plain name among which those of an owner are looked for."""
MAX_IMPORTS = 2_000
"""Imports of the modules with one name that are searched for a re-export."""
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
HOLDERS = (Label.MODULE, Label.PACKAGE, Label.FILE)
_PARTS_OF_IMPORT = 3
_DEFINED = (Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE)
_EXPORTED = ((Label.CLASS, Label.FUNCTION), (Label.VALUE,))
"""What a package exports under a plain name: no members of its types."""
MAX_NAME_CHARACTERS = 500

_MAJOR_VERSION = lazy_regex(r"/v\d+$")
"""End of the path of a Go module from its second major version."""
_MAX_BASES = 8
"""Levels of base classes that are searched for a member."""
_IN_PARTS = lazy_regex(r"\bpartial\b")
"""The signature of a type whose parts make up one symbol."""
_MEMBER = lazy_regex(r"^(?P<path>[^\s:#]+)(?:::|#|:)(?P<name>[^\d\s:#].*)$")
"""A file and a name in it, as test runners and people write them: `a/b.py::Test::test`, `impl.ts#impl`, `a.py:f`."""
_PLACE = lazy_regex(r"^(?P<path>.+?):(?:L)?(?P<line>\d{1,7})(?::\d+)?$")


@dataclass(frozen=True, slots=True)
class Resolution:
    """The nodes of a name: one, several (ambiguous), or none with suggestions of similar names."""

    nodes: tuple[Node, ...]
    how: str
    """The strategy: `uid`, `place`, `member`, `exact`, `suffix`, `alias`, `inherited`, `folded`, `path`, or ""."""
    near: tuple[Node, ...] = ()
    declarations: tuple[Node, ...] = ()
    """Declarations (stubs, prototypes) of the one definition in `nodes`."""
    notes: tuple[str, ...] = ()
    """How the nodes differ from what is asked for: they belong to a base, or are written in another case."""


async def resolve(reader: Reader, name: str, where: Filter) -> Resolution:
    """Find the nodes of a name (see `written`) within the filter. Raises only store errors."""
    if not name:
        return Resolution((), "")
    for rung in (
        _by_uid,
        _by_place,
        _by_member,
        _by_name,
        _by_alias,
        _by_package_name,
        _by_base,
        _by_case,
        _by_import_path,
        _by_package,
        _by_path,
        _by_file,
    ):
        found = await rung(reader, name, where)
        if found is not None and rung is _by_name and _is_declaring_file(reader, found):
            # `server.inject`: the method of a class `Server`, rather than the declarations in `server/inject.d.ts`
            called = await _by_case(reader, name, where)
            member, defined = dotted(name).rpartition(".")[2], called.nodes if called is not None else ()
            defined = [node for node in defined if node.row.name == member and node.row.label not in HOLDERS]
            found = _prefer_definition(defined, Match.SUFFIX.value, reader.languages) if defined else found
        if found is not None:
            return found
    if (bare := without_arity(name)) != name:
        return await resolve(reader, bare, where)
    wanted = dotted(name)
    near = partial(_near, reader, wanted, where)
    return Resolution((), "", near=await reader.cache.get(reader.store, where.project, f"near {where} {wanted}", near))


def _is_declaring_file(reader: Reader, found: Resolution) -> bool:
    """Return whether a name is only that of files which declare types and define nothing."""
    return all(
        node.row.label in HOLDERS and node.row.path.endswith(reader.languages.declarations) for node in found.nodes
    )


async def _near(reader: Reader, name: str, where: Filter) -> tuple[Node, ...]:
    """Return similarly spelled names, best first, then names that start with the name or share words with it."""
    near = {node.row.uid: node for node in await reader.store.find(name, Match.NEAR, where, NEAR)}
    prefix = name.rpartition(".")[2]
    if len(near) < NEAR and len(prefix) >= MIN_PREFIX:
        longer = await reader.store.find(prefix, Match.PREFIX, where, NEAR)
        near |= {node.row.uid: node for node in longer if node.row.uid not in near}
    if len(near) < NEAR:
        near |= {node.row.uid: node for node in await _sharing(reader, prefix, where) if node.row.uid not in near}
    return tuple(near.values())[:NEAR]


async def _sharing(reader: Reader, name: str, where: Filter) -> list[Node]:
    """Return symbols whose names share at least half of the words of a name, and two: `isSafeTag`, `isSafeElement`."""
    parts = set(reader.split_words(name)[1:])
    if len(parts) < MIN_SHARED:
        return []
    hits = await reader.store.search_text(sorted(parts), where, CANDIDATES)
    nodes = await reader.store.symbols([hit.uid for hit in hits])
    shared = [(len(parts.intersection(reader.split_words(node.row.name))), node) for node in nodes if node.row.path]
    least = max(MIN_SHARED, len(parts) / 2)
    return [node for count, node in sorted(shared, key=lambda each: -each[0]) if count >= least][:NEAR]


def written(name: str) -> str:
    """Return a name ready for lookup: valid Unicode without surrounding quotes, cut at `MAX_NAME_CHARACTERS`."""
    return valid(name[:MAX_NAME_CHARACTERS]).strip().strip("`'\"").strip()


async def _by_uid(reader: Reader, name: str, where: Filter) -> Resolution | None:
    nodes = await reader.store.find(name, Match.UID, where, 1) if ":" in name else []
    return Resolution(tuple(nodes), "uid") if nodes else None


async def _by_place(reader: Reader, name: str, where: Filter) -> Resolution | None:
    """Return the innermost definition that spans the line, or the file's own node if there is none."""
    place = _PLACE.match(name)
    if place is None:
        return None
    files = await find_files(reader, place["path"], replace(where, labels=()))
    admitted = ([node for node in nodes if not where.labels or node.row.label in where.labels] for nodes in files)
    found = [node for nodes in admitted if (node := innermost(nodes, int(place["line"]))) is not None]
    return Resolution(tuple(found[:CANDIDATES]), "place") if found else None


async def _by_name(reader: Reader, name: str, where: Filter) -> Resolution | None:
    wanted = dotted(name)
    # the project's folder may be the package itself
    inner = wanted.removeprefix(f"{reader.root.name}.")
    forms = [(wanted, match) for match in (Match.EXACT, Match.SUFFIX) if wanted]
    forms += [(inner, Match.EXACT)] if inner != wanted else []
    for form, match in forms:
        nodes = await reader.store.find(form, match, where, CANDIDATES)
        own = [node for node in nodes if node.row.label not in EXTERNAL_LABELS]
        if own or nodes:
            return _prefer_definition(own or nodes, match.value, reader.languages, is_qualified="." in form)
    return None


async def _by_case(reader: Reader, name: str, where: Filter) -> Resolution | None:
    """Return the nodes whose name differs in case only, and say so."""
    wanted = dotted(name)
    nodes = await reader.store.find(wanted, Match.FOLDED, where, CANDIDATES) if wanted else []
    own = [node for node in nodes if node.row.label not in EXTERNAL_LABELS] or nodes
    if not own:
        return None
    written_as = ", ".join(f"`{each}`" for each in list(dict.fromkeys(node.row.name for node in own))[:NEAR])
    note = f"no symbol is called exactly `{wanted}`: only {written_as}"
    return replace(_prefer_definition(own, Match.FOLDED.value, reader.languages), notes=(note,))


async def _by_member(reader: Reader, name: str, where: Filter) -> Resolution | None:
    """Return the definitions of a name in a file: `impl.ts::impl`, `tests/test_a.py::TestA::test_b`."""
    place = _MEMBER.match(name)
    if place is None or not set("./\\").intersection(place["path"]):
        return None
    return await _in_file(reader, place["path"], dotted(place["name"]), where)


async def _by_file(reader: Reader, name: str, where: Filter) -> Resolution | None:
    """Return what `_by_member` finds for a name with dots as separators: `src/impl.ts.impl`."""
    parts = name.split(".")
    for at in range(len(parts) - 1, 1, -1):
        found = await _in_file(reader, ".".join(parts[:at]), ".".join(parts[at:]), where)
        if found is not None:
            return found
    return None


async def _in_file(reader: Reader, path: str, wanted: str, where: Filter) -> Resolution | None:
    files = await find_files(reader, path, replace(where, labels=()))
    inside = [node for nodes in files for node in nodes if not where.labels or node.row.label in where.labels]
    found = [node for node in inside if f".{node.row.qualified_name}".endswith(f".{wanted}")]
    found = [node for node in found if node.row.label not in HOLDERS] or found
    return _prefer_definition(found[:CANDIDATES], "member", reader.languages) if found else None


async def _by_base(reader: Reader, name: str, where: Filter) -> Resolution | None:
    """Return the member of a class that the class inherits, from its nearest base, and say from which."""
    owner, _, member = dotted(name).rpartition(".")
    if not owner or not member:
        return None
    classes: Sequence[Node] = ()
    for match in (Match.EXACT, Match.SUFFIX):
        classes = classes or await reader.store.find(owner, match, replace(where, labels=(Label.CLASS,)), CANDIDATES)
    seen, level = {node.row.uid for node in classes}, [node.row.uid for node in classes]
    for _ in range(_MAX_BASES):
        edges = await reader.store.edges(level, Direction.OUT, (EdgeType.INHERITS,), MAX_IMPORTS) if level else []
        bases = {edge.node.row.uid: edge.node for edge in edges if edge.node.row.uid not in seen}
        level = list(bases)
        held = await reader.store.edges(level, Direction.OUT, _HOLDS, MAX_IMPORTS) if level else []
        found = {edge.node.row.uid: edge.node for edge in held if edge.node.row.name == member}
        own = [node for node in found.values() if not where.labels or node.row.label in where.labels]
        if own:
            from_ = (bases[edge.row.source].row.name for edge in held if edge.row.target in found)
            above = ", ".join(f"`{each}`" for each in dict.fromkeys(from_))
            note = f"`{owner}` does not define `{member}`: inherited from {above}"
            return replace(_prefer_definition(own, "inherited", reader.languages), notes=(note,))
        seen.update(level)
    return None


async def _by_alias(reader: Reader, name: str, where: Filter) -> Resolution | None:
    """Return what a module re-exports under a name: `click.Command` of `click.core.Command`."""
    holder, _, last = dotted(name).rpartition(".")
    if not holder or not last:
        return None
    modules = replace(where, labels=HOLDERS)
    for match in (Match.EXACT, Match.SUFFIX):
        holders = await reader.store.find(holder, match, modules, CANDIDATES)
        uids = [node.row.uid for node in holders]
        edges = await reader.store.edges(uids, Direction.OUT, (EdgeType.IMPORTS,), MAX_IMPORTS) if uids else []
        found = {edge.node.row.uid: edge.node for edge in edges if edge.node.row.name == last}
        own = [node for node in found.values() if node.row.label not in EXTERNAL_LABELS]
        own = own or await _of_parts(reader, [edge.node for edge in edges], holder, last)
        own = [node for node in own if not where.labels or node.row.label in where.labels]
        if own:
            return _prefer_definition(own, "alias", reader.languages)
    return None


async def _by_package_name(reader: Reader, name: str, where: Filter) -> Resolution | None:
    """Return what a package of the project exports: `lettre::Message`, where no name has that of the crate."""
    package, _, inner = dotted(name).partition(".")
    if not inner or not await _is_own_package(reader, package):
        return None
    for nodes in (await reader.store.find(inner, Match.SUFFIX, where, CANDIDATES), await deeper(reader, inner, where)):
        public = [node for node in nodes if node.row.exported and not node.row.is_test and node.row.path]
        for labels in (_DEFINED,) if "." in inner else _EXPORTED:
            if own := [node for node in public if node.row.label in labels]:
                return _prefer_definition(own, "alias", reader.languages)
    return None


async def deeper(reader: Reader, name: str, where: Filter) -> list[Node]:
    """Return symbols deeper than their name says: `mpsc.channel` is `sync.mpsc.bounded.channel`, re-exported.

    A package exports no members of its classes: `httpx.get` is none of their methods if a function is called so.
    """
    *owners, last = name.split(".")
    nodes = await reader.store.find(last, Match.SUFFIX, where, MAX_DEEPER) if owners else []

    def holds_in_order(node: Node) -> bool:
        segments = iter(node.row.qualified_name.split("."))
        return all(owner in segments for owner in owners)

    found = [node for node in nodes if node.row.label not in EXTERNAL_LABELS and holds_in_order(node)]
    return [node for node in found if node.row.label != Label.METHOD] or found


async def _by_import_path(reader: Reader, name: str, where: Filter) -> Resolution | None:
    """Return what a path of import with the host of its module means: `example.org/owner/repo/folder.Name`."""
    parts = name.split("/")
    if len(parts) < _PARTS_OF_IMPORT or "." not in parts[0]:
        return None
    for start in range(1, len(parts)):
        if found := await _by_name(reader, "/".join(parts[start:]), where):
            return found
    return None


async def _is_own_package(reader: Reader, name: str) -> bool:
    """Return whether a manifest of the project, or its folder, gives a package this name."""
    names = {name, name.replace("_", "-")}
    if reader.root.name.lower() in {each.lower() for each in names}:
        return True  # a module may be written with a capital where its repository is not
    where = Filter(project=reader.project, labels=(Label.PROJECT,))
    found = [await reader.store.find(each, Match.PREFIX, where, CANDIDATES) for each in names]
    return any(node.row.name in names for nodes in found for node in nodes)


async def _of_parts(reader: Reader, imported: Sequence[Node], holder: str, name: str) -> list[Node]:
    """Return what the modules inside of a package define under a name, where it imports them with all they have.

    `httpx.get` is `httpx._api.get` by `from ._api import *`. The nearest modules decide.
    """
    inside, known = f"{holder}.", set[str]()
    for _ in range(_MAX_BASES):
        parts = {
            node.row.uid: node
            for node in imported
            if node.row.label in HOLDERS
            and f".{inside}" in f".{node.row.qualified_name}."
            and node.row.uid not in known
        }
        if not parts:
            break
        known.update(parts)
        held = await reader.store.edges(list(parts), Direction.OUT, _HOLDS, MAX_IMPORTS)
        found = {edge.node.row.uid: edge.node for edge in held if edge.node.row.name == name}
        if own := [node for node in found.values() if node.row.label not in HOLDERS]:
            return own
        imported = [
            edge.node for edge in await reader.store.edges(list(parts), Direction.OUT, (EdgeType.IMPORTS,), MAX_IMPORTS)
        ]
    return []


async def _by_package(reader: Reader, name: str, where: Filter) -> Resolution | None:
    """Return the external package of that name, also under another name of import or with a major version."""
    if where.labels and Label.EXTERNAL_PACKAGE not in where.labels:
        return None
    packages = replace(where, labels=(Label.EXTERNAL_PACKAGE,))
    nodes = await reader.store.find(f"ext:{name}", Match.EXACT, packages, 1)
    if not nodes:
        similar = await reader.store.find(name, Match.PREFIX, packages, CANDIDATES)
        nodes = [node for node in similar if _MAJOR_VERSION.sub("", node.row.name) == name]
    return Resolution(tuple(nodes), "exact") if nodes else None


async def _by_path(reader: Reader, name: str, where: Filter) -> Resolution | None:
    nodes = await reader.store.find(relative(reader, name), Match.PATH, where, 1)
    return Resolution(tuple(nodes), "path") if nodes else None


def _prefer_definition(
    nodes: Sequence[Node], how: str, languages: LanguageTerms, *, is_qualified: bool = False
) -> Resolution:
    """Prefer the single definition among declarations of one name; any other combination is ambiguous.

    So is the name without the owners that the question does not write, if it writes one (`is_qualified`). A namespace
    that several files make up gives way to a type of its name, and the parts of one type are one symbol.
    """
    nodes = [node for node in nodes if node.row.path] or nodes
    defined = [node for node in nodes if not is_declaration(node, languages)]
    names = {re.sub(r"#\d+$", "", node.row.qualified_name) for node in nodes}
    if len(names) == 1 and len(nodes) > 1 and all(_IN_PARTS.search(node.row.signature) for node in nodes):
        longest = max(nodes, key=lambda node: node.row.end_line - node.row.start_line)
        others = [node for node in nodes if node is not longest]
        return Resolution((longest,), how, notes=(f"the longest of {len(nodes)} parts; others: {_places(others)}",))
    if len(defined) == 1 and (len(names) == 1 or is_qualified):
        return Resolution(tuple(defined), how, declarations=tuple(node for node in nodes if node is not defined[0]))
    return Resolution(tuple(nodes), how)


async def further_definitions(reader: Reader, node: Node, declarations: Sequence[Node] = ()) -> str:
    """Return which other definitions have the qualified name of a node: its overloads, or "".

    `declarations` of it are no further ones. Raises store errors.
    """
    known = {node.row.uid, *(each.row.uid for each in declarations)}
    row = node.row
    base = re.sub(r"#\d+$", "", row.qualified_name)
    if row.label not in (Label.FUNCTION, Label.METHOD) or not row.path:
        return ""
    found = await reader.store.find(base, Match.SUFFIX, Filter(project=node.project), MAX_DEEPER)
    others = [
        each
        for each in found
        if re.sub(r"#\d+$", "", each.row.qualified_name) == base and each.row.uid not in known and each.row.path
    ]
    return f"one of {len(others) + 1} definitions of this name; others: {_places(others)}" if others else ""


def _places(nodes: Sequence[Node]) -> str:
    shown = [f"{node.row.path}:{node.row.line}" for node in nodes[:NEAR]]
    return ", ".join(shown) + (f" and {len(nodes) - NEAR} more" if len(nodes) > NEAR else "")
