"""Reports: answers that are lines by group and file, the same in text and in structured content.

`impact` and questions about changes are answered with them. A line is text for the model: names, lines, evidence. Rows
of JSON would cost twice the tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from atlas.answers.answer import Answer, AnswerOutcome
from atlas.answers.evidence import Evidence, Structure
from atlas.answers.paging import Position, write_cursor
from atlas.code.atlas import Atlas
from atlas.code.lines.line_report import LineReport
from atlas.code.tools.envelope import Envelope, fit_aside
from atlas.core.wording import counted


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One fact of a report, in the group and file that it belongs to."""

    group: str
    path: str
    """"" for a fact without a file."""
    text: str


@dataclass(frozen=True, slots=True)
class ReportFile:
    """The facts of one file."""

    path: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportGroup:
    """Facts of one kind, by file."""

    name: str
    files: tuple[ReportFile, ...]
    total: int
    """Facts of the group, including those not shown."""

    @property
    def shown(self) -> int:
        """Number of facts shown."""
        return sum(len(file.lines) for file in self.files)


@dataclass(frozen=True, slots=True)
class Report:
    """What a report says; `found` counts the facts of all groups."""

    kind: str
    title: str
    outcome: str = "found"
    """`found`, `ambiguous`, `not_found`, or `no_history`."""
    groups: tuple[ReportGroup, ...] = ()
    found: int = 0
    diagnosis: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """Command lines that run the tests that are listed."""
    diagram: str = ""
    """Mermaid; the groups are left out then."""
    subjects: tuple[str, ...] = ()
    """Uids of what it is about: other projects of the workspace may use it."""
    routes: tuple[str, ...] = ()
    """Uids of the routes that are affected, whose clients may be in other projects."""


@dataclass(frozen=True, slots=True)
class ReportAnswer(Answer):
    """Answer of impact, and of hybrid_search to a question about changes or their impact."""

    cites: ClassVar[bool] = True

    tool: str
    report: Report
    evidence: Evidence

    def lines(self) -> Iterable[str]:
        """Yield the text."""
        return report_lines(self.report)

    def content(self) -> Structure:
        """Return the report; of a question to hybrid_search, also the number of facts."""
        found = {"found": self.report.found} if self.tool == "hybrid_search" and self.report.outcome == "found" else {}
        return {"report": report_structure(self.report), **found}

    def result(self) -> AnswerOutcome:
        """Return whether there is what was named."""
        return AnswerOutcome(is_missing=self.report.outcome != "found")


def grouped(lines: Sequence[ReportLine], shown: int, order: Sequence[str]) -> tuple[ReportGroup, ...]:
    """Return the groups of the first `shown` lines in a fixed order; a group that is cut to nothing keeps its total."""
    totals: dict[str, int] = {}
    for line in lines:
        totals[line.group] = totals.get(line.group, 0) + 1
    files: dict[str, dict[str, list[str]]] = {}
    for line in lines[:shown]:
        files.setdefault(line.group, {}).setdefault(line.path, []).append(line.text)
    return tuple(
        ReportGroup(
            group,
            tuple(ReportFile(path, tuple(texts)) for path, texts in files.get(group, {}).items()),
            totals[group],
        )
        for group in order
        if group in totals
    )


async def line_report_answer(
    atlas: Atlas, envelope: Envelope, report: LineReport, notes: Sequence[str], start: Position, fingerprint: str
) -> ReportAnswer:
    """Return one page of a report within the budget; a cursor leads to the next one."""
    left = report.lines[start.offset :]
    page = [ReportLine(each.group, each.place, each.text) for each in left[: report.first]]
    order = tuple(dict.fromkeys(each.group for each in report.lines))

    def build(count: int) -> ReportAnswer:
        rest = len(left) - count
        answer = Report(report.kind, report.title, report.outcome, grouped(page, count, order), len(report.lines))
        cursor = write_cursor(Position(start.offset + count, envelope.state.generation), fingerprint) if rest else ""
        cut = counted(rest, "further line") if rest else ""
        said = (*notes, *report.notes)
        return ReportAnswer("hybrid_search", answer, envelope.evidence(notes=said, withheld=(cut,), cursor=cursor))

    return await fit_aside(atlas, envelope.token_budget, build, len(page), min(len(page), 1))


def report_lines(report: Report) -> Iterator[str]:
    """Yield the text of a report."""
    yield report.title
    yield from (f"- {line}" for line in report.diagnosis)
    if report.diagram:
        yield from ("```mermaid", report.diagram, "```")
        return
    for group in report.groups:
        count = f" ({group.shown} of {group.total})" if group.shown < group.total else ""
        yield f"{group.name}{count}:"
        for file in group.files:
            text = "; ".join(line for line in file.lines if line)
            yield f"  {file.path}{': ' if file.path and text else ''}{text}"
    yield from (f"run: {command}" for command in report.commands)


def report_structure(report: Report) -> dict[str, object]:
    """Return a report as JSON values; each fact once."""
    body: dict[str, object] = {"of": report.title}
    if report.outcome != "found":
        body["outcome"] = report.outcome
    if report.diagnosis:
        body["why"] = list(report.diagnosis)
    if report.diagram:
        body["diagram"] = report.diagram.splitlines()
    else:
        for group in report.groups:
            body[group.name] = _files(group)
            if group.shown < group.total:
                body[f"{group.name}_total"] = group.total
    if report.commands:
        body["run"] = list(report.commands)
    return body


def _files(group: ReportGroup) -> object:
    if all(not file.path for file in group.files):
        return [line for file in group.files for line in file.lines]
    if all(file.lines == ("",) for file in group.files):
        return [file.path for file in group.files]
    return {file.path: "; ".join(line for line in file.lines if line) for file in group.files}
