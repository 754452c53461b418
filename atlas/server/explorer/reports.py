"""Pages that show a report of one question: changes, the flow from one symbol to another, and the status of the index.

A change is also there as Mermaid and as a Markdown comment for a pull request. The script asks for the status again by
server-sent events.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from atlas.code.reader import Reader
from atlas.code.tools.relation_answer import RelationAnswer, relation_head
from atlas.code.tools.reports import Report, ReportAnswer
from atlas.code.tools.symbol.symbols import RelatedLine
from atlas.core.invisible import escaped
from atlas.core.model import Direction, Edge, EdgeType, NodeRow
from atlas.server.explorer.questions import Asker, Given

TOKEN_BUDGET = 16_000
LIMIT = 400
LIVE_MILLISECONDS = 3_000
"""A browser asks for the status again after this time."""
AROUND = 60
"""Lines above a call in which the conditions around it are looked for."""
FOLLOWED, BESIDE = 2_000, 8
"""Symbols that are followed to find what leads to the end of a flow, and alternatives to a step that are shown."""
FORMS = {"": "List", "mermaid": "Mermaid", "comment": "Comment"}
OPENERS = (":", "{", "then", "do", "(", "->", "=>")
"""Ends of a line that opens what is indented below it."""


@dataclass(frozen=True, slots=True)
class FlowStep:
    """A symbol on the way, with the line that leads to it and the lines around that one."""

    name: str
    place: str
    """`path:line` of the call, "" if there is none."""
    call: str
    conditions: tuple[tuple[int, str], ...]
    """(line, text) of what the call is indented under, outermost first."""
    how: str
    others: tuple[tuple[str, str, str], ...] = ()
    """What the caller calls instead, and that leads to the end as well: (uid, name, place)."""


async def changes_values(ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
    """Return what the page of changes shows. Raises NotFound without a repository."""
    diff, form = given.text("diff"), given.text("form")
    asked: dict[str, object] = {"staged": True} if given.text("staged") else {"diff": diff or "HEAD"}
    if form == "mermaid":
        asked["format"] = "mermaid"
    answer = await ask("impact", token_budget=TOKEN_BUDGET, **asked)
    report = answer.report if isinstance(answer, ReportAnswer) else None
    return {
        "title": "Changes",
        "given": given,
        "forms": FORMS,
        "form": form,
        "report": report,
        "comment": comment_text(report) if report is not None and form == "comment" else "",
        "evidence": answer.evidence,
    }


def comment_text(report: Report) -> str:
    """Return a report as the Markdown of a comment in a pull request: names as code, which hold no markup."""
    lines = [f"**{_plain(report.title)}**", ""]
    lines += [f"Tests: {_code(command)}" for command in report.commands]
    for group in report.groups:
        count = f"{group.shown} of {group.total}" if group.shown < group.total else str(group.total)
        lines += ["", f"<details><summary>{group.name.replace('_', ' ')} ({count})</summary>", ""]
        lines += [
            f"- {_code(f'{file.path}: {text}' if file.path else text)}" for file in group.files for text in file.lines
        ]
        lines += ["", "</details>"]
    return "\n".join(lines)


def _code(text: str) -> str:
    return f"`{escaped(text).replace('`', chr(39))}`"


def _plain(text: str) -> str:
    return escaped(text).translate({ord(letter): f"\\{letter}" for letter in "\\`*_[]<>#|!~@"})


async def flow_values(ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
    """Return what the page of a flow shows: the steps from one symbol to another, and the alternatives."""
    of, to = given.text("of"), given.text("to")
    shown: dict[str, object] = {"title": "Flow", "given": given, "steps": [], "head": [], "text": "", "evidence": None}
    if not (of and to):
        return shown
    question = f"path from {of} to {to}"
    answer = await ask("hybrid_search", query=question, relation="path", of=of, to=to, token_budget=TOKEN_BUDGET)
    if not isinstance(answer, RelationAnswer):
        return {**shown, "text": answer.render(), "evidence": answer.evidence}
    found = sorted(((file.path, one) for file in answer.files for one in file.symbols), key=lambda each: each[1].depth)
    # of several symbols with the name it is not known which one the first step leaves
    start = answer.subjects[0].uid if answer.subject_count == 1 else ""
    others = await alternatives(reader, start, [one for _, one in found])
    steps = [await _step(reader, path, one, beside) for (path, one), beside in zip(found, others, strict=True)]
    return {**shown, "steps": steps, "head": [*relation_head(answer)], "evidence": answer.evidence}


async def alternatives(
    reader: Reader, start: str, steps: Sequence[RelatedLine]
) -> list[tuple[tuple[str, str, str], ...]]:
    """Return for each step of a chain of calls what its caller calls instead and that leads to the end as well.

    What leads to the end is followed as far back as the chain is long, and at most over `FOLLOWED` symbols. A step that
    is no call of its own, such as one to what overrides a method, ends the search.
    """
    chain, called = [start], list[list[Edge]]()
    for one in steps if start else ():
        edges = await reader.store.edges([chain[-1]], Direction.OUT, (EdgeType.CALLS,), FOLLOWED)
        called.append(edges)
        named = (each for each in edges if each.row.line in one.lines and _is_named(each.node.row, one.name))
        if (step := next(named, None)) is None:
            return [()] * len(steps)
        chain.append(step.row.target)
    leads = await _leading(reader, chain[-1], len(chain))
    found: list[tuple[tuple[str, str, str], ...]] = []
    for edges, (caller, callee) in zip(called, pairwise(chain), strict=True):
        beside = {
            edge.row.target: (edge.row.target, edge.node.row.name, f"{edge.node.row.path}:{edge.node.row.start_line}")
            for edge in edges
            if edge.row.target in leads and edge.row.target not in (caller, callee)
        }
        found.append(tuple(beside.values())[:BESIDE])
    return found or [()] * len(steps)


def _is_named(row: NodeRow, name: str) -> bool:
    """Return whether a symbol has a name that a report shows: without what its path says."""
    return row.qualified_name == name or row.qualified_name.endswith(f".{name}")


async def _leading(reader: Reader, end: str, steps: int) -> set[str]:
    """Return the symbols that lead to one over at most some calls, and itself."""
    leads, frontier = {end}, [end]
    for _ in range(steps):
        edges = await reader.store.edges(frontier, Direction.IN, (EdgeType.CALLS,), FOLLOWED) if frontier else []
        frontier = list(dict.fromkeys(edge.row.source for edge in edges if edge.row.source not in leads))
        leads.update(frontier)
        if len(leads) > FOLLOWED:
            break
    return leads


async def _step(reader: Reader, path: str, one: RelatedLine, others: tuple[tuple[str, str, str], ...] = ()) -> FlowStep:
    how = f"{one.strategy} {one.confidence:.2f}" if one.strategy else ""
    text = (await reader.store.content(reader.project, [path])).get(path, b"").decode("utf-8", "replace").splitlines()
    number = one.lines[0] if one.lines else 0
    if not 0 < number <= len(text):
        return FlowStep(one.name, path, "", (), how, others)
    call = text[number - 1].strip()[:300]
    return FlowStep(one.name, f"{path}:{number}", call, conditions_above(text, number), how, others)


def conditions_above(text: Sequence[str], number: int) -> tuple[tuple[int, str], ...]:
    """Return the lines that a line is indented under, outermost first, without the outermost: the definition itself."""
    depth, found = _depth(text[number - 1]), list[tuple[int, str]]()
    for at in range(number - 1, max(number - AROUND, 0), -1):
        line = text[at - 1]
        if line.strip() and _depth(line) < depth and line.rstrip().endswith(OPENERS):
            depth = _depth(line)
            found.append((at, line.strip()[:300]))
    return tuple(reversed(found[:-1]))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


async def status_values(ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
    """Return what the page of the status shows."""
    skipped = bool(given.text("skipped"))
    answer = await ask("status", skipped=skipped, token_budget=TOKEN_BUDGET)
    health = await ask("health")
    text = "\n".join(answer.lines())
    return {
        "title": "Status",
        "text": text,
        "health": [*health.lines()],
        "skipped": skipped,
        "evidence": answer.evidence,
    }


async def live_status(ask: Asker) -> bytes:
    """Return the status as one server-sent event; the browser asks again, so no answer is held open."""
    answer = await ask("status", token_budget=TOKEN_BUDGET)
    text = json.dumps("\n".join(escaped(line) for line in answer.lines()))
    return f"retry: {LIVE_MILLISECONDS}\ndata: {text}\n\n".encode()
