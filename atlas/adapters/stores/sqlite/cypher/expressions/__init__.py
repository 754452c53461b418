"""Expressions of Cypher compiled to SQL: calls, lists, texts, operators, conversions."""
