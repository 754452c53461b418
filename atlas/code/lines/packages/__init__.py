"""Packages beside their declarations: artifacts, features, reasons, and what uses them."""
