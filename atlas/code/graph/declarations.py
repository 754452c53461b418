"""Dependencies as manifests declare them, with what else their files say: read from the graph and the indexed texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import cast

from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex

MAX_DECLARED = 20_000
"""Declarations that are read of a project."""
LISTINGS = 8
NAMES = 16_384
"""Names whose forms are kept: each question compares its words with all packages."""
TIMEOUT = 10.0
_DECLARED = (
    "MATCH (p:Project)-[r:DEPENDS_ON]->(d) RETURN p.uid, p.name, d.uid, d.name, d.kind, d.import_name, r.package,"
    " r.kind, r.group, r.range, r.marker, r.locked, r.lock, r.path, r.line, r.also ORDER BY r.path, r.line, d.uid"
)
_SEPARATORS = lazy_regex(r"[-_.]+")
_MAJOR = lazy_regex(r"[/.]v\d+$")
_LISTS = lazy_regex(r"(?:^|/)(?:Gemfile|gems\.rb)$|\.(?:txt|in)$")
"""Files that list what developers of a package install, beside the manifest of the package."""
_ALSO = lazy_regex(r"(?P<path>.+?):(?P<line>\d+)(?: (?P<kind>[a-z]+))?(?: (?P<range>.*))?")
_GROUP = lazy_regex(r"[A-Za-z_][\w-]*")
_MANIFESTS = lazy_regex(r"(?:^|/)(?:pyproject\.toml|setup\.(?:py|cfg))$|\.gemspec$")


@dataclass(frozen=True, slots=True)
class Declaration:
    """A dependency that a manifest declares."""

    source: str
    """Uid of the project."""
    project: str
    """Name of the project."""
    target: str
    name: str
    """Name of the package, or of the project of the repository."""
    is_inner: bool
    import_name: str
    package: str
    """As declared."""
    kind: str
    group: str
    range: str
    marker: str
    locked: str
    lock: str
    path: str
    line: int
    also: tuple[str, ...] = ()
    section: str = ""
    """The comment above it in a list of requirements: what they are for."""

    @property
    def folder(self) -> str:
        """Folder of the project, "" for the root."""
        folder = self.source.partition(":project:")[2]
        return "" if folder == "." else folder


async def read_declarations(reader: Reader, project: str) -> tuple[Declaration, ...]:
    """Return all declared dependencies by manifest and line."""
    return await reader.cache.get(reader.store, project, "declarations", partial(_read_all, reader, project))


async def _read_all(reader: Reader, project: str) -> tuple[Declaration, ...]:
    rows = (await reader.store.cypher(_DECLARED, {}, MAX_DECLARED, TIMEOUT, project)).rows
    declared = _settled([_declaration(row) for row in rows])
    paths = sorted({each.path for each in declared if each.path.endswith((".txt", ".in"))})
    if not paths:
        return tuple(declared)
    texts = await reader.store.content(project, paths)
    lines = {path: text.decode("utf-8", "replace").split("\n") for path, text in texts.items()}
    return tuple(replace(each, section=_section(lines.get(each.path, []), each.line)) for each in declared)


def in_groups(declared: Sequence[Declaration], groups: Collection[str]) -> tuple[Declaration, ...]:
    """Return what extras or groups declare, also where the same package is declared in several of them."""
    alternatives = (other for each in declared for other in (each, *other_places(each)))
    return tuple(each for each in alternatives if each.group in groups)


@dataclass(frozen=True, slots=True)
class DeclaredNames:
    """The names that a question may mean by what is declared."""

    groups: Mapping[str, str]
    """All extras and groups by their names in lower case."""
    full: Mapping[str, str]
    """Names of packages as declared, by each of their normal names."""
    short: frozenset[str]
    families: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class _Listing:
    """Declarations that are compared by identity: those of one generation are one tuple."""

    declared: Sequence[Declaration]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Listing) and other.declared is self.declared

    def __hash__(self) -> int:
        return id(self.declared)


def names_of(declared: Sequence[Declaration]) -> DeclaredNames:
    """Return the names of a listing, which is not changed afterwards: every question compares its words with them."""
    return _names_of(_Listing(declared))


@lru_cache(maxsize=LISTINGS)
def _names_of(listing: _Listing) -> DeclaredNames:
    declared = listing.declared
    every = (other.group for each in declared for other in (each, *other_places(each)))
    names = ((each.name, each.package, each.import_name) for each in declared)
    outer = [each for each in declared if not each.is_inner]
    return DeclaredNames(
        {group.lower(): group for group in every if group},
        {normal_name(name): own[0] for own in names for name in own if name},
        frozenset(short_name(each.name) for each in outer),
        frozenset(family for each in outer for family in family_names(each)),
    )


def other_places(each: Declaration) -> Iterator[Declaration]:
    """Yield the further places of a declaration, each as one of its own."""
    for other in each.also:
        if (match := _ALSO.fullmatch(other)) is not None:
            group, _, allowed = (match["range"] or "").partition(" ")
            if not _GROUP.fullmatch(group):
                group, allowed = "", match["range"] or ""
            place = (match["path"], int(match["line"]))
            yield replace(
                each, path=place[0], line=place[1], kind=match["kind"] or "", group=group, range=allowed, also=()
            )


@lru_cache(maxsize=NAMES)
def normal_name(name: str) -> str:
    """Return a name as ecosystems compare names: lower case, one kind of separator."""
    return _SEPARATORS.sub("-", name).lower()


@lru_cache(maxsize=NAMES)
def short_name(name: str) -> str:
    """Return the last part of a name: `yaml` of `gopkg.in/yaml.v3`, `gin` of `github.com/gin-gonic/gin`."""
    bare = _MAJOR.sub("", name)
    return normal_name(re.split(r"[/:]", bare)[-1])


def family_names(each: Declaration) -> set[str]:
    """Return names that mean several packages of a publisher: `ktor` of `io.ktor:ktor-server`, `trpc` of `@trpc/x`."""
    name = major_free(each.package or each.name).lower()
    group, colon, artifact = name.partition(":")
    if colon:
        return {group.rpartition(".")[2], artifact.partition("-")[0]}
    scope, slash, _ = name.removeprefix("@").partition("/")
    return {scope} if slash and name.startswith("@") else set()


def major_free(name: str) -> str:
    """Return a name without its major version."""
    return _MAJOR.sub("", name)


def _settled(declared: Sequence[Declaration]) -> list[Declaration]:
    """Return the declarations, those of lists for developers as such where the package has a manifest of its own."""
    declared = [_by_manifest(each) for each in declared]
    own = {(each.source, each.target) for each in declared if _MANIFESTS.search(each.path)}
    sources = {source for source, _ in own}
    return [_for_developers(each) if each.source in sources else each for each in declared]


def _by_manifest(each: Declaration) -> Declaration:
    """Return a declaration with the place in the package's manifest first, where a list for developers repeats it."""
    if not _LISTS.search(each.path):
        return each
    for number, other in enumerate(each.also):
        if (match := _ALSO.fullmatch(other)) is not None and _MANIFESTS.search(match["path"]):
            said = f"{each.path}:{each.line} {each.kind} {each.range}".strip()
            also = (*each.also[:number], said, *each.also[number + 1 :])
            return replace(
                each,
                path=match["path"],
                line=int(match["line"]),
                kind=match["kind"] or each.kind,
                range=match["range"] or "",
                also=also,
            )
    return each


def _for_developers(each: Declaration) -> Declaration:
    """Return a declaration whose places in lists for developers are of that kind: both branches of a condition."""
    places = (_ALSO.fullmatch(other) for other in each.also)
    also = tuple(
        f"{match['path']}:{match['line']} development {match['range'] or ''}".rstrip()
        if match is not None and match["kind"] == "runtime" and _LISTS.search(match["path"])
        else other
        for match, other in zip(places, each.also, strict=True)
    )
    is_listed = each.kind == "runtime" and _LISTS.search(each.path) is not None
    return replace(each, kind="development" if is_listed else each.kind, also=also)


def _section(lines: Sequence[str], line: int) -> str:
    """Return the comment above the lines around a declaration; "" where an empty line is between."""
    for number in range(line - 2, -1, -1):
        text = lines[number].strip() if number < len(lines) else ""
        if not text:
            return ""
        if text.startswith("#"):
            return text.strip("# -=")
    return ""


def _declaration(row: Sequence[object]) -> Declaration:
    source, project, target, name, kind, import_name, package, purpose, *rest = row
    group, allowed, marker, locked, lock, path, line, also = rest
    return Declaration(
        _text(source), _text(project), _text(target), _text(name), kind != "external_package", _text(import_name),
        _text(package), _text(purpose), _text(group), _text(allowed), _text(marker), _text(locked), _text(lock),
        _text(path), line if isinstance(line, int) else 0,
        _texts(also),
    )  # fmt: skip


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(_text, cast("list[object]", value))) if isinstance(value, list) else ()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
