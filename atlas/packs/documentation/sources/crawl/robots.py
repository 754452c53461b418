"""What a robots.txt allows (RFC 9309), read by `protego`, and the delay that it asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from atlas.core.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_BYTES = 512 << 10
"""RFC 9309 asks for 500 KiB at least."""

AGENT = "code-atlas"

AGENT_LINE = lazy_regex(r"^[ \t]{0,80}user[- ]?agent[ \t]{0,80}:?[ \t]{0,80}([^\r\n#]*)", re.I | re.M)


class Robots:
    """The rules of one host. Without a robots.txt everything is allowed; while a server fails, nothing is."""

    def __init__(self, text: str) -> None:
        """`text` is the content; "" allows everything."""
        from protego import Protego

        self._rules = Protego.parse(AGENT_LINE.sub(_own_or_other, text))

    def allows(self, url: str) -> bool:
        """Return whether a page may be fetched."""
        return self._rules.can_fetch(url, AGENT)

    def delay(self) -> float:
        """Return the seconds between requests that are asked for, 0 if none are."""
        return float(self._rules.crawl_delay(AGENT) or 0)

    def sitemaps(self) -> Sequence[str]:
        """Return the addresses of sitemaps that are named."""
        return list(self._rules.sitemaps)


def text_of(status: int, body: bytes) -> str:
    """Return the rules that a response means: those of its text, none for 4xx, a refusal of everything otherwise."""
    if status // 100 == 2:
        return body[:MAX_BYTES].decode("utf-8", "replace").lstrip("\ufeff")
    return "" if status // 100 == 4 and status != 429 else "User-agent: *\nDisallow: /"


def _own_or_other(line: re.Match[str]) -> str:
    """Give all agents but ours one name: the parser keeps every rule of a group once for each of its agents."""
    name = line[1].strip().lower()
    return line[0] if name.strip("*") in ("", AGENT, *AGENT.split("-")) else "User-agent: other"
