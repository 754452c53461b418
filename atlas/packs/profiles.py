"""Questions to opened packs: profiles with a pack's own overrides, articles by name, differences between two packs."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import cast

from atlas.core.errors import ConfigError, NotFound
from atlas.core.model import Filter, Label, Match, Node
from atlas.packs.build import article_digests
from atlas.packs.documentation.pack.strict_json import load_json
from atlas.packs.entities import find_entity, said_of
from atlas.packs.opening import OpenPack
from atlas.packs.questions.values import PROFILES, QuestionOptions

MAX_LISTED = 50_000
MAX_ENTITIES, MAX_BYTES = 5_000, 1 << 30
MAX_NEAR = 5
"""Articles that an error names."""
MOST = {"limit": 50, "max_tokens": 20_000, "model_queries": 5, "sections_per_article": 50}
"""Largest numbers of a pack's settings, which may be a stranger's."""
MAX_NOTES = 5
_OVERRIDES = "pipeline"
"""Key of `kg_config.json`: an object with values for fields of `QuestionOptions`."""


@dataclass(frozen=True, slots=True)
class ArticleText:
    """An article as a person reads it."""

    key: str
    title: str
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class PackDifference:
    """What differs between two packs; keys of articles, names of entities and facts."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    entities_added: tuple[str, ...]
    entities_removed: tuple[str, ...]
    facts_added: tuple[str, ...]
    facts_removed: tuple[str, ...]


def profile_options(pack: OpenPack, profile: str) -> QuestionOptions:
    """Return the switches of a profile with the overrides of the pack. Raises ConfigError for an unknown profile."""
    if profile not in PROFILES:
        raise ConfigError(f"unknown profile {profile!r}", f"Profiles: {', '.join(PROFILES)}.")
    options = PROFILES[profile]
    if profile == "baseline":
        return options
    values, _ = _overrides(pack.reader.settings, options)
    return replace(options, **values)


def override_notes(pack: OpenPack) -> tuple[str, ...]:
    """Return what is wrong with the settings of a pack; what is wrong does not count."""
    return _overrides(pack.reader.settings, QuestionOptions())[1]


def _overrides(settings: str, options: QuestionOptions) -> tuple[dict[str, object], tuple[str, ...]]:
    try:
        raw = load_json(settings or "{}")
    except ValueError:
        raw = None
    if not isinstance(raw, dict):
        return {}, ("kg_config.json is no JSON object: it is ignored",)
    own = cast("dict[str, object]", raw).get(_OVERRIDES, {})
    if not isinstance(own, dict):
        return {}, (f"{_OVERRIDES} of kg_config.json is no object: it is ignored",)
    known = {one.name: getattr(options, one.name) for one in fields(options) if one.name != "name"}
    values: dict[str, object] = {}
    notes: list[str] = []
    for name, value in cast("dict[str, object]", own).items():
        if name not in known:
            notes.append(f"kg_config.json: there is no stage {name[:50]!r}: {', '.join(sorted(known))}")
        elif type(value) is not type(known[name]):
            notes.append(f"kg_config.json: {name} must be of the type {type(known[name]).__name__}: it is ignored")
        elif name in MOST and not 0 <= cast("int", value) <= MOST[name]:
            notes.append(f"kg_config.json: {name} must be at most {MOST[name]:,}: it is ignored")
        else:
            values[name] = value
    return values, tuple(notes[:MAX_NOTES])


async def find_article(pack: OpenPack, name: str) -> ArticleText:
    """Return an article by key, title or URL, or what describes an API symbol. Raises NotFound with similar names."""
    where = Filter(project=pack.manifest.name, labels=("Article",))
    section = await _section(pack, name) if "#" in name else None
    if section is not None:
        return await _part(pack, section, section.row.start_byte, section.row.end_byte)
    node = await _article(pack, name, where)
    entity = await find_entity(pack, name, pack.manifest.library) if node is None else None
    if entity is not None:
        return await _symbol(pack, entity)
    if node is None:
        hint = "search_pack finds sections by words"
        near = await _near_articles(pack, name, where)
        raise NotFound(f"the pack {pack.manifest.title} has no article {name!r}", hint, near)
    return replace(await _part(pack, node, 0, MAX_BYTES), key=node.row.path)


async def _near_articles(pack: OpenPack, name: str, where: Filter) -> list[str]:
    """Return the keys of articles that are called almost so, that begin with the name, or whose file has it as stem."""
    found = await pack.store.find(name, Match.NEAR, where, MAX_NEAR)
    found += await pack.store.find(name, Match.PREFIX, where, MAX_NEAR)
    query = (
        "MATCH (a:Article) WHERE toLower(a.path) STARTS WITH $stem OR toLower(a.path) CONTAINS $tail "
        "RETURN a.path ORDER BY a.path"
    )
    stem = f"{name.casefold()}."
    table = await pack.store.cypher(query, {"stem": stem, "tail": f"/{stem}"}, MAX_NEAR, 10.0)
    return list(dict.fromkeys((*(one.row.path for one in found), *(str(row[0]) for row in table.rows))))[:MAX_NEAR]


async def _section(pack: OpenPack, name: str) -> Node | None:
    found = await pack.store.symbols([f"{pack.manifest.name}:{name}"])
    return found[0] if found and found[0].row.label == Label.SECTION else None


async def _part(pack: OpenPack, node: Node, start: int, end: int, url: str = "") -> ArticleText:
    """Return some bytes of the article that has a node."""
    row = node.row
    data = (await pack.store.content(pack.manifest.name, [row.path])).get(row.path, b"")
    text = data[start:end].decode("utf8", "replace").strip()
    return ArticleText(row.qualified_name, row.name, url or str(said_of(node).get("url", "")), text)


async def _symbol(pack: OpenPack, entity: Node) -> ArticleText:
    """Return what describes a symbol: its section, or of a section about several its signature and what follows it."""
    row = entity.row
    section = await _section(pack, str(said_of(entity).get("section", "")).removeprefix(f"{pack.manifest.name}:"))
    start, end = row.start_byte, section.row.end_byte if section is not None else row.end_byte
    if section is not None and row.start_byte == row.end_byte:
        start = section.row.start_byte
    own = f"{row.qualified_name}."
    where = Filter(project=pack.manifest.name, labels=(Label.ENTITY,))
    for other in await pack.store.find(row.path, Match.PATH, where, MAX_ENTITIES):
        if start < other.row.start_byte < end and other.row.start_byte < other.row.end_byte:
            end = end if other.row.qualified_name.startswith(own) else other.row.start_byte
    part = await _part(pack, entity, start, end, str(said_of(section).get("url", "")) if section is not None else "")
    return replace(
        part, key=row.qualified_name.removeprefix("entity:"), title=row.qualified_name.removeprefix("entity:")
    )


async def difference(old: OpenPack, new: OpenPack) -> PackDifference:
    """Return the articles, entities and facts that differ between two packs."""
    before, after = await article_digests(old), await article_digests(new)
    entities = await _names(old, "Entity"), await _names(new, "Entity")
    facts = await _names(old, "Fact"), await _names(new, "Fact")
    return PackDifference(
        added=tuple(sorted(after.keys() - before.keys())),
        changed=tuple(sorted(key for key in after.keys() & before.keys() if after[key] != before[key])),
        removed=tuple(sorted(before.keys() - after.keys())),
        entities_added=tuple(sorted(entities[1] - entities[0])),
        entities_removed=tuple(sorted(entities[0] - entities[1])),
        facts_added=tuple(sorted(facts[1] - facts[0])),
        facts_removed=tuple(sorted(facts[0] - facts[1])),
    )


async def _article(pack: OpenPack, name: str, where: Filter) -> Node | None:
    exact = await pack.store.find(name, Match.EXACT, where, 1)
    if exact:
        return exact[0]
    found = await pack.store.find(name, Match.PREFIX, where, 20)
    same = [one for one in found if one.row.name.casefold() == name.casefold()]
    if same:
        return same[0]
    query = "MATCH (a:Article) WHERE a.url = $name OR a.path ENDS WITH $tail RETURN a.uid ORDER BY a.uid LIMIT 1"
    rows = await pack.store.cypher(query, {"name": name, "tail": f"/{name}"}, 1, 10.0)
    nodes = await pack.store.symbols([str(row[0]) for row in rows.rows])
    return nodes[0] if nodes else None


async def _names(pack: OpenPack, label: str) -> set[str]:
    """Return what the nodes of a label say: entities by name, facts by kind, subject, value and sentence."""
    field = "a.qualified_name" if label == "Entity" else "a.name + ': ' + a.docstring"
    table = await pack.store.cypher(f"MATCH (a:{label}) RETURN {field} AS said", {}, MAX_LISTED, 30.0)
    return {str(row[0]).removeprefix("entity:") for row in table.rows}
