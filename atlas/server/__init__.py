"""Servers: MCP over stdio and HTTP (`mcp`), papers over MCP (`papers`), and what stands in front of HTTP (`http`).

Messages of a client come in, answers of a session go out. `mcp` lists the tools of `atlas.app.toolsets`, checks the
arguments of a call and passes it to `atlas.app.session`; errors become answers with a hint. Resources, prompts and
completion take the same way.
"""
