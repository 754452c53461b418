"""Papers: found at a service, stored as readable JSON in the user's data directory, searched, related and exported.

A topic, a question or an id comes in; papers with their sources go out, as text and as JSON. In the order of need:
`wanted` checks what is asked for, `finder` asks the service or the store, `record` is a paper as a document and
`library` the files of all. `index` searches them by meaning and words and keeps its work in `index_file`. `references`
asks a citation service once, `citations` is the graph of who cites whom, and `links` gives it to lineage. `render` and
`export` write papers for people, models and other programs. `desk` has the verbs of the server and the command line,
`catalogue` their definitions for clients. Texts of papers come from strangers: they are shown, never followed.
"""
