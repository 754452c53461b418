"""The line editor: history, several lines (Alt-Enter), and completion of commands, prompts, resources and arguments."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator

import mcp_types as types
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from atlas.chat.hub import Hub
from atlas.chat.references import variables
from atlas.chat.routes import PromptRoute
from atlas.cli.chat.commands import NAMES
from atlas.core.invisible import one_line

MAX_COMPLETIONS = 50


class ChatCompleter(Completer):
    """Completes what servers and commands offer; values of arguments are asked of the server."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Yield nothing: completion is asynchronous, see `get_completions_async`."""
        return iter(())

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Yield completions of the word before the cursor."""
        before = document.text_before_cursor
        word = before.split()[-1] if before and not before[-1].isspace() else ""
        found: list[tuple[str, str]] = []
        if word.startswith("@"):
            found = await self._resources(word[1:])
        elif before.startswith("/") and " " not in before:
            found = [(name, "") for name in NAMES]
            found += [(f"/{route.name}", "prompt") for route in self._hub.prompts()]
        elif before.startswith("/"):
            found = await self._arguments(before.split()[0][1:], before.split()[1:], word)
        shown = 0
        for text, described in found:
            if text.startswith(word) and shown < MAX_COMPLETIONS:
                shown += 1
                yield Completion(one_line(text), -len(word), display_meta=one_line(described, 60))

    async def _resources(self, typed: str) -> list[tuple[str, str]]:
        """Return references to resources; behind `name(key=` also the server's values."""
        found: list[tuple[str, str]] = []
        for route in self._hub.resources():
            if not route.is_template:
                found += [(f"@{route.uri}", route.name), (f"@{route.name}", route.uri)]
                continue
            names = variables(route.uri)
            opened = f"{route.name}("
            if typed.startswith(opened) and names:
                start, _, last = typed.rpartition(",") if "," in typed else ("", "", typed.removeprefix(opened))
                key, equals, value = last.partition("=")
                prefix = f"@{start}," if start else f"@{opened}"
                if equals:
                    reference = types.ResourceTemplateReference(type="ref/resource", uri=route.uri)
                    values = await route.server.complete(reference, key, value)
                    found += [(f"{prefix}{key}={one}", "") for one in values]
                else:
                    found += [(f"{prefix}{name}=", "") for name in names]
            else:
                found.append((f"@{opened}", route.uri))
        return found

    async def _arguments(self, command: str, words: list[str], word: str) -> list[tuple[str, str]]:
        """Return the arguments of a prompt, or names of prompts and servers."""
        routes = {route.name: route for route in self._hub.prompts()}
        if command == "prompt":
            if not words or (len(words) == 1 and word):
                return [(name, "") for name in routes]
            command = words[0]
        if command == "servers":
            return [(name, "") for name in self._hub.connections]
        route = routes.get(command)
        return await self._prompt_values(route, word) if route is not None else []

    async def _prompt_values(self, route: PromptRoute, word: str) -> list[tuple[str, str]]:
        key, equals, value = word.partition("=")
        if not equals:
            return [(f"{one.name}=", one.description or "") for one in route.prompt.arguments or ()]
        reference = types.PromptReference(type="ref/prompt", name=route.prompt.name)
        return [(f"{key}={one}", "") for one in await route.server.complete(reference, key, value)]


def make_editor(hub: Hub) -> PromptSession[str]:
    """Return the editor: Enter sends, Alt-Enter begins a new line. Its history ends with the chat."""
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return PromptSession(
        history=InMemoryHistory(),
        completer=ChatCompleter(hub),
        complete_while_typing=False,
        key_bindings=keys,
        enable_open_in_editor=False,
    )
