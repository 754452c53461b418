"""Stores: where the graph, its texts and its vectors live. Only `wiring` picks one; callers know the contract."""
