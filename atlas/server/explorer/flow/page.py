"""The flow page: a chain of calls from one symbol to another, or what one symbol, route or event leads to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from atlas.answers.evidence import Evidence
from atlas.code.reader import Reader
from atlas.code.tools.citations import shown_name, symbol_of
from atlas.code.tools.relation_answer import RelationAnswer, relation_head
from atlas.core.model import Node
from atlas.core.wording import counted
from atlas.server.explorer.flow.ladder import FlowStep, steps_of
from atlas.server.explorer.flow.reach import HANDLED, find_leads, find_subject, first_steps
from atlas.server.explorer.questions import Asker, Given

TOKEN_BUDGET = 16_000
TRIED = 8
"""What handles a route or event, from which a chain is looked for."""


@dataclass(frozen=True, slots=True)
class CallChain:
    """A chain of calls as the page shows it."""

    steps: tuple[FlowStep, ...] = ()
    head: tuple[str, ...] = ()
    text: str = ""
    evidence: Evidence | None = None


async def flow_values(ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
    """Return what the page of a flow shows."""
    of, to = given.text("of").strip(), given.text("to").strip()
    shown: dict[str, object] = {"title": "Flow", "given": given, "steps": (), "head": [], "text": "", "evidence": None}
    shown |= {"subjects": (), "trees": (), "tree": None, "is_known": True, "subject_name": ""}
    if not of:
        return shown
    subjects = await find_subject(reader, of)
    if not to:
        return {**shown, **await _leads(reader, subjects)}
    entries = [each for each in subjects if each.row.label in HANDLED]
    found = await _from_entry(ask, reader, entries[0], to) if entries else await _chain(ask, reader, of, to)
    return {**shown, "steps": found.steps, "head": found.head, "text": found.text, "evidence": found.evidence}


async def _from_entry(ask: Asker, reader: Reader, entry: Node, to: str) -> CallChain:
    """Return the shortest chain of calls from what handles a route or an event."""
    title = f"path to {to} from {entry.row.kind} {entry.row.name}"
    ends = {each.row.uid for each in await find_subject(reader, to)}
    best: CallChain | None = None
    for first, uid in (await first_steps(reader, entry))[:TRIED]:
        chain = CallChain() if uid in ends else await _chain(ask, reader, uid, to)
        if (chain.steps or uid in ends) and (best is None or len(chain.steps) + 1 < len(best.steps)):
            steps = (first, *chain.steps)
            best = replace(chain, steps=steps, head=(f"{title}: {len(steps)}", *chain.head[1:]))
    said = f"{title}: unknown, no chain of resolved calls from the first {TRIED} symbols behind it"
    return best or CallChain(head=(said,))


async def _leads(reader: Reader, subjects: Sequence[Node]) -> dict[str, object]:
    """Return what is known of one symbol, route or event; of several, all of them to choose from."""
    if len(subjects) != 1:
        choices = [(each.row.uid, f"{each.row.kind} {each.row.qualified_name}", each.row.path) for each in subjects]
        return {"subjects": choices, "is_known": bool(subjects)}
    found = await find_leads(reader, subjects[0])
    head = [f"{found.subject} leads to {counted(found.ends, 'place')} that query a database, send events or ask routes"]
    head += [counted(found.left, "step") + " more, which are not shown"] if found.left else []
    return {"head": [*head, *found.notes], "tree": found, "subject_name": shown_name(symbol_of(subjects[0].row))}


async def _chain(ask: Asker, reader: Reader, of: str, to: str) -> CallChain:
    """Return the steps from one symbol to another, with the alternatives."""
    question = f"path from {of} to {to}"
    answer = await ask("hybrid_search", query=question, relation="path", of=of, to=to, token_budget=TOKEN_BUDGET)
    if not isinstance(answer, RelationAnswer):
        return CallChain(text=answer.render(), evidence=answer.evidence)
    found = sorted(((file.path, one) for file in answer.files for one in file.symbols), key=lambda each: each[1].depth)
    # of several symbols with the name it is not known which one the first step leaves
    start = answer.subjects[0].uid if answer.subject_count == 1 else ""
    steps = await steps_of(reader, start, found)
    return CallChain(tuple(steps), tuple(relation_head(answer)), evidence=answer.evidence)
