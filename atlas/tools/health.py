"""health: the state of the parts, worst first. Pure: the checks come from wiring, which alone knows the adapters."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.tools.answers import Check, Evidence, HealthAnswer

STATES = ("ok", "warning", "missing", "broken")
"""From good to bad: a `warning` works but wants to be looked after, `missing` parts leave the rest working."""


def health(checks: Sequence[Check], evidence: Evidence) -> HealthAnswer:
    """Return the overall state and the checks, broken ones first, else in the order given.

    The state is `broken` if any check is, `degraded` if there is a warning or a part is missing, else `ok`.
    """
    worst = max((STATES.index(check.state) for check in checks), default=0)
    ordered = tuple(sorted(checks, key=lambda check: -STATES.index(check.state)))
    return HealthAnswer("health", ("ok", "degraded", "degraded", "broken")[worst], ordered, evidence)
