"""Commands about code: index, search, node, context, cypher, impact, export."""
