"""The tools of Code Atlas: coroutines that take an `Atlas` first, called by the command line and the MCP server.

They return the frozen dataclasses of `answers`; `render` formats one as text, `to_dict` as JSON values.
"""
