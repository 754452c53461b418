"""The state of a project's index, which every answer cites, and the counts of its contents. Both are frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from atlas.core.model import CODE, ModelInfo


@dataclass(frozen=True, slots=True)
class ProjectState:
    """Root and index state of a project; cheap to read, for the evidence of every answer."""

    project: str
    root: str
    generation: int
    indexed_at: str
    """ISO 8601, UTC; "" when never indexed."""
    models: tuple[ModelInfo, ...] = ()
    """Models of the stored vectors, one for each space with vectors, by name of the space."""
    host: str = field(default="", compare=False)
    """Host of the process that writes the project, if several hosts share a store."""
    unread: bool = False
    """Whether folders may be missing because their ignore files have too many rules: see `Skipped.unread`."""

    def model(self, space: str = CODE) -> ModelInfo | None:
        """Return the model of the vectors of a space, None if there are none."""
        return model_of(self.models, space)


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
    """Up-to-date vectors of the space of each node."""
    skipped: Mapping[str, int]
    """Files by reason."""
    problems: int
    """Files with problems."""
    bytes_on_disk: int
    models: tuple[ModelInfo, ...] = ()
    """See `ProjectState.models`."""
    strategies: Mapping[str, int] = field(default_factory=dict[str, int])
    """Edges by strategy."""
    stale_files: int = 0
    """Files known to have changed since they were indexed."""
    decisions: Mapping[str, int] = field(default_factory=dict[str, int])
    """Decisions of the significance gate so far, by reason."""
    quality_chunks: int = 0
    """Texts that the space `QUALITY` embeds in addition, whether or not it is used."""
    quality_vectors: int = 0
    """Up-to-date vectors of that space."""
    began_from: str = ""
    """What the index was copied from when it was made; "" for one that was made from files, and on servers."""

    def model(self, space: str = CODE) -> ModelInfo | None:
        """Return the model of the vectors of a space, None if there are none."""
        return model_of(self.models, space)


def model_of(models: Iterable[ModelInfo], space: str) -> ModelInfo | None:
    """Return the model of a space, None if there is none."""
    return next((model for model in models if model.space == space), None)


def now() -> str:
    """Return the current time in UTC, ISO 8601 with seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")
