"""Contents of a source on disk or in an archive: paths with sizes, read one at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A regular file."""

    path: str
    """Below the root, with "/"."""
    size: int


class Tree(Protocol):
    """Files of a source. `problems` are entries that were refused, with the reason."""

    version: str
    licence: str
    package: bool
    problems: list[tuple[str, str]]

    def entries(self) -> Sequence[SourceFile]:
        """Return all files, sorted by path. Raises ConfigError for a source that cannot be read."""
        ...

    def read(self, wanted: Sequence[str], max_bytes: int) -> Iterator[tuple[str, bytes, bool]]:
        """Yield path, bytes and whether there were more than the limit, of the wanted files in any order."""
        ...
