"""Candidates: channels by name, words, meaning and graph, fused; evidence about whole files."""
