"""The tool that finds what contradicts a unit: stated, inherited and possible contradictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from atlas.answers.items import Action, Item, ItemGroup, ItemsAnswer, ItemsBody
from atlas.code.notes.anchors import anchor_states
from atlas.code.notes.facts import facts_of
from atlas.core.errors import AtlasError
from atlas.core.invisible import escaped
from atlas.core.model import Direction, Edge, EdgeType, Node
from atlas.core.wording import counted
from atlas.knowledge.notes.checks import check_question
from atlas.knowledge.notes.ids import is_id
from atlas.knowledge.retrieval.hits import HIDDEN_STATUSES, NoteFilter, NoteHit
from atlas.knowledge.retrieval.judge import VERDICTS, Verdict, judge
from atlas.knowledge.retrieval.retrieval import CLASH_POOL, clashing_hits, find_notes
from atlas.knowledge.retrieval.scoring import folded
from atlas.knowledge.retrieval.short_term import scaled
from atlas.knowledge.tools.claim_queries import MAX_REPEATED
from atlas.knowledge.tools.note_base import UNIT_LABELS, Knowledge
from atlas.knowledge.tools.open_notes import Opened, find_unit, opened_bases, project_atlas
from atlas.knowledge.tools.related_notes import clash_items, new_hits
from atlas.knowledge.tools.relations import relation_item
from atlas.knowledge.tools.units import LEAST_MEANING, answer, comparable, hit_items, quoted_text, unit_item

BUDGET = 2000
MAX_IMPLIED = 200
POSSIBLE = 10
NEAR = 5
"""Units about the same thing that are shown without a clash: a refutation often shares no word that clashes."""
STATED = (EdgeType.REFUTES, EdgeType.CONTRADICTS)


async def find_contradictions(knowledge: Knowledge, *, claim: str, token_budget: int = BUDGET) -> ItemsAnswer:
    """Return what contradicts a unit or a text: stated, inherited and possible contradictions with their evidence.

    A text that a unit says word for word is that unit.
    """
    wanted = check_question("claim", claim)
    notes: list[str] = []
    opened = await opened_bases(knowledge, notes, reads_new=True)
    stated: list[Item] = []
    inherited: list[Item] = []
    possible: list[Item] = []
    unit = await find_unit(opened, wanted) if is_id(wanted) else None
    text = unit[1].row.docstring if unit is not None else wanted
    found = [
        (one, await find_notes(one.atlas.reader, text, NoteFilter(UNIT_LABELS), CLASH_POOL), await _new(one, text))
        for one in opened
    ]
    unit = unit or _unit_that_says(found, wanted)
    if unit is not None:
        one, node = unit
        stated = await _stated(one, [node.row.uid])
        inherited = await _inherited(one, node.row.uid)
    own = unit[1].row.uid if unit is not None else ""
    known = {item.data["id"] for item in (*stated, *inherited)}
    ranked: list[tuple[float, Item]] = []
    for one, hits, new in found:
        items = await clash_items(one.atlas.reader, clashing_hits(text, (*hits, *new), own)[:POSSIBLE])
        possible += [item for item in items if item.data["id"] not in known]
        ranked += await _near(one, hits, new, NEAR + len(known) + len(possible) + 1)
    known |= {item.data["id"] for item in possible} | ({unit[1].row.qualified_name} if unit is not None else set())
    best = [item for _, item in sorted(ranked, key=lambda pair: -pair[0])]
    near = [item for item in best if item.data["id"] not in known][:NEAR]
    possible, near = await _judged(knowledge, text, possible, near, notes)
    groups = (
        ItemGroup.of("stated", stated),
        ItemGroup.of("inherited", inherited),
        ItemGroup.of("possible", possible),
        ItemGroup.of("same_subject", near),
    )
    advice = " (judge the words that clash)" if possible else ""
    said = f"{len(stated)} stated, {len(inherited)} inherited, {len(possible)} possible{advice}"
    is_judged = any("verdict" in item.data for item in near)
    said += f"; {counted(len(near), 'unit')} about the same{'' if is_judged else ', not judged'}" if near else ""
    status = "ok" if stated or inherited or possible else "none"
    body = ItemsBody(status, said, groups, _follow_up(unit, possible, wanted))
    return await answer(knowledge, "find_contradictions", body, token_budget, notes, project_atlas(opened))


async def _new(one: Opened, text: str) -> list[NoteHit]:
    return await new_hits(one.base, one.atlas.reader, text, one.new)


def _unit_that_says(
    found: Sequence[tuple[Opened, Sequence[NoteHit], Sequence[NoteHit]]], text: str
) -> tuple[Opened, Node] | None:
    """Return the unit whose text is this one, None if none is: what relations say of it holds for the text, too."""
    wanted = folded(text)
    for one, hits, new in found:
        for hit in (*hits, *new):
            if folded(hit.node.row.docstring) == wanted:
                return one, hit.node
    return None


async def _stated(one: Opened, uids: Sequence[str], via: str = "") -> list[Item]:
    """Return units that a relation calls contradictory, with the relation as evidence."""
    store = one.atlas.reader.store
    found = [
        edge
        for direction in (Direction.IN, Direction.OUT)
        for edge in await store.edges(uids, direction, STATED, limit=200)
    ]
    # the relation of a unit to itself goes both ways
    edges = list({(edge.row.source, edge.row.target, edge.row.type): edge for edge in found}.values())
    states = await anchor_states(one.atlas.reader, [edge.node.row.uid for edge in edges])
    items: list[Item] = []
    for edge in edges:
        item = unit_item(edge.node, states.get(edge.node.row.uid, ()), characters=300)
        relation = relation_item(edge)
        source = f"; over {via}" if via else ""
        evidence = {**relation.data, "at": escaped(_place(edge)), **({"via": via} if via else {})}
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
        implied = {
            edge.row.target: edge.node
            for edge in edges
            if edge.row.target not in seen and facts_of(edge.node.row).status not in HIDDEN_STATUSES
        }
        seen |= implied.keys()
        for uid, node in implied.items():
            items += await _stated(one, [uid], node.row.qualified_name)
        frontier = list(implied)
    own = start.partition(":")[2]
    return [item for item in items if item.data["id"] != own]


async def _near(one: Opened, hits: Sequence[NoteHit], new: Sequence[NoteHit], most: int) -> list[tuple[float, Item]]:
    """Return the units of a folder that a text is about, with scores that can be compared with those of another one."""
    fresh = (replace(hit, score=scaled(hit.meaning)) for hit in new if hit.meaning >= LEAST_MEANING)
    near = sorted((*comparable(hits), *fresh), key=lambda hit: -hit.score)[:most]
    items = await hit_items(one.atlas.reader, near, characters=300)
    return list(zip((hit.score for hit in near), items, strict=True))


async def _judged(
    knowledge: Knowledge, text: str, possible: list[Item], near: list[Item], notes: list[str]
) -> tuple[list[Item], list[Item]]:
    """Return possible contradictions and units about the same with the verdicts of the language model, if there is one.

    Confirmed contradictions come first, and those that no rule has found are moved to the possible ones.
    """
    items = [*possible, *near]
    if knowledge.model is None or not items:
        return possible, near
    try:
        verdicts = await judge(knowledge.model, text, [item.data["text"] for item in items])
    except AtlasError as error:
        notes.append(f"no model has judged these: {error.message}")
        return possible, near
    judged = [_with_verdict(item, one, knowledge.model.name) for item, one in zip(items, verdicts, strict=True)]
    found = [item for item in judged[len(possible) :] if item.data["verdict"] == VERDICTS[0]]
    possible = sorted((*judged[: len(possible)], *found), key=lambda item: item.data["verdict"] != VERDICTS[0])
    return possible, [item for item in judged[len(items) - len(near) :] if item not in found]


def _with_verdict(item: Item, verdict: Verdict, model: str) -> Item:
    why = f" ({quoted_text(verdict.why)})" if verdict.why else ""
    fields = {**item.data, "verdict": verdict.verdict, "judge": model}
    return Item(f"{item.line}; judged by {model}: {verdict.verdict}{why}", fields)


def _follow_up(unit: tuple[Opened, Node] | None, possible: Sequence[Item], claim: str) -> tuple[Action, ...]:
    if unit is None:
        return (Action("semantic_search", {"query": claim[:MAX_REPEATED]}, "more units about this"),)
    if not possible:
        return (Action("get_unit", {"id": unit[1].row.qualified_name}, "its relations and what it is about"),)
    arguments = {"from": unit[1].row.qualified_name, "to": possible[0].data["id"], "relation": "contradicts"}
    return (Action("connect_propositions", arguments, "if they do contradict each other"),)
