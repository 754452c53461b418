"""Texts with which servers attack terminals."""

SEQUENCES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\u200f\u2066"
"""Sets the title, clears the screen, changes colours, and turns the direction of text."""
