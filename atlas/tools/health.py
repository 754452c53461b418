"""health: the state of the parts, worst first. Pure: the checks come from wiring, which alone knows the adapters."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.tools.answers import Check, Evidence, HealthAnswer

STATES = ("ok", "missing", "broken")
"""From good to bad: `missing` parts leave the rest working."""


def health(checks: Sequence[Check], evidence: Evidence) -> HealthAnswer:
    """Return the overall state and the checks, broken ones first, else in the order given.

    The state is `broken` if any check is, `degraded` if a part is missing, else `ok`.
    """
    worst = max((STATES.index(check.state) for check in checks), default=0)
    ordered = tuple(sorted(checks, key=lambda check: -STATES.index(check.state)))
    return HealthAnswer("health", ("ok", "degraded", "broken")[worst], ordered, evidence)
