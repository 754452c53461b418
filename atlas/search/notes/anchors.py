"""The state of what notes are about: whether the code is still the one that a note was written for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The state of an anchor."""

    FRESH = "fresh"
    CHANGED = "changed"
    MOVED = "moved"
    GONE = "gone"
    UNKNOWN = "unknown"
    """The note has no digest of it, so a change cannot be seen."""


@dataclass(frozen=True, slots=True)
class AnchorState:
    """One anchor of a note, compared with the index."""

    kind: str
    """symbol, file, route or package."""
    target: str
    state: State
    changed: tuple[str, ...] = ()
    """What differs: signature, body, docstring."""
    at: str = ""
    """`path:line` of it now, or of where it went; "" if it is gone."""
    moved_to: str = ""
    """Qualified name of what has its body now."""
    commit: str = ""
    """Commit of the code when the note was written or reaffirmed."""

    @property
    def is_suspect(self) -> bool:
        """Whether the note may no longer hold."""
        return self.state in (State.CHANGED, State.MOVED, State.GONE)
