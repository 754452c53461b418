"""`atlas chat`: talk to a language model that uses the tools of this project and of other MCP servers."""

from __future__ import annotations

import atexit
import contextlib
import gc
import logging
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from atlas.cli import output
from atlas.cli.clients.recipes import Client, known_clients
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, examples, settings_of
from atlas.core.errors import AtlasError, ConfigError
from atlas.core.wording import counted

if TYPE_CHECKING:
    from atlas.chat.connection import ServerConnection
    from atlas.chat.server_spec import ServerSpec
    from atlas.chat.turn import TurnLimits
    from atlas.core.language_model import ChatModel
    from atlas.runtime.config.load import Settings

MAX_QUESTION = 1 << 20
"""Characters of a question on stdin."""

ConfigOption = Annotated[
    list[str] | None,
    typer.Option("--config", metavar="FILE", help="File with mcpServers (JSON, or TOML); repeatable."),
]
ImportOption = Annotated[
    list[Client] | None,
    typer.Option(
        "--import", metavar="CLIENT", help=f"Also your servers of an installed client: {known_clients()}; repeatable."
    ),
]
ImportProjectOption = Annotated[
    list[Client] | None,
    typer.Option(
        "--import-project", metavar="CLIENT", help="Also those of the project's file; asks about each one; repeatable."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    shown = examples(
        "atlas chat --model anthropic/claude-sonnet-4-5",
        "atlas chat --model ollama_chat/llama3.1 --api-base http://127.0.0.1:11434",
        "atlas chat --config ~/servers.json --import claude-code",
        "atlas chat --import-project claude-code",
        'atlas chat --once "who calls SessionStore.save?" --json',
    )
    app.command("chat", epilog=shown)(chat)


def chat(
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="NAME", help="As LiteLLM knows it. Default: language_model.model.")
    ] = "",
    api_base: Annotated[
        str, typer.Option("--api-base", metavar="URL", help="Address of the model's server, e.g. a local one.")
    ] = "",
    config: ConfigOption = None,
    import_: ImportOption = None,
    import_project: ImportProjectOption = None,
    once: Annotated[
        str, typer.Option("--once", metavar="QUESTION", help='Answer one question and exit; "-" reads it from stdin.')
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Call tools that change something without asking.")] = False,
    transcript: Annotated[
        str, typer.Option("--transcript", metavar="FILE", help="Keep the conversation in a file: .json, else Markdown.")
    ] = "",
    rounds: Annotated[int, typer.Option("--rounds", min=0, help="Requests per question; 0 = chat.rounds.")] = 0,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=0, help="Tokens per question; 0 = no limit.")] = 0,
    max_cost: Annotated[float, typer.Option("--max-cost", min=0, help="US dollars per question; 0 = no limit.")] = 0.0,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Talk to a language model that uses the tools of Code Atlas and of other MCP servers.

    Keys come from the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, ...). /help lists the commands of a chat.
    """
    import asyncio

    _hasten_start()
    from atlas.app.chat import make_chat_model, make_limits
    from atlas.cli.chat.servers import ask_on_terminal, chosen_servers

    settings = settings_of(project, data_dir)
    if json and not once:
        raise ConfigError("--json needs --once", "A chat in a terminal has no JSON form; --transcript keeps it.")
    if not once and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError("a chat needs a terminal", 'Ask one question with --once "...", or --once - for stdin.')
    chosen = make_chat_model(settings, model, api_base)
    confirm = ask_on_terminal if sys.stdin.isatty() and sys.stdout.isatty() else None
    servers, problems = chosen_servers(settings, config or (), import_ or (), import_project or (), confirm)
    for problem in problems:
        print(f"warning: {output.one_line(problem)}", file=sys.stderr)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    logging.getLogger("client").setLevel(logging.CRITICAL)
    limits = make_limits(settings, rounds, max_tokens, max_cost)
    kept = Path(transcript).expanduser() if transcript else None
    if once:
        question = sys.stdin.read(MAX_QUESTION) if once == "-" else once
        code = asyncio.run(_once(settings, servers, chosen, limits, question, kept, allow_all=yes, as_json=json))
    else:
        code = asyncio.run(_talk(settings, servers, chosen, limits, kept, allow_all=yes, api_base=api_base))
        _leave(code)
    if code:
        raise typer.Exit(code)


def _leave(code: int) -> NoReturn:
    """End the process without taking LiteLLM's modules apart one by one, which takes as long as their import.

    Transcripts are written and the servers have ended; what libraries want done at the end is done.
    """
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the terminal may be gone
            stream.flush()
    os._exit(code)


def _hasten_start() -> None:
    """Until the chat is ready, collect no garbage: imports make none. Pydantic needs no plug-ins of other packages."""
    gc.disable()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def _end_start() -> None:
    gc.freeze()
    gc.enable()


async def _once(
    settings: Settings,
    servers: tuple[ServerSpec, ...],
    model: ChatModel,
    limits: TurnLimits,
    question: str,
    transcript: Path | None,
    *,
    allow_all: bool,
    as_json: bool,
) -> int:
    """Answer one question; returns the exit code."""
    from atlas.app.chat import open_chat
    from atlas.chat.session import totals
    from atlas.chat.turn import TurnOutcome
    from atlas.cli.chat.once import PlainScreen
    from atlas.cli.chat.terminal import STOPPED, until_signal
    from atlas.cli.chat.transcript import write_transcript

    if not question.strip():
        raise ConfigError("the question is empty", 'Give it as --once "...".')
    screen = PlainScreen(allow_all=allow_all, quiet=as_json)
    document: dict[str, Any] = {}
    failed: list[AtlasError] = []

    def report(connection: ServerConnection) -> None:
        if connection.problem:
            screen.notice(f"{connection.spec.name} is not connected: {connection.problem}")

    async def work() -> None:
        async with open_chat(settings, servers, model, screen, screen, limits, report) as session:
            _end_start()
            try:
                outcome = await session.ask(question)
            except AtlasError as error:
                failed.append(error)
                return
            screen.end_text()
            if transcript is not None:
                write_transcript(transcript, session.conversation.messages, replace=True)
            answer = next((text for text in reversed(screen.texts) if text), "")
            document.update(
                answer=answer,
                outcome=str(outcome),
                model=session.model.name,
                usage=totals(session.spent),
                calls=screen.calls,
                servers={name: str(one.state) for name, one in session.hub.connections.items()},
                notices=screen.notices,
            )
            if outcome is not TurnOutcome.ANSWERED and not as_json:
                screen.notice(STOPPED[outcome])

    if code := await until_signal(work()):
        return code
    if failed:
        raise failed[0]
    if as_json:
        output.print_json(document)
    return 0 if document["outcome"] == str(TurnOutcome.ANSWERED) else 1


async def _talk(
    settings: Settings,
    servers: tuple[ServerSpec, ...],
    model: ChatModel,
    limits: TurnLimits,
    transcript: Path | None,
    *,
    allow_all: bool,
    api_base: str,
) -> int:
    """Talk in the terminal; returns the exit code."""
    from atlas.app.chat import make_chat_model, open_chat
    from atlas.cli.chat.screen import PrintableConsole
    from atlas.cli.chat.terminal import Terminal, until_signal

    console = PrintableConsole()
    terminal = Terminal(console, transcript, allow_all=allow_all)
    began = time.monotonic()

    def report(connection: ServerConnection) -> None:
        problem = f"not connected: {output.one_line(connection.problem)}" if connection.problem else ""
        tools = counted(len(connection.offer.tools), "tool")
        left_out = f", {counted(connection.offer.left_out, 'item')} left out" if connection.offer.left_out else ""
        line = f"{connection.spec.name}: {problem or tools}{left_out} ({time.monotonic() - began:.1f} s)"
        console.print(line, style="red" if problem else "dim")

    async def work() -> None:
        async with open_chat(settings, servers, model, terminal.screen, terminal.screen, limits, report) as session:
            _end_start()
            console.print(f"{model.name}; /help lists the commands", style="dim")
            await terminal.run(session, lambda name: make_chat_model(settings, name, api_base))

    return await until_signal(work(), terminal.interrupt)
