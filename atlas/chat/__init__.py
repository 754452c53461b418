"""A host of MCP servers for people: conversations with a language model that calls the servers' tools.

Server descriptions, a chat model and a screen come in; calls of tools and events for the screen go out. The package
knows no settings, no terminal and no provider.
"""
