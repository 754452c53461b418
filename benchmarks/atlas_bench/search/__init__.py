"""The scorecard of search: question sets made from any tree, the rankings they are put to, and their measures.

Gold comes from the tree (docstrings, headings, names, commits) or from question files, never from the graph.
"""
