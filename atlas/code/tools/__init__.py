"""The tools of Code Atlas: coroutines that take an `Atlas` first, called by the command line and the MCP server.

They return answers, which know their text and their structured content.
"""
