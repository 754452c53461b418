"""The contracts of language models: one completes a text, one chats with tools. Used only where the user names one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

Message = dict[str, object]
"""One message: `role` and `content`; of assistants also `tool_calls`, of tools `tool_call_id`."""


class LanguageModel(Protocol):
    """Completes a text. Raises `Unavailable` when trying again may help, and ConfigError."""

    @property
    def name(self) -> str:
        """The model, for people and without secrets."""
        ...

    async def complete(self, instruction: str, text: str, most_tokens: int) -> str:
        """Return what the model answers to a text under an instruction, at most `most_tokens` tokens."""
        ...


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool call that the model asks for; `arguments` is the JSON as the model wrote it, maybe malformed."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, and its cost in US dollars; 0 if the provider or price list does not say."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Retrying:
    """The request failed before it was answered and is sent again after `seconds`; text so far is void."""

    reason: str
    seconds: float


ModelEvent = TextDelta | ToolRequest | Usage | Retrying


class ChatModel(Protocol):
    """A language model with tools. Raises `Unavailable` when trying again may help, and ConfigError."""

    @property
    def name(self) -> str:
        """The model, for people and without secrets."""
        ...

    @property
    def context_tokens(self) -> int:
        """The most input tokens; 0 if unknown."""
        ...

    @property
    def reads_images(self) -> bool:
        """Whether messages may hold images."""
        ...

    async def load(self) -> None:
        """Import what a request needs, so that the first one does not wait for it."""
        ...

    def stream(self, messages: Sequence[Message], tools: Sequence[Mapping[str, object]]) -> AsyncGenerator[ModelEvent]:
        """Yield the answer as it arrives: text, then complete tool calls, then usage."""
        ...
