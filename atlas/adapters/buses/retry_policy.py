"""When an unacknowledged event is redelivered, and when it becomes a dead letter. The same rule for every bus."""

from __future__ import annotations

from dataclasses import dataclass

from atlas.core.wording import counted

MAX_DEAD_LETTERS = 10_000
"""Beyond this number, the oldest dead letters are removed."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The policy of a bus; all processes that share a group must use the same one."""

    after: float = 60.0
    """Seconds without an answer after which a delivery counts as lost; more than between two `extend_visibility`."""
    attempts: int = 5
    """Deliveries of one event before it becomes a dead letter."""
    first_delay: float = 1.0
    """Seconds until redelivery after the first failure; doubles with every failure."""
    longest_delay: float = 60.0
    """The longest delay in seconds; `after` also limits it."""

    def delay(self, attempt: int) -> float:
        """Return the seconds until redelivery after the failure of this delivery (1 = the first)."""
        return min(self.first_delay * 2 ** (attempt - 1), self.longest_delay, self.after)

    def no_answer_reason(self, attempts: int) -> str:
        """Return the reason of a dead letter whose consumers never answered."""
        return f"delivered {counted(attempts, 'time')} without an answer"
