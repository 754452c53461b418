"""Documentation as articles: sources are read and divided into sections, from which rules take entities and facts.

Files, archives and pages come in; `Article` values (`atlas.packs.documentation.article`) and rows of a pack's graph go
out. This package does not know stores, embedders or how pages are fetched.
"""
