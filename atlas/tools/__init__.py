"""The agent-facing verbs: plain coroutines that take an `Atlas` first, called by the command line and the MCP server.

They return the frozen dataclasses of `answers`; `render` turns one into text, `to_dict` into JSON values.
"""
