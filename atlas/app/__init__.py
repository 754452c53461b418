"""The composition root: turns settings into adapters, and adapters into the programs of the command line.

Settings come in, running programs go out. `main` opens an index for reading or writing, with the store of `store` and
the bus of `bus`. `daemon`, `worker` and `daemon_main` are the long-running processes, `daemon_process` starts one.
`toolsets` lists the tools that servers offer; `session` is one agent's session with them, and `freshness` keeps its
answers as new as the files. `health` looks at every part, `migrate` copies an index, `papers` and `chat` compose those
features.
"""
