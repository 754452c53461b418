"""Implementations of the contracts of `atlas.core`: stores, buses, embedders, models, git, the web, paper services.

Only `opening`, `atlas.app` and the `opening` module of a feature import them.
"""
