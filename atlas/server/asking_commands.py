"""Answers to commands that ask, such as `atlas search` and `status`: what a process of their own would print.

Such a process makes the first index while it shows its progress, and reports a failure of the store: where one of these
is to happen, it is told to.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from atlas.answers.answer import exit_code_of, printed
from atlas.app.toolsets import BY_NAME
from atlas.core.errors import AtlasError, ConfigError, NotFound, QueryError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from atlas.runtime.config.load import Settings
    from atlas.server.shared_sessions import ClientSession

logger = logging.getLogger("atlas.sessions")

CLIENT = "cli"
TOOLS = ("hybrid_search", "text_search", "vector_search", "get_node", "get_context", "impact", "cypher_query", "status")
"""Tools that these commands call: they read, and never ask the client anything."""
BY_INPUT = (ConfigError, NotFound, QueryError)
"""Errors that another process would raise as well."""


def check_answerable(settings: Settings, hello: Mapping[str, Any]) -> None:
    """Raise ConfigError for a call that a process of the command would answer otherwise."""
    if hello.get("tool") not in TOOLS:
        raise ConfigError(f"not a tool of a command: {hello.get('tool')}")
    if not settings.mcp.allow_index:
        raise ConfigError("agents may not index newer files here, and commands may")


async def answer_command(session: ClientSession, hello: Mapping[str, Any]) -> dict[str, object]:
    """Return text and exit code, or the error; {} where the command is to ask itself."""
    tool = BY_NAME[hello["tool"]]
    try:
        if not await session.is_finished():
            return {}
        answer = await session.answer(tool, dict(hello["arguments"]), CLIENT)
        text = await asyncio.to_thread(printed, answer, str(hello["cursor"]), as_json=bool(hello["json"]))
        return {"text": text, "code": exit_code_of(answer)}
    except AtlasError as error:
        if type(error) not in BY_INPUT:
            return {}  # the command says why
        more = {name: getattr(error, name) for name in ("near", "line", "column") if hasattr(error, name)}
        told = {"kind": type(error).__name__, "message": error.message, "hint": error.hint, "more": more}
        return {"error": told}
    except Exception:  # the boundary of a command: it fails by itself, and says how
        logger.exception("a command could not be answered")
        return {}
