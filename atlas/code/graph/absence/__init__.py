"""What is known where the graph has no node or no edge.

`proof` is the gate that tells none from unknown: by the calls that no rule resolves (`unresolved`), and by where the
name stands in text, of skipped files as well (`occurrences`). `made_otherwise` says why a class may be made
without its name. `name_lines` and `handed_over` list such lines,
`renamed_imports` finds the symbol behind a name that only imports give, and `not_found` says why a name has no symbol.
Nothing here imports the rest of `graph`.
"""
