"""One symbol: its facts, source and neighbours."""
