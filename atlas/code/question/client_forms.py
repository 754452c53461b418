"""Read questions about the clients of routes: who calls a route, and which routes a part of the project calls. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from atlas.core.lazy_regex import lazy_regex

_ASKING = lazy_regex(r"\b(?:who|what|which|where|list|show)\b", re.IGNORECASE)
_CALLING = lazy_regex(
    r"\b(?:calls?|called|callers?|clients?|consum(?:es?|ers?|ed)|requests?|requested|fetch(?:es|ed)?|hits?|invoked?|invokes"
    r"|uses?|used)\b",
    re.IGNORECASE,
)
_CALLERS_OF = lazy_regex(r"\b(?:callers?|clients?|consumers?|users) of\b", re.IGNORECASE)
_SERVES = lazy_regex(
    r"\b(?:handles?|handled|handlers?|serves?|served|implements?|registers?|registered)\b", re.IGNORECASE
)
_PART = (
    r"(?P<part>front-?end|back-?end|client|web ?app|web|ui|browser|spa|mobile(?: app)?|app|site|dashboard|"
    r"[`'\"]?[\w.-]+/[\w./-]*[`'\"]?)"
)
_OF_PART = tuple(
    lazy_regex(form, re.IGNORECASE)
    for form in (
        rf"^(?:what|which)(?: (?:http |rest |api )?(?:routes?|endpoints?|urls?|apis?))? (?:does|do) (?:the )?{_PART} "
        r"(?:call|request|use|fetch|consume|hit)\??$",
        r"^(?:list |show )?(?:the )?(?:http |rest |api )?(?:routes?|endpoints?|urls?|apis?) (?:that |which )?(?:the )?"
        rf"{_PART} (?:calls?|requests?|uses?|fetch(?:es)?|consumes?|hits?)\??$",
        rf"^(?:which|what|list|show)?(?: the)? ?(?:http |rest |api )?(?:routes?|endpoints?|urls?|apis?) (?:are )?"
        rf"(?:called|requested|used|consumed|hit) by (?:the )?{_PART}\??$",
    )
)


@dataclass(frozen=True, slots=True)
class ClientQuestion:
    """A question about a part of the project that calls routes."""

    part: str
    """Words or a path of the part: `frontend`, `web/src`."""


def asks_for_clients(text: str) -> bool:
    """Return whether a question about a route asks who calls it. Pure."""
    is_asked = _CALLERS_OF.search(text) or (_ASKING.search(text) and _CALLING.search(text))
    return bool(is_asked) and _SERVES.search(text) is None


def read_client_question(text: str) -> ClientQuestion | None:
    """Return which part of the project is asked about, None for other questions. Pure."""
    if len(text) > 200:
        return None
    found = (form.match(text.strip()) for form in _OF_PART)
    part = next((match["part"] for match in found if match is not None), "")
    return ClientQuestion(part.strip("`'\"").lower()) if part else None
