"""Questions to a knowledge pack: retrieval, the confidence gate, extractive answers and their evaluation.

Reads the graph of the pack through the Store contract and never writes. `ask` (answer.py) and `search` (retrieval.py)
are the two entries; `evaluate` (evaluation.py) measures both.
"""
