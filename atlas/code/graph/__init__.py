"""Edges as answers: relations, paths, unions, unused and untested code, routes, packages.

The intent of a question comes in, symbols with their edges as evidence go out. `targets` finds the symbol that is
meant, `answer_relation` its edges, `relation` is the answer; `unions` and `paths` are about two symbols, `unused`
and `untested` about what nothing reaches, `http_routes` and `packages` about nodes of their own. Where there are no
edges, `absence` tells none from unknown, for every kind of answer.
"""
