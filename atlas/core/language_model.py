"""The contract of a language model: a text in, a text out. Used only where the user has configured one."""

from __future__ import annotations

from typing import Protocol


class LanguageModel(Protocol):
    """Completes a text. Raises `Unavailable` when trying again may help, and ConfigError."""

    @property
    def name(self) -> str:
        """The model, for people and without secrets."""
        ...

    async def complete(self, instruction: str, text: str, most_tokens: int) -> str:
        """Return what the model answers to a text under an instruction, at most `most_tokens` tokens."""
        ...
