"""The agent-facing verbs. Plain coroutines that take an `Atlas` first; the command line and the MCP server both call them.

They return the frozen dataclasses of `answers`; `render` turns one into text, `to_dict` into JSON values.
"""
