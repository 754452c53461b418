"""health: the state of each component, worst first. A pure function: `app.health` runs the checks."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.code.tools.answers import Check, Evidence, HealthAnswer

STATES = ("ok", "warning", "missing", "broken")
"""From best to worst. `warning`: works, but needs attention; `missing`: the other components still work."""


def health(checks: Sequence[Check], evidence: Evidence) -> HealthAnswer:
    """Return the overall state and the checks, worst first, otherwise in the given order.

    The state is `broken` if any check is, `degraded` if any is `warning` or `missing`, else `ok`.
    """
    worst = max((STATES.index(check.state) for check in checks), default=0)
    ordered = tuple(sorted(checks, key=lambda check: -STATES.index(check.state)))
    return HealthAnswer("health", ("ok", "degraded", "degraded", "broken")[worst], ordered, evidence)
