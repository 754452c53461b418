"""Reads of the store on a Bolt server."""
