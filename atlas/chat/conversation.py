"""The messages of a conversation within a token budget: the oldest tool results are dropped first, and it is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import cast

from atlas.chat.content import Content
from atlas.core.language_model import Message, ToolRequest

DROPPED = "[removed to stay within the token budget; call the tool again if it is needed]"

IMAGE_TOKENS = 1000
"""What an image counts; providers charge 85 to some 1,600 tokens."""

MESSAGE_TOKENS = 4
"""Tokens that a message adds to those of its content, as in OpenAI's cookbook."""


class Conversation:
    """Messages in the order in which they were said.

    `count` returns the tokens of a text; `sends_images` is asked once there is an image to send.
    """

    def __init__(self, count: Callable[[str], int], sends_images: Callable[[], bool]) -> None:
        self._count, self._sends_images = count, sends_images
        self._messages: list[Message] = []
        self._sizes: list[int] = []

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages."""
        return tuple(self._messages)

    def sendable(self) -> tuple[Message, ...]:
        """Return all messages as the model reads them: images of an earlier model are named for one without them."""
        has_images = any(isinstance(message["content"], list) for message in self._messages)
        if not has_images or self._sends_images():
            return self.messages
        return tuple({**message, "content": _without_images(message["content"])} for message in self._messages)

    @property
    def tokens(self) -> int:
        """The tokens of all messages, counted with cl100k_base."""
        return sum(self._sizes)

    def __len__(self) -> int:
        return len(self._messages)

    def add_system(self, text: str) -> None:
        """Add an instruction."""
        self._add({"role": "system", "content": text})

    def add_user(self, text: str, images: Content | None = None) -> None:
        """Add what the user says, with the images of what he attached."""
        shown = images.images if images is not None and images.images and self._sends_images() else ()
        if not shown:
            self._add({"role": "user", "content": text})
            return
        parts: list[object] = [{"type": "text", "text": text}]
        parts += [
            {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{image.data}"}}
            for image in shown
        ]
        self._add({"role": "user", "content": parts}, IMAGE_TOKENS * len(shown))

    def add_assistant(self, text: str, calls: Sequence[ToolRequest] = ()) -> None:
        """Add an answer of the model with the tools that it calls."""
        message: Message = {"role": "assistant", "content": text or (None if calls else "")}
        if calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": call.name,
                        "arguments": call.arguments if _is_object(call.arguments) else "{}",
                    },
                }
                for call in calls
            ]
        self._add(message)

    def add_result(self, call: ToolRequest, content: Content, most_tokens: int) -> int:
        """Add the result of a tool call, cut to `most_tokens`; returns how many tokens were cut off."""
        text, cut = self.fit(content.text or "(empty result)", most_tokens)
        self._add({"role": "tool", "tool_call_id": call.id, "content": text})
        if content.images and self._sends_images():
            self.add_user(f"Images returned by {call.name}:", content)
        return cut

    def fit(self, text: str, most_tokens: int) -> tuple[str, int]:
        """Return a text cut to a number of tokens with a note about the rest, and how many tokens were cut off."""
        size = self._count(text) if len(text) <= most_tokens * 40 else most_tokens + 1
        if size <= most_tokens:
            return text, 0
        kept = text[: most_tokens * 4]
        while self._count(kept) > most_tokens:
            kept = kept[: int(len(kept) * 0.8)]
        left = len(text) - len(kept)
        return f"{kept}\n[cut: {left} of {len(text)} characters not shown]", max(1, left // 4)

    def trim(self, budget: int) -> int:
        """Drop the oldest tool results, never those of the last question, until the messages fit; return how many."""
        dropped = 0
        last = max((n for n, message in enumerate(self._messages) if message["role"] == "user"), default=0)
        # results of the current question go last: the model has just asked for them
        for number in (*range(last), *range(last, max(last, len(self._messages) - 1))):
            if self.tokens <= budget:
                break
            message = self._messages[number]
            if message["role"] == "tool" and message["content"] != DROPPED:
                self._replace(number, {**message, "content": DROPPED})
                dropped += 1
            elif number != last and isinstance(message["content"], list):
                self._replace(number, {"role": "user", "content": DROPPED})
                dropped += 1
        return dropped

    def rewind(self, length: int) -> None:
        """Forget everything behind the first `length` messages."""
        del self._messages[length:], self._sizes[length:]

    def _add(self, message: Message, further_tokens: int = 0) -> None:
        self._messages.append(message)
        self._sizes.append(self._size(message) + further_tokens)

    def _replace(self, number: int, message: Message) -> None:
        self._messages[number], self._sizes[number] = message, self._size(message)

    def _size(self, message: Message) -> int:
        content = message["content"]
        texts = [content] if isinstance(content, str) else []
        if isinstance(content, list):
            parts = cast("list[dict[str, object]]", content)
            texts = [str(part["text"]) for part in parts if part.get("type") == "text"]
        calls = json.dumps(message["tool_calls"]) if "tool_calls" in message else ""
        return MESSAGE_TOKENS + sum(map(self._count, texts)) + (self._count(calls) if calls else 0)


def _without_images(content: object) -> object:
    if not isinstance(content, list):
        return content
    return "\n".join(str(part.get("text", "[image]")) for part in cast("list[dict[str, object]]", content))


def _is_object(text: str) -> bool:
    """Return whether a text is a JSON object; providers reject a history in which arguments are anything else."""
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
