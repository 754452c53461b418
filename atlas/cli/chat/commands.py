"""The commands of a chat (`/tools`, `/servers`, ...): a line that begins with "/" -> what it shows or changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.chat.session import ChatSession, near_names, split_words
from atlas.cli import output
from atlas.cli.chat.transcript import write_transcript
from atlas.core.errors import ConfigError, NotFound
from atlas.core.invisible import one_line
from atlas.core.wording import counted, counts

if TYPE_CHECKING:
    from rich.console import Console

    from atlas.core.language_model import ChatModel

HELP = (
    ("/tools [WORDS]", "the tools of all servers"),
    ("/resources", "resources and templates; @name or @address in a question attaches one, alone it shows it"),
    ("/prompts", "the prompts of all servers"),
    ("/prompt NAME KEY=VALUE...", "run a prompt; /NAME KEY=VALUE... does the same"),
    ("/servers [NAME]", "the servers and their state; of one, also what it wrote to stderr"),
    ("/model [NAME]", "the language model; with a name, go on with another one"),
    ("/cost", "tokens, cost and calls so far"),
    ("/save FILE", "write the conversation to a file: .json, else Markdown"),
    ("/clear", "begin a new conversation"),
    ("/help", "this list"),
    ("/quit", "end; also quit, exit and Ctrl-D"),
)

NAMES = tuple(line.split()[0] for line, _ in HELP)


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands of one chat."""

    session: ChatSession
    console: Console
    make_model: Callable[[str], ChatModel]
    run_prompt: Callable[[str, list[str]], Awaitable[None]]

    async def run(self, line: str) -> bool:
        """Run a command; returns whether the chat goes on. Raises AtlasError, NotFound for an unknown one."""
        name, _, rest = line[1:].partition(" ")
        words = split_words(rest)
        match name:
            case "quit" | "exit":
                return False
            case "help" | "":
                self.console.print(output.table(("", ""), HELP))
            case "tools":
                self._tools([word.lower() for word in words])
            case "resources":
                self._resources()
            case "prompts":
                self._prompts()
            case "servers":
                self._servers(words)
            case "model":
                await self._model(words)
            case "cost":
                self._cost()
            case "save":
                self._save(words)
            case "clear":
                self.session.clear()
                self.console.print("a new conversation")
            case "prompt":
                if not words:
                    raise ConfigError("/prompt needs a name", "See /prompts.")
                await self.run_prompt(words[0], words[1:])
            case _:
                await self._named_prompt(name, words)
        return True

    async def _named_prompt(self, name: str, words: list[str]) -> None:
        """Run `/NAME`, a prompt. Raises NotFound with similar commands."""
        names = [route.name for route in self.session.hub.prompts()]
        if name not in names:
            known = [*(one[1:] for one in NAMES), *names]
            raise NotFound(f"unknown command /{one_line(name, 64)}", "See /help.", near_names(name, known))
        await self.run_prompt(name, words)

    def _tools(self, words: list[str]) -> None:
        routes = self.session.hub.tools()
        rows = [
            (
                route.name,
                route.server.spec.name,
                "reads" if route.read_only else "asks first",
                first_line(route.tool.description),
            )
            for route in routes
            if all(word in f"{route.name} {route.tool.description}".lower() for word in words)
        ]
        self._table(("tool", "server", "", "what it does"), rows, "no server offers such tools")

    def _resources(self) -> None:
        rows = [
            (f"@{route.name}", route.uri, route.server.spec.name, first_line(route.description))
            for route in self.session.hub.resources()
        ]
        self._table(("resource", "address", "server", "what it holds"), rows, "no server offers resources")

    def _prompts(self) -> None:
        rows = [
            (
                route.name,
                " ".join(one.name if one.required else f"[{one.name}]" for one in route.prompt.arguments or ()),
                route.server.spec.name,
                first_line(route.prompt.description),
            )
            for route in self.session.hub.prompts()
        ]
        self._table(("prompt", "arguments", "server", "what it asks"), rows, "no server offers prompts")

    def _servers(self, words: list[str]) -> None:
        connections = self.session.hub.connections
        if words:
            if words[0] not in connections:
                raise NotFound(f"no server {words[0]!r}", "See /servers.", near_names(words[0], list(connections)))
            one = connections[words[0]]
            state = f"{one.state}{f': {one.problem}' if one.problem else ''}"
            place = f"{one.spec.place} ({one.spec.origin})"
            self.console.print(one_line(f"{place}, {one.offer.version or 'version not said'}, {state}"))
            for line in one.stderr:
                self.console.print(f"  {one_line(line)}")
            return
        rows = [
            (
                name,
                str(one.state),
                one.protocol,
                len(one.offer.tools),
                f"{one.seconds:.1f} s",
                one.restarts,
                one.problem,
            )
            for name, one in connections.items()
        ]
        self._table(("server", "state", "protocol", "tools", "start", "restarts", "problem"), rows, "no servers")

    async def _model(self, words: list[str]) -> None:
        if words:
            model = self.make_model(words[0])
            await model.load()
            self.session.change_model(model)
        self.console.print(self.session.model.name)

    def _cost(self) -> None:
        spent = self.session.spent
        price = f"{spent.cost:.4f} USD" if spent.cost else "unknown cost"
        self.console.print(
            f"{counted(spent.input_tokens, 'token')} in, {spent.output_tokens} out, {price}, "
            f"{counts((spent.requests, 'request'), (spent.calls, 'tool call'))}; "
            f"the conversation has {counted(self.session.conversation.tokens, 'token')}"
        )

    def _save(self, words: list[str]) -> None:
        if len(words) != 1:
            raise ConfigError("/save needs one file name", "For example: /save chat.md")
        path = Path(words[0]).expanduser()
        write_transcript(path, self.session.conversation.messages, replace=False)
        self.console.print(f"saved to {path}")

    def _table(self, columns: tuple[str, ...], rows: Sequence[Sequence[object]], empty: str) -> None:
        self.console.print(output.table(columns, rows) if rows else empty)


def first_line(text: str | None) -> str:
    """Return the first line of a description."""
    return one_line((text or "").strip().partition("\n")[0], 120)
