"""reStructuredText with the roles and directives of Sphinx, read in one pass without executing a directive.

docutils takes 12 CPU seconds for Django's documentation and keeps directives in global tables, hence a reader of our
own (ADR 0037). `include`, `raw`, `literalinclude` and options that name files are never followed.
"""
