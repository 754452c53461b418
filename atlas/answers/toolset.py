"""A toolset: tools that are offered together, and what answers their calls within a session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from atlas.answers.answer import Answer
from atlas.answers.tool import Tool

Report = Callable[[float, float, str], Awaitable[None]]
"""(done, total, message) -> None: tells the client how far a long call is."""


async def no_report(done: float, total: float, message: str) -> None:
    """Discard the report."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a tool: name and version of the client, and where progress is told."""

    client: str = ""
    report: Report = no_report


UNKNOWN_CALLER = Caller()


class OpenToolset(Protocol):
    """What a session has opened for the tools of a toolset."""

    async def answer(self, tool: Tool, arguments: Mapping[str, object], caller: Caller = UNKNOWN_CALLER) -> Answer:
        """Return the answer of one of the tools to checked arguments. Raises AtlasError."""
        ...

    async def aclose(self) -> None:
        """Close; idempotent."""
        ...


HostT = TypeVar("HostT", contravariant=True)


@dataclass(frozen=True, slots=True)
class Toolset(Generic[HostT]):
    """Tools in the order of `tools/list`, and how a session prepares for their calls."""

    name: str
    tools: tuple[Tool, ...]
    open: Callable[[HostT], OpenToolset]
    """Called once in a session, before any call; cheap. Toolsets with the same function share what it returns."""
    instructions: str = ""
    """What the server tells a client at the start."""
    is_per_client: bool = False
    """It keeps what one client has done: clients that share a session have one each."""
