"""Code that all stores share: filters, names, chunks, and statements in files."""
