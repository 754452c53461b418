"""A host of MCP servers for people: conversations with a language model that calls the servers' tools.

Server descriptions, a chat model and a screen come in; calls of tools and events for the screen go out. The package
knows no settings, no terminal and no provider.

In the order of need: `server_spec` reads how servers are described, `transport` and `stdio` reach one within limits
of size and pace (`token_bucket`), `connection` owns its session, and `offer` is what it has. `hub` connects all of
them and gives one table of names (`routes`). `session` is one chat: a line of the user becomes a question, with
`references` to resources; `turn` is the loop of model and tools; `conversation` keeps the messages within a token
budget. `content` turns results into text, `schemas` checks arguments and results, `reading` is the model's tool for
resources, `servers_user` what a server may ask of the user, and `approvals` what the user has answered about tools.
"""
