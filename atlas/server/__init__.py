"""Servers: MCP over stdio and HTTP (`mcp`), papers over MCP (`papers`), and what stands in front of HTTP (`http`)."""
