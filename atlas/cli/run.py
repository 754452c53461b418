"""Run one tool for a command and print its answer.

An answer without a match exits as NotFound does, one that does not fit its token budget as ConfigError does. An
answer without a hit from an index whose first pass is not finished exits as NotFound, too.
"""

from __future__ import annotations

import sys
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, TypeVar

import typer

from atlas.cli import output
from atlas.core.errors import ConfigError, NotFound

if TYPE_CHECKING:
    from atlas.answers.answer import Answer
    from atlas.runtime.config.load import Settings


ResultT = TypeVar("ResultT")

CLIENT = "cli"
"""Client of the notes that a person writes at the terminal."""


def given(**arguments: object) -> dict[str, object]:
    """Return the given arguments: neither empty nor 0."""
    return {name: value for name, value in arguments.items() if value not in ("", 0, [])}


def ask(settings: Settings, tool: str, arguments: Mapping[str, object], *, as_json: bool) -> None:
    """Call one tool and print its answer, as text or as the JSON of the whole answer."""
    show(run(_ask(settings, tool, arguments)), as_json=as_json)


def run(work: Coroutine[object, object, ResultT]) -> ResultT:
    """Run a coroutine to completion; `asyncio` is imported here because `atlas --help` does not need it."""
    import asyncio

    return asyncio.run(work)


def show(answer: Answer, *, as_json: bool) -> None:
    """Print an answer; exit as NotFound does for a name without a single match, as ConfigError if cut."""
    from atlas.answers.answer import to_dict

    shown = answer.without_actions()  # agents make calls, people read
    if as_json:
        output.print_json(to_dict(answer))
    elif sys.stdout.isatty() and not answer.evidence.below_floor:
        from atlas.cli.show import print_answer

        print_answer(shown)
    else:
        # Skips terminal libraries, because scripts call this often.
        print(output.plain(shown.render(output.CURSOR_OPTION)))
    if answer.evidence.below_floor:
        raise typer.Exit(ConfigError.exit_code)
    result = answer.result()
    if result.is_missing or (result.is_empty and not answer.evidence.indexed_at):
        raise typer.Exit(NotFound.exit_code)


async def _ask(settings: Settings, tool: str, arguments: Mapping[str, object]) -> Answer:
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
