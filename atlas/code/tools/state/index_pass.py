"""The answer of index, and the progress of a pass as a percentage for the client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from atlas.answers.answer import Answer
from atlas.answers.evidence import Evidence, Structure
from atlas.answers.toolset import Report
from atlas.code.index.events import IndexSummary
from atlas.code.tools.envelope import MAX_UNREAD
from atlas.core.wording import counted

REPORT_SECONDS = 0.2

INDEX_PATIENCE = 60.0
"""Seconds that a call of `index` waits for another process that writes: clients give up on longer calls."""

PHASES: Mapping[str, tuple[float, float, str]] = {
    "scan": (0, 3, "looking for files"),
    "parse": (3, 40, "parsing"),
    "link": (40, 50, "linking"),
    "write": (50, 80, "writing"),
    "embed": (80, 99, "embedding"),
}
"""Phase -> its range in percent, so that progress only grows, and its name for people."""


class IndexProgress:
    """Receives progress from any thread; `pump` reports the latest, at most every `REPORT_SECONDS`."""

    def __init__(self) -> None:
        self._percent, self._message = 0.0, "starting"

    def __call__(self, phase: str, done: int, total: int) -> None:
        """See `Progress`."""
        start, end, name = PHASES[phase]
        percent = start + (end - start) * (min(done / total, 1.0) if total else 0.0)
        if percent >= self._percent:
            self._percent = percent
            self._message = f"{name} {done}/{total}" if total else f"{name} {done}" if done else name

    def waiting(self, message: str, seconds: float) -> None:
        """Report which process is waited for; uses no percentage of the pass itself."""
        self._percent, self._message = max(self._percent, min(seconds / INDEX_PATIENCE, 0.99)), message

    async def pump(self, report: Report) -> None:
        """Report until cancelled."""
        sent = -1.0
        while True:
            if self._percent > sent:
                sent = self._percent
                await report(sent, 100, self._message)
            await asyncio.sleep(REPORT_SECONDS)


@dataclass(frozen=True, slots=True)
class IndexAnswer(Answer):
    """Answer of index; it has no budget, and says the state of the index in its own words."""

    tool: str
    summary: IndexSummary
    evidence: Evidence

    def lines(self) -> Iterable[str]:
        """Yield what the pass did."""
        return summary_text(self.summary).splitlines()[1:]

    def content(self) -> Structure:
        """Return what the pass did."""
        return {"summary": summary_structure(self.summary)["summary"]}

    def render(self, cursor_prefix: str = "cursor=") -> str:
        """Return the summary."""
        return summary_text(self.summary)

    def structure(self) -> Structure:
        """Return the summary."""
        return summary_structure(self.summary)


def summary_text(summary: IndexSummary) -> str:
    """Return the summary of a pass as lines of text."""
    by = f" by the {summary.by}" if summary.by else ""
    files, units, vectors = ((summary.files, "file"), (summary.written, "unit"), (summary.vectors, "vector"))
    lines = [
        f"[{summary.project} @{summary.generation}, indexed now{by}]",
        f"{counted(*files)}, {summary.changed} changed, {summary.parsed} parsed, {summary.removed} removed",
        f"{summary.skipped} skipped, {summary.problems} read only in part",
        f"{counted(*units)} written, {counted(*vectors)} made, {summary.seconds:.1f} s",
    ]
    lines += [f"error: {why}" for why in summary.unread[:MAX_UNREAD]]
    if summary.cut_texts:
        lines.append(f"note: truncated to what the embedding model accepts: {counted(summary.cut_texts, 'text')}")
    if summary.unembedded:
        lines.append(f"note: without a vector: {counted(summary.unembedded, 'text')} that the embedding server rejects")
    if summary.given_up:
        events = counted(summary.given_up, "event")
        lines.append(f"note: {events} failed permanently; `atlas dead-letters list` gives the reasons")
    if not summary.files:
        lines.append("note: no file was indexed; status with skipped gives the reasons")
    return "\n".join(lines)


def summary_structure(summary: IndexSummary) -> dict[str, object]:
    """Return the summary of a pass as structured content."""
    body = asdict(summary)
    evidence = {name: body.pop(name) for name in ("project", "generation")}
    body["phases"] = {phase: round(seconds, 3) for phase, seconds in summary.phases}
    body["seconds"], body["cpu_seconds"] = round(summary.seconds, 3), round(summary.cpu_seconds, 3)
    return {"summary": body, "evidence": evidence}
