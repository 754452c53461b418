"""HTML pages of documentation: the main content with its headings, signatures, notices and links.

`selectolax` (Lexbor) parses; scripts are not run and nothing is loaded. Pages of Sphinx, MkDocs, Javadoc, rustdoc and
TypeDoc are known by their markup.
"""
