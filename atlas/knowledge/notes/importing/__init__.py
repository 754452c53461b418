"""Import notes from the files of other programs.

`rows` reads JSON, JSON Lines and CSV within limits, `shapes` recognizes what a row is, `pages` does so for Markdown
files, `sources` walks the given files, `plan` gives everything an id, and `run` writes. What cannot be imported is
reported with file and line.
"""
