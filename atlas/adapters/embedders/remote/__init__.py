"""Embedders behind an HTTP interface: requests, batches, retries."""
