"""Values and contracts that every feature uses; imports nothing of Code Atlas outside of this folder.

`model` and `labels` are the graph's rows, `contracts` what stores, buses and embedders promise, `errors` the tree of
errors, `events` and `project_state` what streams and a project's state say, `threads` work whose end is waited for,
`english` stems, sentences and stop words.
"""
