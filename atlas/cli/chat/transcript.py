"""A conversation as a file: JSON with all messages, or Markdown for people. Written whole and replaced atomically."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from atlas.core.errors import ConfigError
from atlas.core.invisible import json_text, one_line, plain, printable
from atlas.core.language_model import Message
from atlas.core.lazy_regex import lazy_regex

HEADINGS = {"user": "You", "assistant": "Assistant", "tool": "Tool result"}

_LIKE_A_HEADING = lazy_regex(rf"^(?=##[ \t]*+(?:{'|'.join(HEADINGS.values())}))", re.MULTILINE)
_TICKS = lazy_regex(r"`+")


def write_transcript(path: Path, messages: Sequence[Message], *, replace: bool) -> None:
    """Write a conversation, for this user only.

    Raises ConfigError if the file exists and is not to be replaced, or cannot be written.
    """
    if not replace and path.exists():
        raise ConfigError(f"{path} exists", "Name another file; nothing was written.")
    text = json_text(messages, indent=1) if path.suffix == ".json" else plain(as_markdown(messages))
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        # for this user only: it holds code and notes
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text.encode("utf-8", "backslashreplace").decode())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ConfigError(f"cannot write {path}: {error.strerror}", "Name a file in a folder of yours.") from error


def as_markdown(messages: Sequence[Message]) -> str:
    """Return a conversation as Markdown, without the instruction to the model.

    No text of a message can pass for another message: results stand in fences longer than any within, and lines that
    look like a heading of this page are escaped.
    """
    parts: list[str] = []
    for message in messages:
        role = str(message["role"])
        if role == "system":
            continue
        body = printable(_text(message["content"]))
        body = _fenced(body) if role == "tool" else _LIKE_A_HEADING.sub(r"\\", body)
        for call in cast("list[dict[str, dict[str, str]]]", message.get("tool_calls") or []):
            given = one_line(call["function"]["arguments"])
            body += f"\n\nCalls `{one_line(call['function']['name']).replace('`', '')}` with {_quoted(given)}"
        parts.append(f"## {HEADINGS.get(role, role)}\n\n{body.strip()}\n")
    return "\n".join(parts)


def _fenced(text: str) -> str:
    fence = "`" * max(4, _longest(text) + 1)
    return f"{fence}\n{text}\n{fence}"


def _quoted(text: str) -> str:
    ticks = "`" * (_longest(text) + 1)
    return f"{ticks}{text}{ticks}"


def _longest(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)


def _text(content: object) -> str:
    if isinstance(content, list):
        parts = cast("list[dict[str, str]]", content)
        return "\n".join(part.get("text", "[image]") for part in parts)
    return str(content or "")
