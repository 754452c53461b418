"""The Cypher front end: text in, a syntax tree out. Both stores use it; it knows neither."""
