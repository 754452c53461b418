"""The tools that read memory: recall over notes and short-term entries, and what a session begins with."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from atlas.answers.items import Action, Item, ItemGroup, ItemsAnswer, ItemsBody
from atlas.code.atlas import Atlas
from atlas.code.notes.anchors import anchor_states
from atlas.code.notes.note_lines import plain_name
from atlas.core.errors import AtlasError, NotFound
from atlas.core.ids import make_uid
from atlas.core.invisible import escaped
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, Edge, EdgeType, Label, Node
from atlas.core.short_term import ShortTermEntry
from atlas.core.wording import counted
from atlas.knowledge.notes.checks import check_line, check_question
from atlas.knowledge.retrieval.hits import NoteFilter, NoteHit
from atlas.knowledge.retrieval.mentions import hierarchy
from atlas.knowledge.retrieval.retrieval import MAX_PARTS, find_notes
from atlas.knowledge.retrieval.short_term import ShortTermHit, emotional_neighbours, merge_short_term, normalised
from atlas.knowledge.tools.claim_queries import MAX_REPEATED
from atlas.knowledge.tools.note_base import Knowledge, find_entity, properties_of
from atlas.knowledge.tools.open_notes import NOT_READ, Opened, opened_bases, project_atlas
from atlas.knowledge.tools.relations import relation_item
from atlas.knowledge.tools.times import moment
from atlas.knowledge.tools.units import answer, comparable, no_entity, quoted_text, score_text, shown_text, unit_item

RECALL_BUDGET = 3000
REFRESH_BUDGET = 1200
MAX_GREETING = 1000
"""Characters of a greeting that count."""
RECENT = 8
"""Short-term entries that a session begins with."""
IDENTITY = 12
"""Observations about the user that a session begins with."""
ABOUT = 10
"""Memories about the greeting."""
RELATED = 3
RELATED_ENTITIES = 3
"""Entities of the best notes whose relations are shown."""
RELATIONS_EACH = 10
RECALLED = (Label.OBSERVATION, Label.ENTITY, Label.CLAIM, Label.DECISION, Label.ADR)
REMEMBERED = (Label.ENTITY, Label.OBSERVATION, Label.CLAIM, Label.DECISION)
"""What a session is told the numbers of when it begins with nothing else; ADRs are documents."""
EMOTION_LEAST = 0.5
"""Cosine of emotions from which an entry is named as similar."""

_NOT_TEXT = lazy_regex("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class _FolderHits:
    """Hits of a question with the folder that each note is from."""

    hits: tuple[NoteHit, ...]
    bases: dict[str, Opened]
    """By uid."""


async def recall(
    knowledge: Knowledge,
    *,
    query: str,
    limit: int = 10,
    include_shortterm: bool = True,
    since: str = "",
    entity: str = "",
    token_budget: int = RECALL_BUDGET,
) -> ItemsAnswer:
    """Return notes and short-term entries that fit a question best, in one ranking.

    Raises NotFound for an unknown entity, ConfigError for a time that cannot be read.
    """
    text, now = check_question("query", query), time.time()
    notes: list[str] = []
    opened = await opened_bases(knowledge, notes)
    start = moment(since) if since.strip() else ""
    places = await _entities_named(knowledge, check_line("entity", entity)) if entity.strip() else None
    if places == {}:
        raise await no_entity(knowledge, entity.strip(), notes)
    found = await _search(opened, text, start, places, limit)
    entries = await _entries(knowledge, notes) if include_shortterm and places is None else []
    if start:
        after = datetime.fromisoformat(start).timestamp()
        entries = [entry for entry in entries if entry.created >= after]
    meaning, emotion = await _vectors(knowledge, text)
    ranked = merge_short_term(meaning, emotion, entries, found.hits, limit, now)
    items = await _items(found, ranked, now)
    title = counted(len(items), "memory") if items else "nothing is remembered about this"
    groups = (ItemGroup.of("memories", items), ItemGroup.of("relations", await _relations(found)))
    body = ItemsBody("ok" if items else "none", title, groups, _next(items))
    return await answer(knowledge, "recall", body, token_budget, notes, project_atlas(opened))


async def refresh(knowledge: Knowledge, *, greeting: str = "", token_budget: int = REFRESH_BUDGET) -> ItemsAnswer:
    """Return who the user is, recent short-term entries, and what the greeting is about, without repeats."""
    # what a user says first must not keep a session from beginning
    cut = _NOT_TEXT.sub(" ", greeting).strip()[:MAX_GREETING].strip()
    text, now = check_question("greeting", cut, MAX_GREETING) if cut else "", time.time()
    notes = [f"the greeting was cut at {MAX_GREETING} characters"] if len(greeting.strip()) > MAX_GREETING else []
    opened = await opened_bases(knowledge, notes)
    entries = await _entries(knowledge, notes)
    seen: set[str] = set()
    identity = _new(await _identity(knowledge, opened, notes), seen)
    recent = _new([entry_item(entry, now) for entry in entries[:RECENT]], seen)
    about: list[Item] = []
    if text:
        # what is shown already takes no place
        most = ABOUT + len(seen)
        found = await _search(opened, text, "", None, most)
        meaning, emotion = await _vectors(knowledge, text)
        ranked = merge_short_term(meaning, emotion, entries, found.hits, most, now)
        about = _new(await _items(found, ranked, now), seen)[:ABOUT]
    groups = (
        ItemGroup.of("identity", identity),
        ItemGroup.of("recent", recent),
        ItemGroup.of("about", about),
    )
    count = len(identity) + len(recent) + len(about)
    title = counted(count, "memory")
    actions = (Action("recall", {"query": text[:MAX_REPEATED] or "what matters now"}, "more of what is remembered"),)
    if not count:
        title, actions = await _held(opened, greeted=bool(text))
    body = ItemsBody("ok" if count else "none", title, groups, actions, in_turn=True)
    return await answer(knowledge, "refresh", body, token_budget, notes, project_atlas(opened))


async def _held(opened: Sequence[Opened], *, greeted: bool) -> tuple[str, tuple[Action, ...]]:
    """Return the title of a refresh without an item, and the calls that list what is remembered nevertheless."""
    counts: Counter[Label] = Counter()
    for one in opened:
        for stats in await one.atlas.reader.store.stats(one.base.project):
            counts.update({label: stats.nodes.get(label, 0) for label in REMEMBERED})
    held = [counted(counts[label], label.lower()) for label in REMEMBERED if counts[label]]
    if not held:
        return "nothing is remembered yet", ()
    actions: list[Action] = []
    if counts[Label.ENTITY]:
        actions.append(Action("list_entities", {}, "what is remembered"))
    if counts[Label.CLAIM] or counts[Label.DECISION]:
        actions.append(Action("list_propositions", {}, "claims and decisions"))
    what = "nothing recent, and nothing about the greeting" if greeted else "nothing recent"
    return f"{what}; remembered: {', '.join(held)}", tuple(actions)


async def related_entries(
    knowledge: Knowledge, entries: Sequence[ShortTermEntry], entry: ShortTermEntry, notes: list[str]
) -> tuple[list[ItemGroup], Atlas | None]:
    """Return memories that are related to a new entry, by meaning and by emotion, and the project's index."""
    opened = await opened_bases(knowledge, notes)
    found = await _search(opened, entry.content, "", None, RELATED)
    ranked = merge_short_term(entry.meaning, b"", entries, found.hits, RELATED, entry.created)
    felt = [hit for hit in emotional_neighbours(entries, entry.emotion, RELATED) if hit.score >= EMOTION_LEAST]
    reasons = {hit.entry.id: hit.why for hit in felt}
    both = [
        replace(hit, why=(*hit.why, *reasons.get(hit.entry.id, ()))) if isinstance(hit, ShortTermHit) else hit
        for hit in ranked
    ]
    by_meaning = await _items(found, both, entry.created)
    shown = {item.data["id"] for item in by_meaning}
    by_emotion = [_hit_item(hit, entry.created) for hit in felt if hit.entry.id not in shown]
    groups = [ItemGroup.of("related", by_meaning), ItemGroup.of("same_emotion", by_emotion)]
    return groups, project_atlas(opened)


def entry_item(entry: ShortTermEntry, now: float, score: float | None = None, why: Sequence[str] = ()) -> Item:
    """Return a short-term entry as an item: quoted, with its client, age, and the time that is left."""
    parts = [
        f"short-term {quoted_text(entry.content)} {escaped(entry.id)}",
        f"by {escaped(entry.client)}" if entry.client else "",
        f"{_span(now - entry.created)} old, {_span(entry.expires - now)} left",
    ]
    line = ", ".join(filter(None, parts))
    if score is not None:
        line = f"{line}; {score_text(score, why)}"
    data: dict[str, Any] = {
        "id": escaped(entry.id),
        "kind": "short-term",
        "text": shown_text(entry.content),
        "created": _written(entry.created),
        "expires": _written(entry.expires),
    }
    optional = {
        "client": escaped(entry.client),
        "score": None if score is None else round(score, 4),
        "why": list(why),
    }
    return Item(line, {**data, **{name: value for name, value in optional.items() if value not in ("", None, [])}})


async def _entities_named(knowledge: Knowledge, name: str) -> dict[str, str]:
    """Return the ids of the entities of a name, by project: the user's own and the project's may both have one."""
    found: dict[str, str] = {}
    for base in knowledge.bases:
        with suppress(NotFound):
            if (place := await find_entity(replace(knowledge, bases=(base,)), name)) is not None:
                found[base.project] = place.note_id
    return found


async def _search(
    opened: Sequence[Opened], text: str, since: str, places: Mapping[str, str] | None, limit: int
) -> _FolderHits:
    """Return the best notes of all folders, or of entities, whose ids `places` holds by project."""
    hits: list[NoteHit] = []
    bases: dict[str, Opened] = {}
    for one in opened:
        if places is not None and one.base.project not in places:
            continue
        reader, entity = one.atlas.reader, make_uid(one.base.project, places[one.base.project]) if places else ""
        labels = (Label.OBSERVATION,) if entity else RECALLED
        parts = [node.row.uid for node, _ in await hierarchy(reader, entity)] if entity else []
        every: list[NoteHit] = []
        for uid in (entity, *parts[:MAX_PARTS]):
            every += await find_notes(reader, text, NoteFilter(labels=labels, since=since, entity=uid), limit)
        found = comparable(sorted(every, key=lambda hit: -hit.score))
        hits += found
        bases |= {hit.node.row.uid: one for hit in found}
    hits.sort(key=lambda hit: -hit.score)
    return _FolderHits(tuple(hits[:limit]), bases)


async def _items(found: _FolderHits, ranked: Sequence[NoteHit | ShortTermHit], now: float) -> list[Item]:
    states: dict[str, Any] = {}
    names: dict[str, str] = {}
    for one in {id(each): each for each in found.bases.values()}.values():
        uids = [hit.node.row.uid for hit in found.hits if found.bases[hit.node.row.uid] is one]
        states |= await anchor_states(one.atlas.reader, uids)
        names |= await _entity_names(one, found.hits)
    items: list[Item] = []
    for hit in ranked:
        if isinstance(hit, ShortTermHit):
            items.append(_hit_item(hit, now))
            continue
        row = hit.node.row
        entity = names.get(row.uid, "")
        more: dict[str, Any] = {"entity": entity} if entity else {}
        item = unit_item(hit.node, states.get(row.uid, ()), score=hit.score, why=hit.why, **more)
        when = str(properties_of(hit.node).get("created", ""))[:10]
        about = ", ".join(filter(None, (f"about {plain_name(entity)}" if entity else "", plain_name(when))))
        items.append(Item(f"{item.line}; {about}" if about else item.line, item.data))
    return items


async def _entity_names(one: Opened, hits: Sequence[NoteHit]) -> dict[str, str]:
    """Return the name of each observation's entity, by uid of the observation."""
    uids = [hit.node.row.uid for hit in hits if hit.node.row.label == Label.OBSERVATION]
    edges: list[Edge] = []
    if uids:
        edges = await one.atlas.reader.store.edges(uids, Direction.IN, [EdgeType.HAS_OBSERVATION])
    return {edge.row.target: shown_text(edge.node.row.name, 80) for edge in edges}


async def _relations(found: _FolderHits) -> list[Item]:
    """Return the relations of the entities that the best notes are about, each once."""
    items: dict[str, Item] = {}
    for one in {id(each): each for each in found.bases.values()}.values():
        store = one.atlas.reader.store
        nodes = [hit.node for hit in found.hits if found.bases[hit.node.row.uid] is one]
        observed = [node.row.uid for node in nodes if node.row.label == Label.OBSERVATION]
        owners = await store.edges(observed, Direction.IN, [EdgeType.HAS_OBSERVATION]) if observed else []
        entity = {edge.row.target: edge.node for edge in owners}
        about = [entity.get(node.row.uid, node) for node in nodes]
        chosen = {node.row.uid: node for node in about if node.row.label == Label.ENTITY}
        first = dict(list(chosen.items())[:RELATED_ENTITIES])
        for direction in (Direction.OUT, Direction.IN):
            for edge in await store.edges(list(first), direction, [EdgeType.RELATES], each=RELATIONS_EACH):
                own = first[edge.row.source if direction is Direction.OUT else edge.row.target]
                item = relation_item(edge)
                name = shown_text(own.row.name, 80)
                key = f"{edge.row.source} {edge.row.target} {item.data['type']}"
                items.setdefault(key, Item(f"{plain_name(name)} {item.line}", {**item.data, "entity": name}))
    return list(items.values())


def _hit_item(hit: ShortTermHit, now: float) -> Item:
    return entry_item(hit.entry, now, hit.score, hit.why)


async def _identity(knowledge: Knowledge, opened: Sequence[Opened], notes: list[str]) -> list[Item]:
    """Return the entity that describes the user, with its newest observations, from the user's own notes only.

    A file of a project may call an entity after the user, and says then what it likes.
    """
    if not knowledge.identity:
        return []
    name = shown_text(knowledge.identity, 80)
    ids = await _entities_named(knowledge, knowledge.identity)
    one = next((each for each in opened if each.base.is_personal and each.base.project in ids), None)
    if knowledge.project.project in ids:
        notes.append(f"files of the project describe an entity {name}: that is not the user's own memory")
    if one is None:
        hint = "remember with personal = true creates it"
        notes.append(f"memory.identity names no entity of the user's own notes: {name}; {hint}")
        return []
    store, uid = one.atlas.reader.store, make_uid(one.base.project, ids[one.base.project])
    nodes = await store.symbols([uid])
    edges = await store.edges([uid], Direction.OUT, [EdgeType.HAS_OBSERVATION], limit=10_000)
    newest = sorted((edge.node for edge in edges), key=_created, reverse=True)[:IDENTITY]
    return [unit_item(node) for node in (*nodes, *newest)]


def _created(node: Node) -> str:
    return str(properties_of(node).get("created", ""))


def _new(items: Sequence[Item], seen: set[str]) -> list[Item]:
    """Return the items whose text was not shown yet."""
    found: list[Item] = []
    for item in items:
        text = normalised(item.data["text"])
        if text not in seen:
            seen.add(text)
            found.append(item)
    return found


async def _entries(knowledge: Knowledge, notes: list[str]) -> list[ShortTermEntry]:
    """Return the short-term entries; a failure becomes a note."""
    try:
        return await (await knowledge.short_term()).entries()
    except AtlasError as error:
        notes.append(f"{NOT_READ}short-term memory: {error.message}")
        return []


async def _vectors(knowledge: Knowledge, text: str) -> tuple[bytes, bytes]:
    meaning = await knowledge.prose.embed_query(text) if knowledge.prose is not None else b""
    return meaning, knowledge.emotion(text)


def _next(items: Sequence[Item]) -> tuple[Action, ...]:
    entity = next((item.data["entity"] for item in items if item.data.get("entity")), "")
    own = [Action("get_entity", {"entity": entity}, "all that is known about it")] if entity else []
    unit = next((item.data["id"] for item in items if item.data["kind"] in ("claim", "decision", "ADR")), "")
    return (*own, *([Action("get_unit", {"id": unit}, "its relations")] if unit else []))


def _span(seconds: float) -> str:
    hours = max(seconds, 0.0) / 3600
    return f"{hours / 24:.0f} d" if hours >= 48 else f"{hours:.0f} h" if hours >= 1 else f"{hours * 60:.0f} min"


def _written(moment_: float) -> str:
    return datetime.fromtimestamp(moment_, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
