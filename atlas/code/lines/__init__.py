"""Answers that are lines of the indexed texts: what the graph does not hold, but the files of the project say.

Each module answers one kind of question: environment variables (`environment`), command line flags (`flags`), settings
and their defaults (`settings`), versions (`versions`), when something was added or removed (`releases`), what a handler
of exceptions catches (`caught`). `absent/` says which words, names and options of a question no code has. `scan_texts`
reads the texts, within bounds; `line_report` is the value of an answer.
"""
