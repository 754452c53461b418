"""Servers: MCP (`mcp`), papers over MCP (`papers`), what stands in front of HTTP (`http`), and editors (`editor`).

Messages of a client come in, answers of a session go out. `mcp` lists the tools of `atlas.app.toolsets`, checks the
arguments of a call and passes it to `atlas.app.session`; errors become answers with a hint. Resources, prompts and
completion take the same way.
"""
