"""Architecture decision records as decisions: their status as their text states it. Pure."""

from __future__ import annotations

import re

MAX_CHARACTERS = 20_000
"""The beginning of a record, in which its status is looked for."""
MAX_STATUS = 60

_LINE = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+|\|[ \t]*)?[*_`]{0,3}(?:decision[ \t]+)?status[*_`]{0,3}[ \t]*[:|][*_`]{0,3}[ \t]*"
    r"(?P<said>\S[^\n|]*)",
    re.IGNORECASE | re.MULTILINE,
)
"""`Status: accepted` in front matter or text, `* **Status**: accepted`, `| Status | accepted |`."""
_HEADING = re.compile(
    r"^#{1,6}[ \t]++(?:decision[ \t]++)?status[ \t]*+#*+[ \t]*+\n\s*+(?P<said>[^\s#][^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING_LINE = re.compile(
    r"^(?:decision[ \t]+)?status[ \t]*\n(?:=+|-+)[ \t]*\n\s*(?P<said>[^\s#][^\n]*)", re.IGNORECASE | re.MULTILINE
)
_MARKUP = re.compile(r"[*_`]+|^[-*+>][ \t]+|\[([^\[\]]*+)\]\([^()]*+\)")


def decision_status(text: str) -> str:
    """Return the status that a record states, in lower case and at most `MAX_STATUS` characters; "" without one.

    It stands behind `Status:` (in front matter, a list or a table as well) or below a heading `Status`. What follows
    the word in the sentence, such as a date or a link, belongs to it: `superseded by 0012`.
    """
    head = text[:MAX_CHARACTERS].replace("\r\n", "\n")
    found = [match for pattern in (_LINE, _HEADING, _HEADING_LINE) if (match := pattern.search(head))]
    if not found:
        return ""
    said = _MARKUP.sub(lambda part: part.group(1) or "", min(found, key=lambda match: match.start())["said"].strip())
    sentence = re.split(r"(?<=[a-z)\d])\.(?:\s|$)", " ".join(said.split()), maxsplit=1)[0].strip(" \"'.,;")
    return sentence.lower()[:MAX_STATUS].strip()
