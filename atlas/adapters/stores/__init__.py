"""Adapters of the store contract: SQLite (`sqlite`), Bolt servers (`bolt`), and an in-memory reference (`memory`)."""
