"""Answers of hybrid_search that are lines of the project's texts or history: pages of a `LineReport`."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.answers.paging import Position, write_cursor
from atlas.code.atlas import Atlas
from atlas.code.lines.line_report import LineReport
from atlas.code.tools.envelope import Envelope, fit_aside
from atlas.code.tools.reports import Report, ReportAnswer, ReportLine, grouped

_TOOL = "hybrid_search"


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
        cut = f"{rest} further lines" if rest else ""
        said = (*notes, *report.notes)
        return ReportAnswer(_TOOL, answer, envelope.evidence(notes=said, withheld=(cut,), cursor=cursor))

    return await fit_aside(atlas, envelope.token_budget, build, len(page), min(len(page), 1))
