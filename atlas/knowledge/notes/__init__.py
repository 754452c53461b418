"""Notes as files: Markdown with YAML front matter in a knowledge folder.

Notes are authored data: the file is the truth, and the graph is derived from it as from source files. This package
reads, edits and writes files; it knows no store.
"""
