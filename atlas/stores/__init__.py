"""Stores: where the graph, its texts and its vectors live. Only `app` picks one; callers know the contract."""
