"""The tools that read claims and decisions: search, lineage, contradictions, lists and single units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atlas.answers.items import Action, Item, ItemGroup, ItemsAnswer, ItemsBody
from atlas.core.model import Label, Node
from atlas.core.paper_source import PaperLinks
from atlas.core.wording import counted
from atlas.knowledge.notes.checks import check_question, check_share, check_status
from atlas.knowledge.retrieval.hits import NoteFilter, NoteHit
from atlas.knowledge.retrieval.lineage import MAX_STEPS, Chain, find_lineage
from atlas.knowledge.retrieval.papers import paper_rows
from atlas.knowledge.retrieval.retrieval import concept_notes, find_notes
from atlas.knowledge.tools.note_base import UNIT_LABELS, Knowledge
from atlas.knowledge.tools.open_notes import Opened, opened_bases, project_atlas
from atlas.knowledge.tools.relations import chain_item
from atlas.knowledge.tools.units import answer, comparable, hit_items, quoted_text

SEARCH_BUDGET = 1500
LINEAGE_BUDGET = 2000
FOUND = 0.35
"""Match from which a unit is an end point of a lineage. Of 215 concepts and statements of tests/notes/data/lineage.json
and tests/bench/data, .85 match a unit that is right as well as this, and .07 one of 350 units about other things; .30
lets .90 and .18 pass, .40 .76 and .03."""
WEAK = 0.5
"""Match below which an end point is called weak: .005 of those about other things reach it."""
STOPPED = "the search stopped at a limit of claims: there may be a path"
SHOWN_CONCEPT = 80
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


@dataclass(frozen=True, slots=True)
class _Ends:
    """The units of one folder that are nearest to the two concepts of a question, best first."""

    one: Opened
    starts: tuple[NoteHit, ...]
    ends: tuple[NoteHit, ...]

    @property
    def pairs(self) -> list[tuple[NoteHit, NoteHit]]:
        """Pairs of end points that match, the best first; none if one unit is the best match of both concepts."""
        starts, ends = ([hit for hit in hits if hit.score >= FOUND] for hits in (self.starts, self.ends))
        if starts and ends and starts[0].node.row.uid == ends[0].node.row.uid:
            return []
        pairs = [(first, last) for first in starts for last in ends if first.node.row.uid != last.node.row.uid]
        return sorted(pairs, key=lambda pair: -(pair[0].score + pair[1].score))


async def find_scientific_lineage(
    knowledge: Knowledge,
    *,
    start_concept: str,
    end_concept: str,
    max_paths: int = 3,
    token_budget: int = LINEAGE_BUDGET,
) -> ItemsAnswer:
    """Return the shortest chains of relations between the units that fit two concepts best.

    A concept that no unit matches well enough is not found: the nearest units are named instead.
    """
    start, end = check_question("start_concept", start_concept), check_question("end_concept", end_concept)
    notes: list[str] = []
    opened = await opened_bases(knowledge, notes)
    found = [
        _Ends(one, *[tuple(await concept_notes(one.atlas.reader, text, CANDIDATES)) for text in (start, end)])
        for one in opened
    ]
    body = await _connected(knowledge, found, max_paths, notes) or await _unconnected(found, (start, end), notes)
    return await answer(knowledge, "find_scientific_lineage", body, token_budget, notes, project_atlas(opened))


async def _connected(
    knowledge: Knowledge, found: Sequence[_Ends], max_paths: int, notes: list[str]
) -> ItemsBody | None:
    """Return the chains between the best pair of end points that are connected, None if there is none."""
    papers, stopped = knowledge.papers, False
    for ends in found:
        for first, last in ends.pairs:
            store, uids = ends.one.atlas.reader.store, (first.node.row.uid, last.node.row.uid)
            lineage = await find_lineage(store, *uids, max_paths, project=ends.one.base.project, papers=papers)
            if lineage.chains:
                if not lineage.is_complete:
                    notes.append("there may be further paths; raise max_paths")
                return await _lineage_body(ends.one, first, last, lineage.chains, papers)
            stopped = stopped or not lineage.is_complete
    if stopped:
        notes.append(STOPPED)
    return None


async def _unconnected(found: Sequence[_Ends], concepts: tuple[str, str], notes: Sequence[str]) -> ItemsBody:
    """Return why no path is shown: a concept is not found, both are one unit, or no relations lead from one to another.

    A search that stopped at a limit leaves it unknown.
    """
    missing: list[str] = []
    near: list[Item] = []
    sides = ("start", [ends.starts for ends in found]), ("end", [ends.ends for ends in found])
    for (name, side), text in zip(sides, concepts, strict=True):
        if not any(hit.score >= FOUND for hits in side for hit in hits):
            missing.append(f"{name} {quoted_text(text, SHOWN_CONCEPT)}")
            for ends, hits in zip(found, side, strict=True):
                near += await _ends_of(ends.one, name, hits)
    if not found or missing:
        action = Action("semantic_search", {"query": concepts[0][:MAX_REPEATED]}, "which units there are")
        title = f"not found: {' and '.join(missing)}" if missing else "there are no units yet"
        title = f"{title}; the nearest units are about something else" if near else title
        return ItemsBody("none", title, (ItemGroup.of("nearest", near),), (action,))
    for ends in found:
        first, last = next(iter(ends.starts), None), next(iter(ends.ends), None)
        if first is None or last is None or min(first.score, last.score) < FOUND:
            continue
        points = [*await _ends_of(ends.one, "start", [first]), *await _ends_of(ends.one, "end", [last])]
        groups = (ItemGroup.of("end_points", points),)
        ids = first.node.row.qualified_name, last.node.row.qualified_name
        if ids[0] == ids[1]:
            action = Action("get_unit", {"id": ids[0]}, "its relations")
            return ItemsBody("none", "both concepts are best matched by the same unit", groups, (action,))
        arguments = {"from": ids[0], "to": ids[1], "relation": "extends"}
        action = Action("connect_propositions", arguments, "if they are related, or another relation")
        status, title = "none", f"no path of at most {MAX_STEPS} relations connects them"
        status, title = ("unknown", "no path was found") if STOPPED in notes else (status, title)
        return ItemsBody(status, title, groups, (action,))
    return ItemsBody("none", "the concepts are in different folders, personal and project: no path connects them")


async def _lineage_body(
    one: Opened, first: NoteHit, last: NoteHit, chains: Sequence[Chain], papers: PaperLinks | None
) -> ItemsBody:
    uids = sorted({uid for chain in chains for uid in chain.uids})
    nodes = {node.row.uid: node for node in await one.atlas.reader.store.symbols(uids)}
    project = one.base.project
    nodes |= {uid: Node(project, row) for uid, row in (await paper_rows(papers, project, uids)).items()}
    paths = [chain_item(chain, nodes) for chain in chains]
    points = [*await _ends_of(one, "start", [first]), *await _ends_of(one, "end", [last])]
    groups = (ItemGroup.of("paths", paths), ItemGroup.of("end_points", points))
    weak = [name for name, hit in (("start", first), ("end", last)) if hit.score < WEAK]
    title = counted(len(chains), "path")
    if weak:
        title = f"{title}; weak match of the {' and the '.join(weak)}: the units may be about something else"
    action = Action("get_unit", {"id": first.node.row.qualified_name}, "the evidence at the start")
    return ItemsBody("ok", title, groups, (action,))


async def _ends_of(one: Opened, end: str, hits: Sequence[NoteHit]) -> list[Item]:
    """Return units with how well they match an end point, `start` or `end`."""
    items = await hit_items(one.atlas.reader, hits)
    return [
        Item(f"{end}, match {hit.score:.2f}: {item.line}", {**item.data, "end": end, "match": round(hit.score, 4)})
        for hit, item in zip(hits, items, strict=True)
    ]
