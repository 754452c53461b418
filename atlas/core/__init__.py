"""Values and contracts that every feature uses; imports nothing of Code Atlas outside of this folder.

In the order of need: `model` and `labels` are the rows of the graph, `ids` the names of its nodes; `contracts` says
what stores, buses and embedders promise, and `history`, `fetching`, `short_term`, `language_model` and `paper_source`
what version histories, HTTP requests, short-term memory, models and services for papers do. `errors` is the one tree of
errors, `events` and `project_state` what streams and the state of a project say. The rest is pure: `threads` (work in
threads), `english` (stems, sentences, stop words), `line_diff`, `edit_distance`, `invisible` (text without what a
terminal obeys) and `wording`.
"""
