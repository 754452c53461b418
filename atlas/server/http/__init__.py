"""The HTTP server: access control, limits, connections and worker processes. Knows nothing of MCP."""
