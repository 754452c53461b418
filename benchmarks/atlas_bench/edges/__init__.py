"""CALLS edges of any tree against a language server, run by `atlas bench edges`.

`graph` reads the index, `language_server` asks, `judge` compares, `report` counts.
"""
