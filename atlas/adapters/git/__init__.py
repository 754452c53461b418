"""Git repositories as a version history (`atlas.core.history`), read through dulwich; never executes anything.

Only this package imports dulwich. It reads the formats of git (packs, objects, the index) from files that it opens
itself: no hook, filter, external diff, credential helper or configured program runs, and no file outside of the
repository is opened, whatever the repository says (ADR 0028).
"""
