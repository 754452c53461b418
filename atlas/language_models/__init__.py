"""Adapters of language models."""
