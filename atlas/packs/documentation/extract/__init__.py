"""Rules that take entities, facts and relations from articles. Pure: the same article gives the same result."""
