"""The tools that read claims and decisions: search, lineage, contradictions, lists and single units."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.answers.items import Action, Item, ItemGroup, ItemsAnswer, ItemsBody
from atlas.core.model import Label, Node
from atlas.core.paper_source import PaperLinks
from atlas.core.wording import counted
from atlas.knowledge.notes.checks import check_question, check_share, check_status
from atlas.knowledge.retrieval.hits import NoteFilter, NoteHit
from atlas.knowledge.retrieval.lineage import Chain, find_lineage
from atlas.knowledge.retrieval.papers import paper_rows
from atlas.knowledge.retrieval.retrieval import concept_notes, find_notes
from atlas.knowledge.tools.note_base import UNIT_LABELS, Knowledge
from atlas.knowledge.tools.open_notes import Opened, opened_bases, project_atlas
from atlas.knowledge.tools.relations import chain_item
from atlas.knowledge.tools.units import answer, comparable, hit_items

SEARCH_BUDGET = 1500
LINEAGE_BUDGET = 2000
WEAK = 0.5
"""Match of a concept below which an end point of a lineage is called weak."""
CANDIDATES = 3
"""Units that are tried for each end of a lineage."""
SEARCHED = (*UNIT_LABELS, Label.ADR)
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
) -> ItemsAnswer:
    """Return the claims and decisions that fit a query best. Retracted ones only if asked for by `status`."""
    text = check_question("query", query)
    statuses = (check_status(status),) if status else ()
    where = NoteFilter(labels=SEARCHED, min_confidence=check_share("min_confidence", min_confidence), statuses=statuses)
    notes: list[str] = []
    opened = await opened_bases(knowledge, notes)
    found: list[tuple[NoteHit, Item]] = []
    for one in opened:
        hits = comparable(await find_notes(one.atlas.reader, text, where, limit))
        found += zip(hits, await hit_items(one.atlas.reader, hits), strict=True)
    found.sort(key=lambda pair: -pair[0].score)
    items = [item for _, item in found[:limit]]
    actions = [Action("get_unit", {"id": items[0].data["id"]}, "its relations and what it is about")] if items else []
    title = counted(len(items), "unit") if items else "no unit is about this"
    if not items and len(text) <= MAX_REPEATED:
        actions = [Action("ingest_hypothesis", {"hypothesis": text}, "store it as a claim")]
    body = ItemsBody("ok" if items else "none", title, (ItemGroup.of("units", items),), tuple(actions))
    return await answer(knowledge, "semantic_search", body, token_budget, notes, project_atlas(opened))


async def find_scientific_lineage(
    knowledge: Knowledge,
    *,
    start_concept: str,
    end_concept: str,
    max_paths: int = 3,
    token_budget: int = LINEAGE_BUDGET,
) -> ItemsAnswer:
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
            uids = first.node.row.uid, last.node.row.uid
            project, papers = one.base.project, knowledge.papers
            lineage = await find_lineage(reader.store, *uids, max_paths, project=project, papers=papers)
            if not lineage.is_complete:
                notes.append("the search reached a limit: there may be further paths")
            if lineage.chains:
                body = await _lineage_body(one, first, last, lineage.chains, papers)
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
    body = ItemsBody("none", title, groups, actions)
    return await answer(knowledge, "find_scientific_lineage", body, token_budget, notes, project_atlas(opened))


def _pairs(starts: Sequence[NoteHit], ends: Sequence[NoteHit]) -> list[tuple[NoteHit, NoteHit]]:
    """Return pairs of end points, the best matches first."""
    pairs = [(first, last) for first in starts for last in ends if first.node.row.uid != last.node.row.uid]
    same = [(first, last) for first in starts[:1] for last in ends[:1] if first.node.row.uid == last.node.row.uid]
    return same or sorted(pairs, key=lambda pair: -(pair[0].score + pair[1].score))


async def _lineage_body(
    one: Opened, first: NoteHit, last: NoteHit, chains: Sequence[Chain], papers: PaperLinks | None
) -> ItemsBody:
    uids = sorted({uid for chain in chains for uid in chain.uids})
    nodes = {node.row.uid: node for node in await one.atlas.reader.store.symbols(uids)}
    project = one.base.project
    nodes |= {uid: Node(project, row) for uid, row in (await paper_rows(papers, project, uids)).items()}
    paths = [chain_item(chain, nodes) for chain in chains]
    points = await _end_points(one, first, last)
    groups = (ItemGroup.of("paths", paths), ItemGroup.of("end_points", points))
    weak = [name for name, hit in (("start", first), ("end", last)) if hit.score < WEAK]
    title = counted(len(chains), "path")
    if weak:
        title = f"{title}; weak match of the {' and the '.join(weak)}: the units may be about something else"
    action = Action("get_unit", {"id": first.node.row.qualified_name}, "the evidence at the start")
    return ItemsBody("ok", title, groups, (action,))


async def _end_points(one: Opened, first: NoteHit, last: NoteHit) -> list[Item]:
    items = await hit_items(one.atlas.reader, [first, last])
    return [
        Item(f"{name}, match {hit.score:.2f}: {item.line}", {**item.data, "end": name, "match": round(hit.score, 4)})
        for name, hit, item in zip(("start", "end"), (first, last), items, strict=True)
    ]
