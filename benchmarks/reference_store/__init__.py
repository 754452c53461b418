"""The in-memory store: the reference model for the other stores."""
