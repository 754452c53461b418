"""The HTTP side of a server: who may come in, how many at once, and the process around it. Knows nothing of MCP."""
