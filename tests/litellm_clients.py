"""LiteLLM's connections: it keeps them for the life of a process, and an event loop of a test ends earlier."""

from __future__ import annotations

import sys


async def close_litellm_clients() -> None:
    """Close all connections in the loop that opened them; else a later test fails with a warning about open sockets."""
    library = sys.modules.get("litellm")
    if library is not None:
        await library.close_litellm_async_clients()
        library.in_memory_llm_clients_cache.flush_cache()
