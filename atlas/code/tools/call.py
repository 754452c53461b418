"""Dispatch of tool calls by name.

`index` and `health` are not in the table because they need more than an index that is open for reading.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from atlas.answers.answer import Answer
from atlas.code.atlas import Atlas
from atlas.code.tools.cypher import cypher_query, schema_info
from atlas.code.tools.impact import impact
from atlas.code.tools.search.search import hybrid_search, text_search, vector_search
from atlas.code.tools.state.index import status
from atlas.code.tools.symbol.node import get_context, get_node

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
