"""The file behind the embedded store: opened, checked, upgraded, erased."""
