"""What the user has answered about tools. "Always" holds for a tool as it was shown, "never" for its name. Pure.

A tool is known by its server's description and its own name: not by the name that the model sees, which depends on what
other servers offer.
"""

from __future__ import annotations

from atlas.chat.offer import definition_of
from atlas.chat.routes import ToolRoute
from atlas.core.line_diff import unified

Key = tuple[str, str, tuple[str, ...], str, str]

MAX_WIDTH = 200
"""Characters of a line of a definition: a description is one long line, of which only a part has changed."""


class Approvals:
    """The answers of one chat; they end with it."""

    def __init__(self) -> None:
        self._always: dict[Key, str] = {}
        self._never: set[Key] = set()
        self._shown: dict[Key, str] = {}

    def allows(self, route: ToolRoute) -> bool:
        """Return whether the user has answered "always" for the tool as it is now."""
        return self._always.get(_key(route)) == definition_of(route.tool)

    def refuses(self, route: ToolRoute) -> bool:
        """Return whether the user has answered "never"."""
        return _key(route) in self._never

    def changes(self, route: ToolRoute) -> list[str]:
        """Return how the tool differs from what the user has seen of it, as lines; [] if it does not.

        What he has not been asked about counts as seen as it was when the server was connected.
        """
        seen = self._shown.get(_key(route)) or route.server.declared.get(route.tool.name)
        now = definition_of(route.tool)
        self._shown[_key(route)] = now
        if seen is None:
            return ["+ a tool that the server did not have when it was connected", *_lines(now)]
        return unified(_lines(seen), _lines(now))[3:]

    def always(self, route: ToolRoute) -> None:
        """Call the tool unasked from now on, as long as it stays as it is."""
        self._always[_key(route)] = definition_of(route.tool)

    def never(self, route: ToolRoute) -> None:
        """Never call the tool, whatever it becomes."""
        self._never.add(_key(route))


def _key(route: ToolRoute) -> Key:
    spec = route.server.spec
    return spec.name, spec.command, spec.arguments, spec.url, route.tool.name


def _lines(definition: str) -> list[str]:
    lines = definition.replace("\\n", "\\n\n").split("\n")
    return [line[at : at + MAX_WIDTH] for line in lines for at in range(0, max(1, len(line)), MAX_WIDTH)]
