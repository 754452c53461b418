"""The tools that read claims and decisions: search, lineage, contradictions, lists and single units."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.errors import AtlasError, NotFound
from atlas.model import Direction, Edge, EdgeType, Label, Node
from atlas.notes.checks import check_line, check_share, check_status, check_text
from atlas.notes.ids import is_id
from atlas.search.notes.anchors import anchor_states
from atlas.search.notes.hits import NoteFilter, NoteHit
from atlas.search.notes.lineage import RELATIONS, Chain, find_lineage
from atlas.search.notes.retrieval import concept_notes, find_notes
from atlas.tools.answers import KnowledgeAnswer
from atlas.tools.citations import escaped
from atlas.tools.knowledge.body import Action, Item, ItemGroup, NoteBody
from atlas.tools.knowledge.note_base import UNIT_LABELS, Knowledge, NoteBase, properties_of
from atlas.tools.knowledge.opened import Opened, find_unit, opened_bases, project_atlas
from atlas.tools.knowledge.relations import anchor_item, chain_item, relation_item
from atlas.tools.knowledge.units import answer, comparable, hit_items, shown_text, unit_item
from atlas.wording import counted

SEARCH_BUDGET = 1500
UNIT_BUDGET = 2000
WEAK = 0.5
"""Match of a concept below which an end point of a lineage is called weak."""
CANDIDATES = 3
"""Units that are tried for each end of a lineage."""
SEARCHED = (*UNIT_LABELS, Label.ADR)
COMMITS = 5


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
    text = check_text("query", query)
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
    actions = actions or [Action("ingest_hypothesis", {"hypothesis": text}, "store it as a claim")]
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
    start, end = check_text("start_concept", start_concept), check_text("end_concept", end_concept)
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
    title = f"no unit is about {shown_text(start if not best else end, 80)!r}"
    actions: tuple[Action, ...] = (Action("semantic_search", {"query": start}, "which units there are"),)
    if best is not None:
        one, first, last = best
        groups = (ItemGroup.of("end_points", await _end_points(one, first, last)),)
        title = "no path connects them"
        ids = {"from": first.node.row.qualified_name, "to": last.node.row.qualified_name}
        actions = (Action("connect_propositions", {**ids, "relation": "", "reasoning": ""}, "if they are related"),)
    body = NoteBody("none", title, groups, actions)
    return await answer(knowledge, "find_scientific_lineage", body, token_budget, notes, project_atlas(opened))


async def get_unit(knowledge: Knowledge, *, unit_id: str, token_budget: int = UNIT_BUDGET) -> KnowledgeAnswer:
    """Return one note: its text, its relations both ways, what it is about with the state, its history in git.

    Raises NotFound.
    """
    notes: list[str] = []
    opened = await opened_bases(knowledge, notes)
    found = await find_unit(opened, check_line("id", unit_id, 1000))
    if found is None:
        raise NotFound(
            f"no unit {shown_text(unit_id, 80)}", "list_propositions and list_entities name those there are."
        )
    one, node = found
    reader, uid = one.atlas.reader, node.row.uid
    states = (await anchor_states(reader, [uid])).get(uid, ())
    details = properties_of(node)
    more = {name: details[name] for name in ("updated", "agent", "aliases", "reason") if name in details}
    item = unit_item(node, states, characters=100_000, is_personal=one.base.is_personal, **more)
    outgoing = await reader.store.edges([uid], Direction.OUT, RELATIONS)
    incoming = await reader.store.edges([uid], Direction.IN, RELATIONS)
    groups = [
        ItemGroup.of("unit", [item]),
        ItemGroup.of("relations", [relation_item(edge) for edge in (*outgoing, *incoming)]),
        ItemGroup.of("about", [anchor_item(state) for state in states]),
        ItemGroup.of("dangling", _dangling(one.base, node, outgoing)),
        ItemGroup.of("observations", await _observations(one, node)),
        ItemGroup.of("history", await _history(one, node)),
    ]
    groups = [group for group in groups if group.total]
    actions = [Action("find_contradictions", {"claim": node.row.qualified_name}, "what speaks against it")]
    if any(state.is_suspect for state in states):
        fix = {"id": node.row.qualified_name, "reaffirm": True}
        actions.insert(0, Action("update_unit", fix, "if it still holds; else update its text, or retract_unit"))
    body = NoteBody("ok", f"{node.row.kind} {node.row.qualified_name}", tuple(groups), tuple(actions))
    return await answer(knowledge, "get_unit", body, token_budget, notes, project_atlas(opened))


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


def _dangling(base: NoteBase, node: Node, outgoing: Sequence[Edge]) -> list[Item]:
    """Return relations of the file whose target is not in the index."""
    if node.row.label == Label.ADR or not node.row.path:
        return []
    try:
        _, note = base.read(node.row.path)
    except AtlasError:
        return []
    known = {edge.node.row.qualified_name for edge in outgoing}
    missing = [one for one in note.relations if is_id(one.to) and one.to not in known]
    if note.id != node.row.qualified_name:
        return []
    return [
        Item(f"{escaped(one.type)} -> {escaped(one.to)}, which is not there", {"type": one.type, "to": one.to})
        for one in missing[:20]
    ]


async def _observations(one: Opened, node: Node) -> list[Item]:
    if node.row.label != Label.ENTITY:
        return []
    edges = await one.atlas.reader.store.edges([node.row.uid], Direction.OUT, [EdgeType.HAS_OBSERVATION], limit=10_000)
    newest = sorted(edges, key=lambda edge: str(properties_of(edge.node).get("created", "")), reverse=True)
    return [unit_item(edge.node) for edge in newest[:50]]


async def _history(one: Opened, node: Node) -> list[Item]:
    """Return the last commits of the note's file; none without git."""
    history = one.atlas.reader.history
    if history is None or not node.row.path:
        return []
    try:
        log = await history.log(COMMITS, path=node.row.path, paths=0)
    except AtlasError:
        return []
    return [
        Item(f"{commit.id[:10]} {shown_text(commit.subject, 100)!r}", {"commit": commit.id, "subject": commit.subject})
        for commit in log.commits
    ]
