"""The `atlas` command: one thin module per command family over `atlas.wiring` and `atlas.tools`."""
