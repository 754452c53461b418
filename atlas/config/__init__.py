"""Settings: what there is to set, where values come from, and what must hold between them."""
