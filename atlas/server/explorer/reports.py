"""Pages that show a report of one question: changes, the flow from one symbol to another, and the status of the index.

A change is also there as Mermaid and as a Markdown comment for a pull request. The script asks for the status again by
server-sent events.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from atlas.code.reader import Reader
from atlas.code.tools.relation_answer import RelationAnswer, relation_head
from atlas.code.tools.reports import Report, ReportAnswer
from atlas.code.tools.symbol.symbols import RelatedLine
from atlas.core.invisible import escaped
from atlas.server.explorer.questions import Asker, Given

TOKEN_BUDGET = 16_000
LIMIT = 400
LIVE_MILLISECONDS = 3_000
"""A browser asks for the status again after this time."""
AROUND = 60
"""Lines above a call in which the conditions around it are looked for."""
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
    steps = [await _step(reader, file.path, one) for file in answer.files for one in file.symbols]
    return {**shown, "steps": steps, "head": [*relation_head(answer)], "evidence": answer.evidence}


async def _step(reader: Reader, path: str, one: RelatedLine) -> FlowStep:
    how = f"{one.strategy} {one.confidence:.2f}" if one.strategy else ""
    text = (await reader.store.content(reader.project, [path])).get(path, b"").decode("utf-8", "replace").splitlines()
    number = one.lines[0] if one.lines else 0
    if not 0 < number <= len(text):
        return FlowStep(one.name, path, "", (), how)
    call = text[number - 1].strip()[:300]
    return FlowStep(one.name, f"{path}:{number}", call, conditions_above(text, number), how)


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
