"""The result of comparing a tree with its index; see `tree_check`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NewerFiles:
    """Files whose content on disk is not that of the index, each group sorted by path."""

    new: tuple[str, ...] = ()
    """Not in the index yet."""
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    """In the index, but no longer on disk or no longer in the scope of the project."""

    @property
    def paths(self) -> tuple[str, ...]:
        """All of them; those that exist on disk first."""
        return (*self.new, *self.changed, *self.deleted)
