"""The emotional vector of a text: a static model inside the package, English only."""

from __future__ import annotations

from pathlib import Path

from atlas import _parser

EMOTION_FOLDER = Path(__file__).with_name("emotion_model")
"""The model that ships in the package."""
VALUES = 27


class EmotionEncoder:
    """Text -> vector over 27 emotions. Safe for threads."""

    def __init__(self, folder: Path = EMOTION_FOLDER) -> None:
        """Load the model. Raises ValueError if it is damaged."""
        self._encoder = _parser.EmotionEncoder(str(folder))

    def encode(self, text: str) -> bytes:
        """Return 27 float32 values, little-endian and L2-normalised; b"" if no emotion is found."""
        vector = self._encoder.encode([text])[0]
        return vector if any(vector) else b""
