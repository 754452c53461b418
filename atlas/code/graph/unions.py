"""Questions about two symbols (`callers of A and B`): the edges of both, each with the symbol that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from atlas.code.graph.answer_relation import answer_relation
from atlas.code.graph.relation import EdgeAnswer, RelatedSymbol
from atlas.code.graph.targets import Targets
from atlas.code.question.relation_kinds import RelationIntent
from atlas.code.reader import Reader
from atlas.core.model import Filter


async def answer_both(reader: Reader, intent: RelationIntent, where: Filter) -> EdgeAnswer | None:
    """Answer a question about two symbols; None where neither is certainly one. Raises store errors.

    Where only one has edges that can be listed, the answer is about that one and says why the other is left out.
    """
    names = (intent.name, intent.other)
    answers = [await answer_relation(reader, replace(intent, name=name, other=""), where) for name in names]
    listed = [each for each in answers if each is not None and each.targets.targets and not each.counts]
    notes = tuple(
        _left_out(name, each) for name, each in zip(names, answers, strict=True) if each is None or each not in listed
    )
    if not listed:
        return next((each for each in answers if each is not None), None)
    if len(listed) == 1:
        return replace(listed[0], notes=(*listed[0].notes, *notes))
    one, two = listed
    related = tuple(_merged(_labelled(one), _labelled(two)))
    places = sum(len(each.lines) for each in related)
    none = "unknown" if one.is_unknown or two.is_unknown else "none"
    lines = f" in {places} lines" if places > len(related) else ""
    return EdgeAnswer(
        intent,
        Targets(f"{one.targets.name} and {two.targets.name}", (*one.targets.targets, *two.targets.targets), 2),
        related=related,
        notes=(*dict.fromkeys((*one.notes, *two.notes)),),
        title=f"{intent.kind.value} of {intent.name} and {intent.other}: {len(related) or none}{lines}",
    )


def _labelled(relation: EdgeAnswer) -> Iterable[RelatedSymbol]:
    return (replace(each, of=relation.targets.name) for each in relation.related)


def _merged(one: Iterable[RelatedSymbol], two: Iterable[RelatedSymbol]) -> Iterable[RelatedSymbol]:
    """Return one entry per symbol: what has an edge to both has the lines of both."""
    merged: dict[str, RelatedSymbol] = {}
    for each in (*one, *two):
        uid = each.node.row.uid
        known = merged.get(uid)
        merged[uid] = (
            each
            if known is None
            else replace(
                known,
                lines=tuple(sorted({*known.lines, *each.lines})),
                depth=min(known.depth, each.depth),
                of=f"{known.of} and {each.of}",
            )
        )
    return merged.values()


def _left_out(name: str, relation: EdgeAnswer | None) -> str:
    if relation is None or not relation.targets.targets:
        near = ", ".join(node.row.qualified_name for node in relation.targets.near[:3]) if relation is not None else ""
        return f"no symbol `{name}`{f'; near: {near}' if near else ''}"
    return f"`{name}` is the name of {relation.targets.total} symbols: ask for one of them"
