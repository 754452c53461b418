"""Reading documentation from the web: which pages, in which order and how often; answers are kept in SQLite.

Requests themselves are made by a `Fetcher`, which `atlas.adapters.web` implements.
"""
