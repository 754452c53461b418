"""Adapters of the store contract: SQLite (`sqlite`) and servers that speak Bolt (`bolt`).

`cypher` is the Cypher front end of both, `shared` what both need: filters, names, chunks, statements in files. The
in-memory reference that tests compare them with is in `benchmarks/reference_store/`.
"""
