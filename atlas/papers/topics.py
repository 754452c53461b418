"""Names of topics as names of folders: letters and digits of any script, `_` for all else; never a path."""

from __future__ import annotations

import hashlib
import re

from atlas.core.errors import ConfigError
from atlas.core.normal_form import normal_form

MAX_TOPIC = 300
"""Characters of a topic."""
_MAX_NAME_BYTES = 120
"""Half of what file systems allow, so that names of damaged files fit as well."""

_OTHER = re.compile(r"[\W_]+")
_PATH = re.compile(r"^\s*[/\\~]|(?:^|[/\\])\s*\.{1,2}\s*(?:[/\\]|$)|^[A-Za-z]:[/\\]")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.I)
BY_ID = "papers_by_id"
"""Folder of papers that were asked for by their identifiers."""


def topic_folder(topic: str) -> str:
    """Return the name of a topic's folder. Raises ConfigError for a topic without words, a path, or a long one."""
    if _PATH.search(topic) or "\0" in topic:
        raise ConfigError(f"a topic is words, not a path: {topic[:80]!r}", 'For example: "graph neural networks".')
    if len(topic) > MAX_TOPIC:
        raise ConfigError(f"the topic has {len(topic):,} characters; at most {MAX_TOPIC} are allowed", "Shorten it.")
    folded = normal_form(topic, "NFKC").casefold()
    name = _OTHER.sub("_", normal_form(folded)).strip("_")
    if not name:
        raise ConfigError("the topic has no words", 'For example: "graph neural networks".')
    if _RESERVED.fullmatch(name):
        name += "_"
    if len(name.encode()) > _MAX_NAME_BYTES:
        digest = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
        name = f"{name.encode()[: _MAX_NAME_BYTES - 9].decode(errors='ignore').rstrip('_')}_{digest}"
    return name
