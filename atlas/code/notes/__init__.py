"""What notes say about code: note files as the index holds them, and anchors compared with the code of now.

Reads only. `atlas.knowledge` writes and judges notes.
"""
