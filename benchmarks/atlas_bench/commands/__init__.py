"""`atlas bench`: one module per family of measurements, found by the entry point `atlas.commands`."""
