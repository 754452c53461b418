"""Candidates: channels by name, words, meaning and graph, fused; evidence about whole files.

A `Query` comes in, scored uids and then nodes go out. `channels` run concurrently, with `phrases`, `places`,
`file_evidence` and `sentence_transformer` beside them; `long_search` asks a long text as several questions; `fuse`
combines the scores, `candidates` reads the nodes. `resolve` finds the node of a name, `expand` the neighbourhood of a
node.
"""
