"""A package's own code as documentation: public symbols with signatures and docstrings become articles of a pack."""
