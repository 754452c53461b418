"""Links between projects of a workspace, read from the index of each; nothing is written, and no store sees another.

`packages` tells which project provides a package that another declares or imports. `symbols` walks from the name that
one project imports to the definition in the other, through re-exports, bases and results; `uses` goes the other way,
from a definition to the places in another project that use it. `requests` matches calls by URL with routes, and events
by name. Each link has a rule and a confidence, as edges have; what cannot be told apart is said.
"""
