"""A conversation as a file: JSON with all messages, or Markdown for people. Written whole and replaced atomically."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from atlas.chat_model import Message
from atlas.errors import ConfigError

HEADINGS = {"user": "You", "assistant": "Assistant", "tool": "Tool result"}


def write_transcript(path: Path, messages: Sequence[Message], *, replace: bool) -> None:
    """Write a conversation. Raises ConfigError if the file exists and is not to be replaced, or cannot be written."""
    if not replace and path.exists():
        raise ConfigError(f"{path} exists", "Name another file; nothing was written.")
    text = json.dumps(messages, ensure_ascii=False, indent=1) if path.suffix == ".json" else as_markdown(messages)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        # for this user only: it holds code and notes
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ConfigError(f"cannot write {path}: {error.strerror}", "Name a file in a folder of yours.") from error


def as_markdown(messages: Sequence[Message]) -> str:
    """Return a conversation as Markdown, without the instruction to the model."""
    parts: list[str] = []
    for message in messages:
        role = str(message["role"])
        if role == "system":
            continue
        body = _text(message["content"])
        if role == "tool":
            body = f"````\n{body}\n````"
        for call in cast("list[dict[str, dict[str, str]]]", message.get("tool_calls") or []):
            body += f"\n\nCalls `{call['function']['name']}` with `{call['function']['arguments']}`"
        parts.append(f"## {HEADINGS.get(role, role)}\n\n{body.strip()}\n")
    return "\n".join(parts)


def _text(content: object) -> str:
    if isinstance(content, list):
        parts = cast("list[dict[str, str]]", content)
        return "\n".join(part.get("text", "[image]") for part in parts)
    return str(content or "")
