"""The write path: what changed on disk becomes events, tiers turn events into graph, text and vectors in the store.

Streams carry hints, the store carries truth: every tier asks the disk and the store what is really missing.
"""
