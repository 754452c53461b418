"""The `atlas` command: one thin module per command family over `atlas.app` and the tools of the features.

Words of a command line come in; text, tables or JSON on standard output and an exit code go out. `main` is the entry
and turns errors into lines; `app` builds the tree of commands, none of which is imported before it runs. `options`
turns options into settings, `run` asks a tool, `show` and `output` print. The families: `code`, `knowledge`, `packs`,
`papers`, `chat`, `daemon`; `mcp` and `over_http` serve agents, `connect` with `clients` edits their configuration.
"""
