"""Sections of a pack for a question: candidates, scores, order."""
