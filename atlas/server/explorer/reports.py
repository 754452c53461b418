"""Pages that show a report of one question: changes, and the status of the index.

A change is also there as Mermaid and as a Markdown comment for a pull request. The script asks for the status again by
server-sent events.
"""

from __future__ import annotations

import json

from atlas.code.reader import Reader
from atlas.code.tools.reports import Report, ReportAnswer
from atlas.core.invisible import escaped
from atlas.server.explorer.questions import Asker, Given

TOKEN_BUDGET = 16_000
LIVE_MILLISECONDS = 3_000
"""A browser asks for the status again after this time."""
FORMS = {"": "List", "mermaid": "Mermaid", "comment": "Comment"}


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
