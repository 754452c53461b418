"""What a build of a pack is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

from atlas.packs.documentation.sources.values import CollectOptions


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to build."""

    name: str
    sources: tuple[str, ...]
    version: str = ""
    """Of the pack; by default that of the library, else 1."""
    library: str = ""
    """The library that it documents; by default the package that is its source."""
    library_version: str = ""
    ecosystem: str = ""
    description: str = ""
    options: CollectOptions = field(default_factory=CollectOptions)
    folder: str = ""
    """Folder at which relative paths start; by default the current one."""
    private: tuple[str, ...] | None = None
    """Hosts that may be on this machine or its network; None: those of the sources, which the user has named."""
