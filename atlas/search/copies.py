"""Paths of code that is seldom what a question means: legacy, vendored and example copies. Pure."""

from __future__ import annotations

import re

_COPY = re.compile(
    r"(?:^|/)(?:\w*legacy\w*|deprecated|compat|backports?|_?vendor(?:ed|s)?|third[_-]?party|extern(?:al)?|node_modules"
    r"|bundled|archive|attic|examples?|samples?|demos?|bench(?:marks?)?|fixtures)(?:/|\.|$)",
    re.IGNORECASE,
)


def is_copy(path: str) -> bool:
    """Return whether a folder or file of the path says that its code is legacy, vendored, or an example."""
    return _COPY.search(path) is not None
