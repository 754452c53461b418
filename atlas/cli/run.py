"""Run one tool for a command and print its answer.

An answer without a match exits as NotFound does, one that does not fit its token budget as ConfigError does. An
answer without a hit from an index whose first pass is not finished exits as NotFound, too.
"""

from __future__ import annotations

import sys
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, TypeVar

from atlas.cli import output
from atlas.cli.requests import AskRequest
from atlas.cli.requests import given as given

if TYPE_CHECKING:
    from atlas.answers.answer import Answer
    from atlas.runtime.config.load import Settings


ResultT = TypeVar("ResultT")

CLIENT = "cli"
"""Client of the notes that a person writes at the terminal."""


def ask(settings: Settings, tool: str, arguments: Mapping[str, object], *, as_json: bool) -> None:
    """Call one tool and print its answer, as text or as the JSON of the whole answer."""
    show(run(answer_of(settings, tool, arguments)), as_json=as_json)


def ask_and_print(settings: Settings, request: AskRequest, *, as_json: bool) -> int:
    """Call one tool, print its answer as `ask` does, and return the exit code."""
    return _print(run(answer_of(settings, *request)), as_json=as_json)


def run(work: Coroutine[object, object, ResultT]) -> ResultT:
    """Run a coroutine to completion; `asyncio` is imported here because `atlas --help` does not need it."""
    import asyncio

    return asyncio.run(work)


def show(answer: Answer, *, as_json: bool) -> None:
    """Print an answer; exit as NotFound does for a name without a single match, as ConfigError if cut."""
    if code := _print(answer, as_json=as_json):
        import typer

        raise typer.Exit(code)


def _print(answer: Answer, *, as_json: bool) -> int:
    """Print an answer and return the exit code that it means."""
    from atlas.answers.answer import exit_code_of, printed

    if sys.stdout.isatty() and not as_json and not answer.evidence.below_floor:
        from atlas.cli.show import print_answer

        print_answer(answer.without_actions())  # agents make calls, people read
    else:
        # Skips terminal libraries, because scripts call this often.
        sys.stdout.write(printed(answer, output.CURSOR_OPTION, as_json=as_json, indent=2 * sys.stdout.isatty()))
    return exit_code_of(answer)


async def answer_of(settings: Settings, tool: str, arguments: Mapping[str, object]) -> Answer:
    """Return the answer of one tool. Raises AtlasError as the tool does."""
    from atlas.app.session import make_session
    from atlas.app.toolsets import BY_NAME
    from atlas.cli.code.index_pass import make_first_index
    from atlas.code.tools.catalogue import QUERIES

    # notes and packs can be written and read without an index of the code
    asks_code = any(each.name == tool for each in QUERIES)
    session = make_session(settings, first_index=make_first_index if asks_code else None)
    try:
        return await session.answer(BY_NAME[tool], arguments, CLIENT)
    finally:
        await session.aclose()
