"""How a setting is declared: a field of a dataclass with its help text and bounds; and one that is not obeyed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class IgnoredSetting:
    """What is wrong in a project's file, and therefore has no effect there."""

    why: str
    """One line that begins with the place."""
    hint: str

    @property
    def line(self) -> str:
        """The line, with the name that may be meant."""
        return (
            f"{self.why} ({self.hint[0].lower()}{self.hint[1:]})" if self.hint.startswith("Did you mean") else self.why
        )


def setting(
    default: Any,
    help_text: str,
    low: int = 0,
    high: int = 0,
    choices: tuple[str, ...] = (),
    *,
    secret: bool = False,
    key: bool = False,
    shared: bool = False,
    shared_high: int = 0,
) -> Any:
    """Declare a setting; `low` and `high` bound an integer (both 0 = unbounded), `choices` a string.

    `secret`: an address whose password is never shown. `key`: a secret of which nothing is shown. `shared`: a project's
    file may set it, a number no higher than `shared_high` (0 = the default).
    """
    metadata = {"help": help_text, "low": low, "high": high, "choices": choices, "secret": secret or key, "key": key}
    metadata |= {"shared": shared, "shared_high": shared_high or default}
    return field(default=default, repr=not metadata["secret"], metadata=metadata)
