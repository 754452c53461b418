"""Code as a graph: files come in, answers about symbols, relations and changes go out.

Write path: `index` turns changed files into events, facts, edges and vectors in the store. Read path: `question` reads
what is asked, `retrieve` finds candidates by name, words, meaning and graph, `rank` orders them, `graph` follows edges,
`changes` compares revisions, `notes` reads what notes say about code; `answerers` lists the kinds of questions that
these answer, and `find` is the whole path on one screen. `tools` are the verbs of agents and of the command line.
`index` and the read path meet in the store only.
"""
