"""The Cypher front end: text to syntax tree. Both stores use it; it depends on neither."""
