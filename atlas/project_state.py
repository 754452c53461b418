"""The state of a project's index, which every answer cites, and the counts of its contents. Both are frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from atlas.model import ModelInfo


@dataclass(frozen=True, slots=True)
class ProjectState:
    """Root and index state of a project; cheap to read, for the evidence of every answer."""

    project: str
    root: str
    generation: int
    indexed_at: str
    """ISO 8601, UTC; "" when never indexed."""
    model: ModelInfo | None = None
    """Model of the stored vectors; None if there are none, or if the store does not record it."""
    host: str = field(default="", compare=False)
    """Host of the process that writes the project, if several hosts share a store."""


@dataclass(frozen=True, slots=True)
class ProjectStats:
    """Counts of one project in the store."""

    project: str
    root: str
    generation: int
    indexed_at: str
    """ISO 8601, UTC; "" when never indexed."""
    files: int
    nodes: Mapping[str, int]
    """By label."""
    edges: Mapping[str, int]
    """By type."""
    languages: Mapping[str, int]
    """Files by language."""
    resolved: int
    unresolved: int
    chunks: int
    vectors: int
    """Up-to-date vectors."""
    skipped: Mapping[str, int]
    """Files by reason."""
    problems: int
    """Files with problems."""
    bytes_on_disk: int
    model: ModelInfo | None = None
    strategies: Mapping[str, int] = field(default_factory=dict[str, int])
    """Edges by strategy."""
    stale_files: int = 0
    """Files known to have changed since they were indexed."""
    decisions: Mapping[str, int] = field(default_factory=dict[str, int])
    """Decisions of the significance gate so far, by reason."""
