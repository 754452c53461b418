"""Implementations of the contracts of `atlas.core`: what Code Atlas asks of files, servers and libraries.

Values of `core` come in and go out; exceptions of libraries become errors of `core.errors`. `stores` keep the graph,
`buses` carry hints between processes, `embedders` turn text into vectors, `git` reads version histories, `web` fetches
pages of documentation, `language_models` and `paper_services` ask services that the user has configured. `opening`
turns settings into adapters. Only `opening`, `atlas.app` and the `opening` module of a feature import the others, and
they do not import each other.
"""
