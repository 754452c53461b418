"""Measurements on a real tree that run the real commands as separate processes: `atlas bench index|query PATH`.

CPU seconds are the main result, because wall time depends on the other load of the machine. The tree itself is never
changed.
"""
