"""Content of MCP results -> text for the model, images for models that read them, and lines for people. Pure."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mcp_types as types

from atlas.core.lazy_regex import lazy_regex

MAX_IMAGE_BYTES = 5 << 20
"""Larger images are named, not sent: providers reject them."""

MAX_IMAGES = 8
"""Images of one result that are sent."""

_TEMPLATE_TOKEN = lazy_regex(
    r"<(?=\|[A-Za-z0-9_]{1,40}\|>)|\[(?=/?INST\])|<(?=</?SYS>>)|<(?=(?:start|end)_of_turn>)", re.ASCII
)
"""The start of a token by which chat templates of models mark who speaks."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image as base64."""

    media_type: str
    data: str


@dataclass(frozen=True, slots=True)
class Content:
    """What a server returned: the text for the model, and its images."""

    text: str
    images: tuple[Image, ...] = ()


def of_result(result: types.CallToolResult) -> Content:
    """Return the content of a tool result; structured content only where there is no other."""
    content = of_blocks(result.content)
    if not content.text and not content.images and result.structured_content is not None:
        return Content(_inert(json.dumps(result.structured_content, ensure_ascii=False), r"\\"))
    return content


def of_blocks(blocks: Iterable[types.ContentBlock]) -> Content:
    """Return the content of blocks, in order."""
    images: list[Image] = []
    texts = [_text_of(block, images) for block in blocks]
    return Content(_inert("\n".join(text for text in texts if text)), tuple(images))


def of_resource(contents: Sequence[types.TextResourceContents | types.BlobResourceContents]) -> Content:
    """Return the content of a resource."""
    images: list[Image] = []
    texts = [_contents(one, images) for one in contents]
    return Content(_inert("\n".join(text for text in texts if text)), tuple(images))


def _inert(text: str, mark: str = "\\") -> str:
    """Return a text in which no token of a chat template speaks for the user or the system: a mark breaks it."""
    return _TEMPLATE_TOKEN.sub(lambda token: token[0] + mark, text)


def _text_of(block: types.ContentBlock, images: list[Image]) -> str:
    if isinstance(block, types.TextContent):
        return block.text
    if isinstance(block, types.ImageContent):
        return _image(block.mime_type, block.data, images)
    if isinstance(block, types.AudioContent):
        return f"[audio {block.mime_type}, {_size(block.data)}]"
    if isinstance(block, types.ResourceLink):
        described = f": {block.description}" if block.description else ""
        return f"[resource {block.uri} ({block.name}){described}]"
    return _contents(block.resource, images)


def _contents(contents: types.TextResourceContents | types.BlobResourceContents, images: list[Image]) -> str:
    if isinstance(contents, types.TextResourceContents):
        return contents.text
    media_type = contents.mime_type or "application/octet-stream"
    if media_type.startswith("image/"):
        return _image(media_type, contents.blob, images)
    return f"[{contents.uri}: {media_type}, {_size(contents.blob)}, not shown]"


def _image(media_type: str, data: str, images: list[Image]) -> str:
    sent = len(images) < MAX_IMAGES and len(data) * 3 // 4 <= MAX_IMAGE_BYTES and _is_base64(data)
    if sent:
        images.append(Image(media_type, data))
    return f"[image {media_type}, {_size(data)}{'' if sent else ', not shown'}]"


def _is_base64(data: str) -> bool:
    try:
        base64.b64decode(data, validate=True)
    except ValueError:
        return False
    return True


def _size(data: str) -> str:
    return f"{max(1, len(data) * 3 // 4 // 1024)} KB"
