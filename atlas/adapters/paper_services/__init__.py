"""Adapters of services that find papers; only `atlas.app` imports them."""
