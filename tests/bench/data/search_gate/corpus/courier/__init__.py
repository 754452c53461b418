"""Plans delivery tours."""
