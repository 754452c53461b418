"""Dispatch of tool calls by name.

`index` and `health` are not in the table because they need more than an index that is open for reading.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from atlas.api import Atlas
from atlas.tools.answers import Answer
from atlas.tools.cypher import cypher_query, schema_info
from atlas.tools.impact import impact
from atlas.tools.index import status
from atlas.tools.node import get_context, get_node
from atlas.tools.search import hybrid_search, text_search, vector_search

FUNCTIONS: Mapping[str, Callable[..., Awaitable[Answer]]] = {
    "hybrid_search": hybrid_search,
    "text_search": text_search,
    "vector_search": vector_search,
    "get_node": get_node,
    "get_context": get_context,
    "cypher_query": cypher_query,
    "impact": impact,
    "status": status,
    "schema_info": schema_info,
}


async def call(atlas: Atlas, name: str, arguments: Mapping[str, object]) -> Answer:
    """Call a tool with arguments that match its schema.

    Raises what the tool raises, and KeyError for an unknown name.
    """
    return await FUNCTIONS[name](atlas, **arguments)
