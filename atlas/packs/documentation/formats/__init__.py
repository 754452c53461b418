"""Readers of formats: the bytes of one document become an `Article`, whatever they are.

`reading.read_article` chooses the reader. No reader opens a file, reaches the network or executes what a document says;
what cannot be read is listed in `Article.problems`.
"""
