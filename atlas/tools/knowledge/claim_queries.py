"""The tools that read claims and decisions: search, lineage, contradictions, lists and single units."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.model import Direction, Edge, EdgeType, Label, Node
from atlas.notes.checks import check_question, check_share, check_status
from atlas.notes.ids import is_id
from atlas.search.notes.anchors import anchor_states
from atlas.search.notes.hits import NoteFilter, NoteHit
from atlas.search.notes.lineage import Chain, find_lineage
from atlas.search.notes.retrieval import clashing_notes, concept_notes, find_notes
from atlas.tools.answers import KnowledgeAnswer
from atlas.tools.knowledge.body import Action, Item, ItemGroup, NoteBody
from atlas.tools.knowledge.note_base import UNIT_LABELS, Knowledge
from atlas.tools.knowledge.opened import Opened, opened_bases, project_atlas
from atlas.tools.knowledge.relations import chain_item, relation_item
from atlas.tools.knowledge.relatives import clash_items
from atlas.tools.knowledge.units import answer, comparable, hit_items, unit_item
from atlas.tools.knowledge.whole_unit import UNIT_BUDGET, find_unit
from atlas.wording import counted

SEARCH_BUDGET = 1500
WEAK = 0.5
"""Match of a concept below which an end point of a lineage is called weak."""
CANDIDATES = 3
"""Units that are tried for each end of a lineage."""
MAX_IMPLIED = 200
STATED = (EdgeType.REFUTES, EdgeType.CONTRADICTS)
SEARCHED = (*UNIT_LABELS, Label.ADR)
COMMITS = 5
MAX_REPEATED = 500
"""Characters of a question that a proposed call repeats."""


async def semantic_search(
    knowledge: Knowledge,
    *,
    query: str,
    limit: int = 10,
    min_confidence: float = 0.0,
    status: str = "",
    token_budget: int = SEARCH_BUDGET,
) -> KnowledgeAnswer:
    """Return the claims and decisions that fit a query best. Retracted ones only if asked for by `status`."""
    text = check_question("query", query)
    statuses = (check_status(status),) if status else ()
    where = NoteFilter(labels=SEARCHED, min_confidence=check_share("min_confidence", min_confidence), statuses=statuses)
    notes: list[str] = []
    opened = await opened_bases(knowledge, notes)
    found: list[tuple[NoteHit, Item]] = []
    for one in opened:
        hits = comparable(await find_notes(one.atlas.reader, text, where, limit))
        found += zip(hits, await hit_items(one.base, one.atlas.reader, hits), strict=True)
    found.sort(key=lambda pair: -pair[0].score)
    items = [item for _, item in found[:limit]]
    actions = [Action("get_unit", {"id": items[0].data["id"]}, "its relations and what it is about")] if items else []
    title = counted(len(items), "unit") if items else "no unit is about this"
    if not items and len(text) <= MAX_REPEATED:
        actions = [Action("ingest_hypothesis", {"hypothesis": text}, "store it as a claim")]
    body = NoteBody("ok" if items else "none", title, (ItemGroup.of("units", items),), tuple(actions))
    return await answer(knowledge, "semantic_search", body, token_budget, notes, project_atlas(opened))


async def find_scientific_lineage(
    knowledge: Knowledge,
    *,
    start_concept: str,
    end_concept: str,
    max_paths: int = 3,
    token_budget: int = UNIT_BUDGET,
) -> KnowledgeAnswer:
    """Return the shortest chains of relations between the units that fit two concepts best."""
    start, end = check_question("start_concept", start_concept), check_question("end_concept", end_concept)
    notes: list[str] = []
    opened = await opened_bases(knowledge, notes)
    best: tuple[Opened, NoteHit, NoteHit] | None = None
    for one in opened:
        reader = one.atlas.reader
        starts = await concept_notes(reader, start, CANDIDATES)
        ends = await concept_notes(reader, end, CANDIDATES)
        for first, last in _pairs(starts, ends):
            best = best or (one, first, last)
            lineage = await find_lineage(reader.store, first.node.row.uid, last.node.row.uid, max_paths)
            if not lineage.is_complete:
                notes.append("the search reached a limit: there may be further paths")
            if lineage.chains:
                body = await _lineage_body(one, first, last, lineage.chains)
                return await answer(
                    knowledge, "find_scientific_lineage", body, token_budget, notes, project_atlas(opened)
                )
    groups: tuple[ItemGroup, ...] = ()
    title = "no unit is about one of these"
    actions: tuple[Action, ...] = (Action("semantic_search", {"query": start[:MAX_REPEATED]}, "which units there are"),)
    if best is not None:
        one, first, last = best
        groups = (ItemGroup.of("end_points", await _end_points(one, first, last)),)
        title = "no path connects them"
        ids = {"from": first.node.row.qualified_name, "to": last.node.row.qualified_name}
        actions = (
            Action("connect_propositions", {**ids, "relation": "extends"}, "if they are related, or another relation"),
        )
    body = NoteBody("none", title, groups, actions)
    return await answer(knowledge, "find_scientific_lineage", body, token_budget, notes, project_atlas(opened))


async def find_contradictions(knowledge: Knowledge, *, claim: str, token_budget: int = UNIT_BUDGET) -> KnowledgeAnswer:
    """Return what contradicts a unit or a text: stated, inherited and possible contradictions with their evidence."""
    wanted = check_question("claim", claim)
    notes: list[str] = []
    opened = await opened_bases(knowledge, notes)
    stated: list[Item] = []
    inherited: list[Item] = []
    possible: list[Item] = []
    unit = await find_unit(opened, wanted) if is_id(wanted) else None
    text = unit[1].row.docstring if unit is not None else wanted
    if unit is not None:
        one, node = unit
        stated = await _stated(one, [node.row.uid])
        inherited = await _inherited(one, node.row.uid)
    own = unit[1].row.uid if unit is not None else ""
    known = {item.data["id"] for item in (*stated, *inherited)}
    for one in opened:
        clashes = await clashing_notes(one.atlas.reader, text, UNIT_LABELS, 10, own)
        items = await clash_items(one.base, one.atlas.reader, clashes)
        possible += [item for item in items if item.data["id"] not in known]
    groups = (
        ItemGroup.of("stated", stated),
        ItemGroup.of("inherited", inherited),
        ItemGroup.of("possible", possible),
    )
    found = f"{len(stated)} stated, {len(inherited)} inherited, {len(possible)} possible (judge the words that clash)"
    body = NoteBody("ok" if stated or inherited or possible else "none", found, groups, _judge(unit, possible))
    return await answer(knowledge, "find_contradictions", body, token_budget, notes, project_atlas(opened))


def _pairs(starts: Sequence[NoteHit], ends: Sequence[NoteHit]) -> list[tuple[NoteHit, NoteHit]]:
    """Return pairs of end points, the best matches first."""
    pairs = [(first, last) for first in starts for last in ends if first.node.row.uid != last.node.row.uid]
    same = [(first, last) for first in starts[:1] for last in ends[:1] if first.node.row.uid == last.node.row.uid]
    return same or sorted(pairs, key=lambda pair: -(pair[0].score + pair[1].score))


async def _lineage_body(one: Opened, first: NoteHit, last: NoteHit, chains: Sequence[Chain]) -> NoteBody:
    uids = {uid for chain in chains for uid in chain.uids}
    nodes = {node.row.uid: node for node in await one.atlas.reader.store.symbols(sorted(uids))}
    paths = [chain_item(chain, nodes) for chain in chains]
    points = await _end_points(one, first, last)
    groups = (ItemGroup.of("paths", paths), ItemGroup.of("end_points", points))
    weak = [name for name, hit in (("start", first), ("end", last)) if hit.score < WEAK]
    title = counted(len(chains), "path")
    if weak:
        title = f"{title}; weak match of the {' and the '.join(weak)}: the units may be about something else"
    action = Action("get_unit", {"id": first.node.row.qualified_name}, "the evidence at the start")
    return NoteBody("ok", title, groups, (action,))


async def _end_points(one: Opened, first: NoteHit, last: NoteHit) -> list[Item]:
    items = await hit_items(one.base, one.atlas.reader, [first, last])
    return [
        Item(f"{name}, match {hit.score:.2f}: {item.line}", {**item.data, "end": name, "match": round(hit.score, 4)})
        for name, hit, item in zip(("start", "end"), (first, last), items, strict=True)
    ]


async def _stated(one: Opened, uids: Sequence[str], via: str = "") -> list[Item]:
    """Return units that a relation calls contradictory, with the relation as evidence."""
    store = one.atlas.reader.store
    edges = [
        edge
        for direction in (Direction.IN, Direction.OUT)
        for edge in await store.edges(uids, direction, STATED, limit=200)
    ]
    states = await anchor_states(one.atlas.reader, [edge.node.row.uid for edge in edges])
    items: list[Item] = []
    for edge in edges:
        item = unit_item(edge.node, states.get(edge.node.row.uid, ()), characters=300)
        relation = relation_item(edge)
        source = f"; over {via}" if via else ""
        evidence = {**relation.data, "at": f"{_place(edge)}", **({"via": via} if via else {})}
        items.append(Item(f"{item.line}; {relation.line}{source}", {**item.data, "evidence": evidence}))
    return items


def _place(edge: Edge) -> str:
    return f"{edge.node.row.path}:{edge.row.line}" if edge.row.source == edge.node.row.uid else f"line {edge.row.line}"


async def _inherited(one: Opened, start: str) -> list[Item]:
    """Return what contradicts the units that this one implies, directly or not."""
    store, seen, frontier = one.atlas.reader.store, {start}, [start]
    items: list[Item] = []
    while frontier and len(seen) < MAX_IMPLIED:
        edges = await store.edges(frontier, Direction.OUT, [EdgeType.IMPLIES], limit=MAX_IMPLIED)
        implied = {edge.row.target: edge.node for edge in edges if edge.row.target not in seen}
        seen |= implied.keys()
        for uid, node in implied.items():
            items += await _stated(one, [uid], node.row.qualified_name)
        frontier = list(implied)
    own = start.partition(":")[2]
    return [item for item in items if item.data["id"] != own]


def _judge(unit: tuple[Opened, Node] | None, possible: Sequence[Item]) -> tuple[Action, ...]:
    if unit is None or not possible:
        return ()
    arguments = {"from": unit[1].row.qualified_name, "to": possible[0].data["id"], "relation": "contradicts"}
    return (Action("connect_propositions", arguments, "if they do contradict each other"),)
