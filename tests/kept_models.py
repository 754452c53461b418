"""The models inside the package, kept for a process of tests: each test opens them anew, 12 and 8 ms of CPU."""

from atlas.adapters.embedders.static import PROSE_FOLDER, StaticEmbedder
from atlas.core.model import DOCUMENTS

KEPT_MODELS = (StaticEmbedder(), StaticEmbedder(PROSE_FOLDER, DOCUMENTS))
"""Embedders of one folder share its model as long as one of them is there; it is loaded when it is first used."""
