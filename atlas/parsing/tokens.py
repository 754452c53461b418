"""The token counter of the extension."""

from __future__ import annotations

from atlas._parser import count_tokens


class Cl100kCounter:
    """Implements `contracts.TokenCounter` for the encoding cl100k_base."""

    @property
    def encoding(self) -> str:
        """Name of the encoding."""
        return "cl100k_base"

    def count(self, text: str) -> int:
        """Return the exact number of tokens."""
        return count_tokens(text)
