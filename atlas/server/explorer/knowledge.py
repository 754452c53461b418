"""The pages of knowledge: claims, decisions, entities and what contradicts what; and the forms that mend one of them.

All of it is what the tools of claims and memory answer. Only relations around a unit, for its picture, and
contradictions that somebody has stated are read of the store. The writes are those of `update_unit` and `retract_unit`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from atlas.answers.items import ItemsAnswer
from atlas.code.reader import Reader
from atlas.core.errors import ConfigError, NotFound
from atlas.core.ids import make_uid
from atlas.core.model import Direction, Node
from atlas.core.wording import counted
from atlas.knowledge.notes.ids import is_id
from atlas.knowledge.retrieval.lineage import RELATIONS
from atlas.server.explorer.drawing import MAX_NODES, Picture, PictureEdge, PictureNode, layers_of, svg
from atlas.server.explorer.questions import Asker, Given
from atlas.server.explorer.render import Fields, unit_url, url

TOKEN_BUDGET = 16_000
LISTED = 50
NEAR = 20
"""Relations of one unit in a picture."""
STEPS = 2
"""Relations that lead from a unit to the farthest one of its picture."""
PAIRS = 100
SECONDS = 10.0
VIEWS = {
    "": "Claims",
    "decisions": "Decisions",
    "suspects": "Suspects",
    "contradictions": "Contradictions",
    "paths": "How two things are connected",
    "entities": "Entities",
}
KINDS = {"kind:decision": "noted", "kind:adr": "decision records"}
"""Of the decisions: those that are notes, and those that are documents."""
_FILTERS = {"": ["kind:claim"], "decisions": [*KINDS], "suspects": ["suspect"]}
ORDERS = ("newest", "oldest", "confidence")
STATUSES = ("proposed", "accepted", "disputed")
"""What `update_unit` sets."""
DONE = {
    "reaffirm": "It is reaffirmed for the code as it is now.",
    "amend": "It is amended.",
    "retract": "It is withdrawn, and stays readable.",
    "unchanged": "Nothing was changed.",
}
"""Said on a unit's page after a write."""
_STATED = (
    "MATCH (a)-[:{}]->(b) RETURN a.qualified_name AS id, a.docstring AS text, b.qualified_name AS other, "
    f"b.docstring AS said ORDER BY id LIMIT {PAIRS}"
)


async def knowledge_values(ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
    """Return what a list of units shows. Raises AtlasError as the tools do."""
    view = given.text("view") if given.text("view") in VIEWS else ""
    answer = await _answer(ask, given, view)
    return {
        "title": "Knowledge",
        "views": VIEWS,
        "view": view,
        "orders": ORDERS,
        "kinds": KINDS if view == "decisions" else {},
        "groups": _groups(answer) if answer is not None else Fields(),
        "said": answer.body.title if answer is not None else "",
        "cursor": answer.body.cursor if answer is not None else "",
        "pairs": await _pairs(reader) if view == "contradictions" and answer is None else [],
        "evidence": answer.evidence if answer is not None else None,
    }


async def _answer(ask: Asker, given: Given, view: str) -> ItemsAnswer | None:
    """Return the answer of the tool behind a view, None where nothing is asked yet."""
    words = given.text("words").strip()
    asked: Mapping[str, object]
    if view == "contradictions":
        tool, asked = "find_contradictions", {"claim": words}
    elif view == "paths":
        tool, asked = "find_scientific_lineage", {"start_concept": words, "end_concept": given.text("to").strip()}
    elif view == "entities":
        tool, asked = "list_entities", {"type": words, "limit": LISTED, "cursor": given.text("cursor")}
    elif words and not view:
        tool, asked = "semantic_search", {"query": words, "limit": LISTED}
    else:
        order = given.text("order") if given.text("order") in ORDERS else ORDERS[0]
        return await _listed(ask, given, _FILTERS[view], words, order)
    if tool in ("find_contradictions", "find_scientific_lineage") and not all(asked.values()):
        return None
    answer = await ask(tool, **asked, token_budget=TOKEN_BUDGET)
    assert isinstance(answer, ItemsAnswer)
    return answer


async def _listed(ask: Asker, given: Given, kinds: list[str], words: str, order: str) -> ItemsAnswer:
    """Return a list of the kind that is asked for, the first one unless the address says another."""
    kind = given.text("kind") if given.text("kind") in kinds else kinds[0]
    asked = {"filter": f"{kind} {words}".strip(), "order": order, "limit": LISTED, "cursor": given.text("cursor")}
    answer = await ask("list_propositions", **asked, token_budget=TOKEN_BUDGET)
    assert isinstance(answer, ItemsAnswer)
    return answer


def _groups(answer: ItemsAnswer) -> Fields:
    """Return the fields of the items of each group, with their line."""
    return Fields(
        {group.name: [Fields({**one.data, "line": one.line}) for one in group.items] for group in answer.body.groups}
    )


def _items(groups: Mapping[str, Any], name: str) -> list[Fields]:
    return groups[name] or []


async def _pairs(reader: Reader) -> list[tuple[str, ...]]:
    """Return the units of the project between which somebody has stated a contradiction: (relation, id, text, ...)."""
    found: list[tuple[str, ...]] = []
    for relation in ("CONTRADICTS", "REFUTES"):
        table = await reader.store.cypher(_STATED.format(relation), {}, PAIRS, SECONDS, reader.project)
        found += [(relation.lower(), *(str(value or "")[:300] for value in row)) for row in table.rows]
    return found


async def unit_values(ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
    """Return what the page of one claim, decision, entity or observation shows. Raises NotFound."""
    name = given.text("id").strip()
    if not name:
        raise NotFound("no unit is named", "Choose one of a list.")
    answer = await ask("get_unit" if is_id(name) else "get_entity", **{_NAME[is_id(name)]: name}, token_budget=60_000)
    assert isinstance(answer, ItemsAnswer)
    groups = _groups(answer)
    unit = groups["unit"][0]
    note_id = str(unit["id"])
    is_claim = is_id(note_id) and note_id[0] in "cd"
    against = await ask("find_contradictions", claim=note_id, token_budget=TOKEN_BUDGET) if is_claim else None
    picture = await _around(reader, unit, _items(groups, "relations"))
    return {
        "title": str(unit["text"])[:80],
        "unit": unit,
        "groups": groups,
        "timeline": sorted(_items(groups, "observations"), key=lambda one: str(one["created"] or ""), reverse=True),
        "against": _groups(against) if isinstance(against, ItemsAnswer) else Fields(),
        "picture": picture,
        "drawing": svg(picture, linked=True) if len(picture.nodes) > 1 else "",
        "is_claim": is_claim,
        "is_gone": any(one["state"] == "gone" for one in _items(groups, "about")),
        "statuses": STATUSES,
        "done": DONE.get(given.text("done"), ""),
        "evidence": answer.evidence,
    }


_NAME = {True: "id", False: "entity"}


async def _around(reader: Reader, unit: Mapping[str, Any], relations: Sequence[Mapping[str, Any]]) -> Picture:
    """Return the units that relations lead to, from the unit and on from those, in layers.

    Of the user's own notes, which the project's index does not hold, only the first step is drawn.
    """
    start = make_uid(reader.project, str(unit["id"]))
    own = await reader.store.symbols([start])
    if not own or unit.get("personal"):
        return _of_items(unit, relations)
    nodes: dict[str, Node] = {start: own[0]}
    edges: dict[tuple[str, str], str] = {}
    frontier, left = [start], 0
    for _ in range(STEPS):
        further: list[str] = []
        for direction in (Direction.OUT, Direction.IN):
            for edge in await reader.store.edges(frontier, direction, RELATIONS, each=NEAR):
                far = edge.node.row.uid
                if far not in nodes and len(nodes) >= MAX_NODES:
                    left += 1
                    continue
                further += [] if far in nodes else [far]
                nodes.setdefault(far, edge.node)
                edges[edge.row.source, edge.row.target] = _kind(edge.row.type, edge.row.properties)
        frontier = further
    layers = layers_of(list(nodes), edges)
    boxes = [_box(uid, node, layers[uid], is_subject=uid == start) for uid, node in nodes.items()]
    arrows = [PictureEdge(*ends, kind) for ends, kind in edges.items()]
    return Picture(str(unit["id"]), tuple(boxes), tuple(arrows), counted(left, "further one") if left else "")


def _kind(kind: str, properties: str) -> str:
    named = re.search(r'"type"\s*:\s*"([^"]{1,80})"', properties) if kind == "RELATES" and properties else None
    return named[1] if named else kind.lower()


def _box(uid: str, node: Node, layer: int, *, is_subject: bool) -> PictureNode:
    text = node.row.name if node.row.label == "Entity" else node.row.docstring or node.row.name
    name = " ".join(text[:400].split())
    return PictureNode(uid, name, unit_url(node.row.qualified_name), layer, is_subject, title=name, cut_at_end=True)


def _of_items(unit: Mapping[str, Any], relations: Sequence[Mapping[str, Any]]) -> Picture:
    own = str(unit["id"])
    nodes = {own: PictureNode(own, str(unit["text"]), unit_url(own), 1, True, title=own, cut_at_end=True)}
    edges: list[PictureEdge] = []
    for one in relations[: MAX_NODES - 1]:
        far, is_out = str(one["id"]), one["direction"] == "out"
        text = str(one["text"])
        nodes.setdefault(far, PictureNode(far, text, unit_url(far), 2 if is_out else 0, title=text, cut_at_end=True))
        edges.append(PictureEdge(*((own, far) if is_out else (far, own)), str(one["type"])))
    left = len(relations) - len(edges)
    return Picture(own, tuple(nodes.values()), tuple(edges), counted(left, "further one") if left > 0 else "")


async def write_unit(ask: Asker, given: Given) -> str:
    """Reaffirm, amend or retract a unit as a form says; return the page that shows it. Raises as the tools do."""
    name, action = given.text("id"), given.text("action")
    if action == "reaffirm":
        answer = await ask("update_unit", id=name, reaffirm=True)
    elif action == "amend":
        changes: dict[str, object] = {key: given.text(key) for key in ("text", "status", "source") if given.text(key)}
        if given.text("confidence"):
            changes["confidence"] = _share(given.text("confidence"))
        answer = await ask("update_unit", id=name, **changes)
    elif action == "retract":
        successor = {"superseded_by": given.text("superseded_by")} if given.text("superseded_by") else {}
        answer = await ask("retract_unit", id=name, reason=given.text("reason"), **successor)
    else:
        raise ConfigError("nothing is asked for", "Use the forms of a unit's page.")
    assert isinstance(answer, ItemsAnswer)
    return url("/unit", id=name, done="unchanged" if answer.body.status == "unchanged" else action)


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ConfigError("confidence is a number from 0 to 1", "Write 0.8, for example.") from error
