"""When an event that was not acknowledged comes again, and when it is given up. The same rule for every bus."""

from __future__ import annotations

from dataclasses import dataclass

MAX_DEAD_LETTERS = 10_000
"""Dead letters beyond this number push out the oldest."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The rule of a bus; all processes that share a group must use the same one."""

    after: float = 60.0
    """Seconds without an answer after which a delivery is taken for lost: longer than the time between two `hold`."""
    attempts: int = 5
    """Deliveries of one event before it becomes a dead letter."""
    first_delay: float = 1.0
    """Seconds until an event comes again that failed once; doubles with every failure."""
    longest_delay: float = 60.0
    """Seconds the delay grows to, and never more than `after`."""

    def delay(self, attempt: int) -> float:
        """Return the seconds until an event comes again whose `attempt`-th delivery failed."""
        return min(self.first_delay * 2 ** (attempt - 1), self.longest_delay, self.after)

    def no_answer_reason(self, attempts: int) -> str:
        """Return the reason of a dead letter whose consumers never answered."""
        return f"delivered {attempts} times without an answer"
