"""Marks at the end of an observation: how important it is, and the image or sound that it describes.

They are part of the line, so that every editor shows them and every version of the format keeps them:
`- 2026-11-20T09:00:00Z [o-ULID] The new floor plan. (attachment: plans/floor.png image/png 3e20...) (importance: 0.9)`.
"""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass
from pathlib import Path

from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex
from atlas.parsing import digest_paths

KINDS = ("image/", "audio/")
MAX_MARK = 1_200
"""Characters of one mark."""
_MARK = lazy_regex(
    r" ?\((?:importance: (?P<importance>0(?:\.\d{1,4})?|1(?:\.0{1,4})?)"
    r"|attachment: (?P<path>[^()]{1,1000}) (?P<type>(?:image|audio)/[\w.+-]{1,60}) (?P<digest>[0-9a-f]{16,64}))\)$"
)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file below the root of the notes."""

    path: str
    type: str
    """image/... or audio/..."""
    digest: str
    """Of its content when it was attached."""

    def state(self, root: Path) -> str:
        """Return `same`, `changed` or `missing`."""
        (digest,) = digest_paths(str(root), [self.path])
        return "missing" if not digest else "same" if digest == self.digest else "changed"


@dataclass(frozen=True, slots=True)
class Marked:
    """An observation without its marks, and what these say."""

    text: str
    importance: float | None = None
    attachment: Attachment | None = None


def read_marks(text: str) -> Marked:
    """Return what the marks at the end of a text say; those it lacks are None."""
    importance: float | None = None
    attachment: Attachment | None = None
    while text.endswith(")") and (match := _MARK.search(text[-MAX_MARK:])):
        if match["importance"] is not None:
            importance = float(match["importance"]) if importance is None else importance
        else:
            attachment = attachment or Attachment(match["path"], match["type"], match["digest"])
        text = text[: len(text) - len(match.group())]
    return Marked(text, importance, attachment)


def with_marks(text: str, importance: float | None, attachment: Attachment | None) -> str:
    """Return a text with marks."""
    parts = [text]
    if attachment is not None:
        parts.append(f"(attachment: {attachment.path} {attachment.type} {attachment.digest})")
    if importance is not None:
        parts.append(f"(importance: {importance:.2f})")
    return " ".join(parts)


def attach(root: Path, path: str) -> Attachment:
    """Return a file as an attachment. Raises ConfigError unless it is an image or a sound below the root."""
    given = Path(path)
    try:
        inner = given.relative_to(root) if given.is_absolute() else given
    except ValueError as error:
        raise ConfigError(
            f"{path!r:.200} is not below {root}", "Copy it there: notes refer to files beside them."
        ) from error
    kind = mimetypes.guess_type(inner.name)[0] or ""
    if not kind.startswith(KINDS):
        raise ConfigError(f"{path!r:.200} is neither an image nor a sound", "Give a path such as docs/plan.png.")
    name = inner.as_posix()
    if ".." in inner.parts or "(" in name or ")" in name:
        raise ConfigError(f"{path!r:.200} is no path of an attachment", "It lies below the root and has no brackets.")
    (digest,) = digest_paths(str(root), [name])
    if not digest:
        raise ConfigError(f"{path!r:.200} cannot be read", "Give the path of a file below the root that is no link.")
    return Attachment(name, kind, digest)
