"""From what an agent writes as the subject of a note to an anchor with digests."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from atlas.code.graph.targets import group_symbols
from atlas.code.notes.anchors import FILE_LABELS, anchor_to, place_of
from atlas.code.notes.note import Anchor
from atlas.code.reader import Reader
from atlas.code.retrieve.resolve import resolve, written
from atlas.code.retrieve.written_files import relative
from atlas.core.errors import AtlasError, ConfigError, NotFound
from atlas.core.ids import make_uid
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import PROSE_LABELS, Filter, Label, Match, Node

KINDS = ("symbol", "file", "package", "route")
MAX_NEAR = 5
_ROUTE = lazy_regex(r"[A-Z*]{1,20} /\S*")
_REDEFINITION = lazy_regex(r"#\d+$")
MAX_OVERLOADS = 32
"""Definitions of one qualified name among which the one that an anchor means is looked for."""
_FORMS = "Write a symbol (`Cart.total`), a place (`shop/cart.py:12`), file:PATH, package:NAME or route:METHOD /PATH."


async def resolve_anchor(reader: Reader, text: str) -> Anchor:
    """Return the anchor of what is written in `about`, with the digests of now and the commit that is checked out.

    `text` is the name of a symbol in any form that `resolve` reads, `path:line`, a path, `file:PATH`, `package:NAME` or
    `route:METHOD /PATH`. Raises NotFound with similar names, ConfigError for a name that several symbols have or for a
    note, and store errors.
    """
    kind, name = _split(text)
    if not name:
        raise ConfigError("`about` names nothing", _FORMS)
    match kind:
        case "route":
            if not _ROUTE.fullmatch(name):
                raise ConfigError(f"`{name[:100]}` is not a route", "Write it as `route:GET /orders/{id}`.")
            return Anchor("route", name)
        case "package":
            return anchor_to((await _package(reader, name)).row)
        case "file":
            node = await _file(reader, relative(reader, name))
        case _:
            node = await _symbol(reader, name)
    return anchor_to(node.row, await head_commit(reader))


async def head_commit(reader: Reader) -> str:
    """Return the commit that is checked out, 40 hex digits; "" without a history that can be read."""
    if reader.history is None:
        return ""
    try:
        return (await reader.history.diff("HEAD", "HEAD")).old.id
    except AtlasError:
        return ""


def _split(text: str) -> tuple[str, str]:
    """Return kind and name; the kind is "" where none is written."""
    kind, colon, rest = text.strip().partition(":")
    return (kind, written(rest)) if colon and kind in KINDS and not rest.startswith(":") else ("", written(text))


async def _symbol(reader: Reader, name: str) -> Node:
    where = Filter(project=reader.project)
    found = await resolve(reader, name, where)
    if found.how == "path":
        return await _file(reader, found.nodes[0].row.path)
    nodes = [node for node in found.nodes if node.row.label not in PROSE_LABELS]
    if found.nodes and not nodes:
        raise ConfigError(f"`{name}` is a note", "A note is about code: relate it to another note instead.")
    own = await _with_overloads(reader, [node for node in nodes if not node.row.is_test] or nodes, name)
    targets = group_symbols(own, reader.languages.constructors)
    if not targets:
        near = [node.row.qualified_name for node in found.near if node.row.label not in PROSE_LABELS][:MAX_NEAR]
        raise NotFound(f"no symbol or file `{name}` in the index", f"{_near(near)}{_FORMS}", near)
    if len(targets) > 1:
        listed = [f"{each.node.row.qualified_name} ({place_of(each.node.row)})" for each in targets[:MAX_NEAR]]
        more = f" and {len(targets) - len(listed)} more" if len(targets) > len(listed) else ""
        raise ConfigError(f"`{name}` is ambiguous", f"Write one of: {', '.join(listed)}{more}.")
    return targets[0].node


async def _with_overloads(reader: Reader, nodes: Sequence[Node], name: str) -> list[Node]:
    """Return the nodes with the later definitions of a single one: a qualified name is also that of its overloads.

    Without them an anchor would keep the digests of the first overload, which has no body that could change.
    """
    if len(nodes) != 1 or _REDEFINITION.search(name):
        return list(nodes)
    first = _REDEFINITION.sub("", nodes[0].row.uid)
    uids = [first, *(f"{first}#{number}" for number in range(2, MAX_OVERLOADS + 1))]
    return sorted(await reader.store.symbols(uids), key=lambda node: node.row.start_line) or list(nodes)


async def _file(reader: Reader, path: str) -> Node:
    for node in await reader.store.symbols([make_uid(reader.project, path)]):
        if node.row.label in FILE_LABELS:
            return node
    paths = await reader.store.paths(reader.project)
    near = _near_paths(path, paths)
    reason = "is a note" if path in paths else "is not an indexed file"
    raise NotFound(f"`{path}` {reason}", f"{_near(near)}`atlas status --skipped` lists files that are left out.", near)


async def _package(reader: Reader, name: str) -> Node:
    """Return an imported package, or a package of the project."""
    uids = [make_uid(reader.project, f"ext:{name}"), make_uid(reader.project, name)]
    for node in await reader.store.symbols(uids):
        if node.row.label in (Label.EXTERNAL_PACKAGE, Label.PACKAGE):
            return node
    where = Filter(project=reader.project, labels=(Label.EXTERNAL_PACKAGE, Label.PACKAGE))
    similar = await reader.store.find(name, Match.NEAR, where, MAX_NEAR)
    near = [node.row.qualified_name.removeprefix("ext:") for node in similar]
    raise NotFound(f"nothing here imports a package `{name}`", f"{_near(near)}{_FORMS}", near)


def _near_paths(path: str, paths: Sequence[str]) -> list[str]:
    """Return the paths of files of that name, or of similar names."""
    name = path.rpartition("/")[2]
    same = [each for each in paths if each.rpartition("/")[2] == name]
    if same or len(paths) > 10_000:
        return same[:MAX_NEAR]
    return difflib.get_close_matches(path[:200], paths, MAX_NEAR, 0.7)


def _near(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"Similar: {listed}. " if listed else ""
