"""A pack as a folder of files: its manifest, checksums, archive and skill description. Does not open `pack.db`."""
