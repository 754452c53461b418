"""A tool's name and its checked arguments in, its answer out: the one table from names to functions.

`index` and `health` are not in it: they need more than an index that is open for reading.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from atlas.api import Atlas
from atlas.tools.answers import Answer
from atlas.tools.graph import cypher_query, schema_info
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
    "status": status,
    "schema_info": schema_info,
}


async def call(atlas: Atlas, name: str, arguments: Mapping[str, object]) -> Answer:
    """Answer a tool call whose arguments fit the tool's schema. Raises AtlasError as the tool does."""
    return await FUNCTIONS[name](atlas, **arguments)
