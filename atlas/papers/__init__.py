"""Papers: found at a service, stored as readable JSON in the user's data directory, searched, related and exported."""
