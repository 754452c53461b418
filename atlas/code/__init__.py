"""Code as a graph: files come in, answers about symbols, relations and changes go out.

Write path: `index` turns changed files into events, facts, edges and vectors in the store. Read path, in the order of a
question: `question` reads what is asked, `graph` answers it from edges or `changes` from revisions, else `retrieve`
finds candidates by name, words, meaning and graph, and `rank` orders them; `answerers` lists the kinds of questions,
`find` is the whole path on one screen, and `reader` holds what it depends on. `notes` reads what notes say about code.
`atlas` is the interface to an open index, `freshness` compares cited files with the disk, and `tools` are the verbs of
agents and of the command line. `index` and the read path meet in the store only.
"""
