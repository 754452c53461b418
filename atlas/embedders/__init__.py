"""Adapters that turn text into vectors: the static model that ships in the package (the default)."""
