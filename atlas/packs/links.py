"""Packs joined to code: the pack of a dependency's locked version, and what it says about external symbols.

An external symbol is `ext:<dotted name>`; its package is the dependency whose name or import name begins it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.code.tools.search.search_answer import SearchAnswer
from atlas.code.tools.symbol.symbol_answers import ContextAnswer
from atlas.core.invisible import escaped
from atlas.core.model import Filter, Label, Match, Node
from atlas.core.wording import counted
from atlas.packs.documentation.pack.folder import InstalledPack
from atlas.packs.documentation.sources.spec import SCHEMES
from atlas.packs.entities import find_entity, said_of
from atlas.packs.opening import BROKEN, list_packs, version_key

if TYPE_CHECKING:
    from atlas.answers.answer import Answer
    from atlas.code.atlas import TreeReport
    from atlas.core.contracts import Store, TokenCounter
    from atlas.packs.opening import OpenPack
    from atlas.packs.toolset import PackDesk

MAX_SYMBOLS = 2
"""External symbols of an answer about which packs are asked."""
MAX_WORDS = 3
"""Words of a query that are looked up as names of external symbols."""
MAX_LINE = 300
SHARE = 4
"""The lines of packs take at most this part of an answer's budget: one in `SHARE` tokens."""
SECONDS = 5.0
_DEPENDENCIES = (
    "MATCH (p)-[r:DEPENDS_ON]->(d:ExternalPackage) RETURN d.name AS name, d.import_name AS import_name, "
    "r.locked AS locked, r.ecosystem AS ecosystem, r.kind AS kind ORDER BY name, locked"
)


@dataclass(frozen=True, slots=True)
class Dependency:
    """A declared dependency."""

    name: str
    import_name: str
    version: str
    """The locked one, "" if unknown."""
    ecosystem: str
    kind: str


@dataclass(frozen=True, slots=True)
class JoinedPack:
    """The pack of a dependency."""

    dependency: Dependency
    folder: Path
    documents: str
    """The version that it documents."""

    @property
    def is_exact(self) -> bool:
        """Whether it documents the locked version."""
        return self.documents == self.dependency.version


async def dependencies(store: Store, project: str) -> list[Dependency]:
    """Return the dependencies that the project's manifests declare, each name once."""
    table = await store.cypher(_DEPENDENCIES, {}, 5000, SECONDS, project)
    found: dict[str, Dependency] = {}
    for row in table.rows:
        name, import_name, locked, ecosystem, kind = (str(value or "") for value in row)
        if name not in found or (locked and not found[name].version):
            found[name] = Dependency(name, import_name or name, locked, ecosystem, kind)
    return list(found.values())


def pack_of(dependency: Dependency, packs: Sequence[InstalledPack]) -> JoinedPack | None:
    """Return the pack of a dependency: of its version, else of the nearest one; None without any."""
    own = [
        (one.folder, one.manifest.library_version or one.manifest.version)
        for one in packs
        if one.manifest is not None
        and _folded(one.manifest.library or one.manifest.name) == _folded(dependency.name)
        and one.manifest.ecosystem in ("", dependency.ecosystem)
    ]
    if not own:
        return None
    folder, version = min(own, key=lambda one: _distance(one[1], dependency.version))
    return JoinedPack(dependency, folder, version)


async def packs_of_project(store: Store, project: str) -> list[Path]:
    """Return the folders of the packs of the project's dependencies, each in the locked version or the nearest one."""
    packs = list_packs()
    joined = [pack_of(one, packs) for one in await dependencies(store, project)] if packs else []
    return [one.folder for one in joined if one is not None]


async def pack_notes(desk: PackDesk, store: Store, project: str, answer: Answer) -> tuple[str, ...]:
    """Return what packs say about the external symbols of an answer, one line each; none without a pack."""
    names = list(dict.fromkeys(_external(answer)))[:MAX_SYMBOLS]
    packs = list_packs() if names or isinstance(answer, SearchAnswer) else []
    if packs and not names and isinstance(answer, SearchAnswer):
        names = await _named(store, project, answer.query)
    if not packs or not names:
        return ()
    declared = await dependencies(store, project)
    notes: list[str] = []
    for name in names:
        joined = joined_pack(name, declared, packs)
        if joined is None:
            continue
        try:
            pack = await desk.opened(joined.folder)
            entity = await find_entity(pack, name, joined.dependency.import_name)
        except BROKEN as error:
            notes.append(escaped(f"pack {joined.folder.parent.name}: {error}"[:MAX_LINE]))
            continue
        if entity is not None:
            notes.append(_line(name, entity, joined, pack))
    return tuple(notes)


def trees_with_lines(
    report: TreeReport, lines: Sequence[str], counter: TokenCounter, token_budget: int
) -> Iterator[TreeReport]:
    """Yield the report with the lines of others that fit into their share of a budget, then only with their number."""
    left, fitting = token_budget // SHARE, 0
    for line in lines:
        left -= counter.count(f"note: {line}\n")
        fitting += left >= 0
    for shown in dict.fromkeys((fitting, 0)) if lines else ():
        hidden = len(lines) - shown
        said = (f"{counted(hidden, 'line')} from packs or other projects; raise token_budget",) if hidden else ()
        yield replace(report, notes=(*lines[:shown], *report.notes), withheld=said)


def _external(answer: Answer) -> Iterator[str]:
    """Yield the dotted names of the external symbols of an answer, the best first."""
    symbols = []
    if isinstance(answer, ContextAnswer):
        found = (answer.symbol,) if answer.symbol is not None else ()
        symbols = [*found, *answer.lookup.candidates, *answer.lookup.near]
    elif isinstance(answer, SearchAnswer):
        symbols = [hit.symbol for hit in answer.hits[:5]]
    for symbol in symbols:
        if symbol.kind == "external_symbol":
            yield symbol.qualified_name.removeprefix("ext:")


async def _named(store: Store, project: str, query: str) -> list[str]:
    """Return the external symbols that a short query names, however low they rank among the project's own ones."""
    words = query.split()
    where = Filter(project=project, labels=(Label.EXTERNAL_SYMBOL,))
    found: list[str] = []
    for word in words if len(words) <= MAX_WORDS else ():
        near = await store.find(word, Match.SUFFIX, where, 20)
        names = [one.row.qualified_name.removeprefix("ext:") for one in near]
        found += [name for name in names if f".{name}".endswith(f".{word}")]
    return list(dict.fromkeys(found))[:MAX_SYMBOLS]


def joined_pack(name: str, declared: Sequence[Dependency], packs: Sequence[InstalledPack]) -> JoinedPack | None:
    """Return the pack of the dependency that an external symbol belongs to, None without one."""
    own = [one for one in declared if f"{name}.".startswith((f"{one.import_name}.", f"{one.name}."))]
    longest = max(own, key=lambda one: len(one.import_name), default=None)
    return pack_of(longest, packs) if longest is not None else None


def _line(name: str, entity: Node, joined: JoinedPack, pack: OpenPack) -> str:
    said, row = said_of(entity), entity.row
    wanted = joined.dependency.version
    version = joined.documents if joined.is_exact or not wanted else f"{joined.documents}, nearest to locked {wanted}"
    states = [f"{key} {said[key]}" for key in ("since", "deprecated", "removed") if said.get(key)]
    if said.get("origin") == "model":
        states.append("named by a language model")
    if said.get("code"):
        states.append(f"defined at {said['code']}")
    own = row.qualified_name.removeprefix("entity:")
    text = f"{name} (pack {pack.manifest.name} {version}): {row.signature or row.name}. {row.docstring}"
    text = " ".join(text.split())
    text = text if len(text) <= MAX_LINE else f"{text[: MAX_LINE - 1]}…"
    return escaped(f"{text} {'; '.join(states)} [pack_article {own}]".replace("  ", " "))


def _folded(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).casefold()


def _distance(version: str, wanted: str) -> tuple[object, ...]:
    """Return how far a version is from the wanted one: equal, same first numbers, then the newest."""
    if version == wanted:
        return (0,)
    ours, theirs = re.findall(r"\d+", version), re.findall(r"\d+", wanted)
    same = next((at for at, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), 99)
    gap = abs(int(ours[same][:18]) - int(theirs[same][:18])) if same < min(len(ours), len(theirs)) else 0
    newest = tuple(-number for _, number, _ in version_key(version))
    return (1, -same, gap, newest)


def build_command(dependency: Dependency) -> str:
    """Return the command that builds the pack of a dependency."""
    scheme = SCHEMES.get(dependency.ecosystem)
    name = re.sub(r"[^a-z0-9._-]+", "-", dependency.name.casefold()).strip("-.")
    mark = "==" if scheme == "pypi" else "@"
    version = f"{mark}{dependency.version}" if dependency.version else ""
    source = f"{scheme}:{dependency.name}{version}" if scheme else "FOLDER"
    return f"atlas pack build {name} --from {source}"
