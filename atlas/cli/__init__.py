"""The `atlas` command: one thin module per command family over `atlas.app.main` and `atlas.code.tools`."""
