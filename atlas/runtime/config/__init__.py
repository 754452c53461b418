"""Settings: their declaration, where values are read from, and checks between them."""
