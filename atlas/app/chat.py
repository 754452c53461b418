"""Composition of a chat: settings and servers -> a session with a model, connected to every server."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from atlas.core.errors import ConfigError

if TYPE_CHECKING:
    from atlas.chat.connection import ServerConnection
    from atlas.chat.server_spec import ServerSpec
    from atlas.chat.servers_user import Host
    from atlas.chat.session import ChatSession
    from atlas.chat.turn import Screen, TurnLimits
    from atlas.core.language_model import ChatModel
    from atlas.runtime.config.load import Settings

NO_KEY = "none"
"""Sent to servers with OpenAI's interface without a key, such as llama.cpp: LiteLLM refuses to send no key at all."""

LOAD_AFTER = 2.5
"""Seconds after which the library of language models is imported while servers are still starting."""


def make_chat_model(settings: Settings, name: str, url: str) -> ChatModel:
    """Return the named model, or the configured one. Raises ConfigError if none is named."""
    from atlas.adapters.language_models.chat import LiteLlmChatModel

    chosen = settings.language_model
    if not (name or chosen.model):
        raise ConfigError(
            "no language model is named",
            "Give --model, such as anthropic/claude-sonnet-4-5 (key: ANTHROPIC_API_KEY) or ollama_chat/llama3.1 with "
            "--api-base http://127.0.0.1:11434, or set language_model.model.",
        )
    # the configured key belongs to the configured address: another provider must not get it
    own = not url and name in ("", chosen.model)
    model, address = name or chosen.model, url or (chosen.url if own else "")
    key = chosen.api_key if own or not url else ""
    if not key and address and model.startswith("openai/") and not os.environ.get("OPENAI_API_KEY"):
        key = NO_KEY
    return LiteLlmChatModel(model, address, key, float(chosen.timeout_seconds))


def make_limits(settings: Settings, rounds: int, tokens: int, cost: float) -> TurnLimits:
    """Return the limits of a question: those given, else the settings'."""
    from atlas.chat.turn import TurnLimits

    chat = settings.chat
    return TurnLimits(rounds or chat.rounds, tokens, cost, chat.result_tokens, chat.context_tokens)


@asynccontextmanager
async def open_chat(
    settings: Settings,
    servers: Sequence[ServerSpec],
    model: ChatModel,
    screen: Screen,
    host: Host,
    limits: TurnLimits,
    report: Callable[[ServerConnection], None],
) -> AsyncGenerator[ChatSession]:
    """Connect all servers for the duration of the block; every process has ended behind it."""
    from importlib.metadata import version

    import mcp_types as types

    from atlas.chat.connection import Limits, ServerConnection
    from atlas.chat.hub import Hub
    from atlas.chat.session import ChatSession
    from atlas.parsing import Cl100kCounter

    client = types.Implementation(name="atlas-chat", version=version("code-atlas"))
    connections = [ServerConnection(spec, client, (settings.root,), host) for spec in servers]
    for connection in connections:
        connection.limits = Limits(float(settings.chat.connect_seconds), float(settings.chat.call_seconds))
    hub = Hub(connections)
    loading: asyncio.Task[None] | None = None
    starting = asyncio.create_task(hub.start(report))
    try:
        # the import costs as much processor time as several servers need to start: it comes after them, unless they
        # make the chat wait
        await asyncio.wait([starting], timeout=LOAD_AFTER)
        loading = asyncio.create_task(model.load())
        await starting
        yield ChatSession(hub, model, Cl100kCounter(), screen, limits)
    finally:
        starting.cancel()
        await asyncio.wait([starting])
        await hub.close()
        if loading is not None:
            loading.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConfigError):
                await loading
