"""health: the state of each component, worst first. A pure function: `app.health` runs the checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atlas.answers.answer import Answer
from atlas.answers.evidence import Evidence, Structure, without_empty

STATES = ("ok", "warning", "missing", "broken")
"""From best to worst. `warning`: works, but needs attention; `missing`: the other components still work."""


@dataclass(frozen=True, slots=True)
class Check:
    """State of one component: `ok`, `warning` (works, but see `fix`), `missing` (the rest works) or `broken`."""

    name: str
    state: str
    detail: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class HealthAnswer(Answer):
    """Answer of health; `state` is `ok`, `degraded` or `broken`."""

    tool: str
    state: str
    checks: tuple[Check, ...]
    evidence: Evidence

    def lines(self) -> Iterator[str]:
        """Yield the overall state, one line per check, and the fix of the worst check as the next step."""
        yield f"health: {self.state}"
        for check in self.checks:
            state, _, rest = check_line(check).partition(":")
            yield f"{state} {check.name}{':' if rest else ''}{rest}"
        if self.checks and self.checks[0].state != "ok" and self.checks[0].fix:
            yield f"next: {self.checks[0].fix}"

    def content(self) -> Structure:
        """Return the overall state and one line per check."""
        checks = {check.name: check_line(check) for check in self.checks}
        return without_empty({"state": self.state, "checks": checks})


def health(checks: Sequence[Check], evidence: Evidence) -> HealthAnswer:
    """Return the overall state and the checks, worst first, otherwise in the given order.

    The state is `broken` if any check is, `degraded` if any is `warning` or `missing`, else `ok`.
    """
    worst = max((STATES.index(check.state) for check in checks), default=0)
    ordered = tuple(sorted(checks, key=lambda check: -STATES.index(check.state)))
    return HealthAnswer("health", ("ok", "degraded", "degraded", "broken")[worst], ordered, evidence)


def check_line(check: Check) -> str:
    """Return `state: detail -> fix`."""
    rest = " -> ".join(part for part in (check.detail, check.fix) if part)
    return f"{check.state}: {rest}" if rest else check.state
