"""Measurements of a real tree, by running the real commands as processes of their own: `atlas bench index|query PATH`.

CPU seconds are what counts (wall time depends on who else uses the machine). The tree itself is never changed.
"""
