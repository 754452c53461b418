"""Relations, anchors and chains of relations as items of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atlas.answers.items import Item
from atlas.code.notes.anchors import AnchorState
from atlas.code.notes.note_lines import plain_name
from atlas.core.invisible import escaped
from atlas.core.model import Edge, EdgeType, Node
from atlas.knowledge.retrieval.lineage import Chain
from atlas.knowledge.tools.note_base import properties_of
from atlas.knowledge.tools.units import quoted_text, shown_text

REASON = 300
"""Characters of a relation's reasoning."""


def relation_item(edge: Edge) -> Item:
    """Return a relation with its direction, its reasoning and its other end."""
    row, far = edge.row, edge.node.row
    details = properties_of(Node("", far._replace(properties=row.properties)))
    kind = plain_name(str(details.get("type", ""))) if row.type == EdgeType.RELATES else row.type.lower()
    is_outgoing = row.target == far.uid
    reason = str(details.get("reasoning", ""))
    arrow = f"{kind} ->" if is_outgoing else f"<- {kind}"
    name, text = escaped(far.qualified_name), far.docstring or far.name
    certainty = f" {row.confidence:.2f}" if row.confidence < 1 else ""
    because = f"; reason: {quoted_text(reason, REASON)}" if reason else ""
    line = f"{arrow}{certainty} {name} {quoted_text(text, 160)}{because}"
    fields: dict[str, Any] = {
        "type": kind,
        "direction": "out" if is_outgoing else "in",
        "id": name,
        "text": shown_text(text, 160),
        "confidence": round(row.confidence, 4),
    }
    return Item(line, {**fields, **({"reasoning": shown_text(reason, REASON)} if reason else {})})


def anchor_item(state: AnchorState) -> Item:
    """Return what a unit is about, with its state."""
    changed = f" ({', '.join(state.changed)})" if state.changed else ""
    moved = f", now {escaped(state.moved_to)}" if state.moved_to and state.moved_to != state.target else ""
    since = f" since {escaped(state.commit[:10])}" if state.commit else ""
    place = f" {state.at}" if state.at else ""
    line = f"{state.kind} {escaped(state.target)}{place}: {state.state}{changed}{moved}{since}"
    fields = {
        "kind": state.kind,
        "target": escaped(state.target),
        "at": state.at,
        "state": str(state.state),
        "changed": list(state.changed),
        "moved_to": escaped(state.moved_to),
        "commit": escaped(state.commit),
    }
    return Item(line, {name: value for name, value in fields.items() if value not in ("", [])})


def chain_item(chain: Chain, nodes: Mapping[str, Node]) -> Item:
    """Return a chain with the direction, confidence and reasoning of each relation; `nodes` holds its units by uid."""
    steps: list[dict[str, Any]] = []
    parts = [named(nodes, chain.uids[0])]
    for near, far, relation in zip(chain.uids, chain.uids[1:], chain.relations, strict=False):
        details = properties_of(Node("", nodes[far].row._replace(properties=relation.properties)))
        kind = plain_name(str(details.get("type", ""))) if relation.type == EdgeType.RELATES else relation.type.lower()
        is_forward = relation.source == near
        step = f"{kind} {relation.confidence:.2f}"
        reason = str(details.get("reasoning", ""))
        because = f" (reason: {quoted_text(reason, REASON)})" if reason else ""
        parts.append(f"{f'-{step}->' if is_forward else f'<-{step}-'} {named(nodes, far)}{because}")
        fields: dict[str, Any] = {
            "from": escaped(nodes[near].row.qualified_name),
            "to": escaped(nodes[far].row.qualified_name),
            "relation": kind,
            "direction": "out" if is_forward else "in",
            "confidence": round(relation.confidence, 4),
        }
        steps.append({**fields, **({"reasoning": shown_text(reason, REASON)} if reason else {})})
    line = f"confidence {chain.confidence:.2f}: {' '.join(parts)}"
    return Item(line, {"confidence": round(chain.confidence, 4), "steps": steps})


def named(nodes: Mapping[str, Node], uid: str) -> str:
    """Return id and beginning of a unit."""
    row = nodes[uid].row
    return f"{escaped(row.qualified_name)} {quoted_text(row.docstring or row.name, 100)}"
