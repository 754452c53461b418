"""Addresses of pages: one spelling for each, the patterns of endless ones, and which belong to a crawl. Pure."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlencode, urljoin, urlsplit, urlunsplit

from atlas.core.lazy_regex import lazy_regex

MAX_LENGTH = 2_000
MAX_SEGMENTS = 24
MAX_REPEATS = 3
"""Of one path segment; more come from relative links that lead deeper and deeper."""

PORTS = {"http": "80", "https": "443"}
TRACKING = lazy_regex(
    r"(?:utm_\w+|gclid|fbclid|mc_[ce]id|ref|referrer|source|sid|session(?:_?id)?|phpsessid|jsessionid|aspsessionid\w*|"
    r"cfid|cftoken|token|highlight|_ga|igshid|spm|share)",
    re.I,
)
SESSION_IN_PATH = lazy_regex(r";(?:jsessionid|sid|phpsessid)=[^/?#]*", re.I)
NO_PAGES = lazy_regex(
    r"\.(?:png|jpe?g|gif|svg|webp|ico|css|m?js|map|json|xml|rss|atom|woff2?|ttf|eot|zip|gz|tgz|bz2|xz|tar|whl|jar|exe|"
    r"dmg|iso|mp[34]|webm|avi|mov|ogg|wav|csv|inv|epub|tex|ps|c|h|cpp|py|rs|java)$",
    re.I,
)
NUMBER = lazy_regex(r"\d+")


@dataclass(frozen=True, slots=True)
class CrawlScope:
    """Which pages a crawl may follow."""

    hosts: frozenset[str]
    """Hosts with their ports, in lower case."""
    prefix: str
    """Path that pages of the first host are below; "/" for all."""
    first_host: str

    def reason(self, url: str) -> str:
        """Return why a canonical address is not followed, "" if it is."""
        parts = urlsplit(url)
        if parts.netloc not in self.hosts:
            return "other host"
        if parts.netloc == self.first_host and not parts.path.startswith(self.prefix):
            return "outside of the start's folder"
        return "not a page" if NO_PAGES.search(parts.path) else ""


def canonical(url: str, base: str = "") -> str:
    """Return the one spelling of an address, "" for what is not a page on http or https.

    The fragment, session ids and tracking parameters go, parameters are sorted, the path is normalised.
    """
    try:
        parts = urlsplit(urljoin(base, url.strip()) if base else url.strip())
        host, port = (parts.hostname or "").lower().rstrip("."), parts.port
        if parts.scheme.lower() not in PORTS or not host or len(url) > MAX_LENGTH:
            return ""
        host = host.encode("idna").decode("ascii") if not host.isascii() else host
    except (ValueError, UnicodeError):
        return ""
    scheme = parts.scheme.lower()
    host = f"[{host}]" if ":" in host else host
    netloc = host if port is None or str(port) == PORTS[scheme] else f"{host}:{port}"
    path = SESSION_IN_PATH.sub("", parts.path) or "/"
    path = quote(unquote(path), safe="/:@!$&'()*+,;=~-._")
    trailing = path.endswith(("/", "/.", "/.."))
    path = posixpath.normpath(re.sub(r"/{2,}", "/", path))
    path = f"{path}/" if trailing and path != "/" else path
    segments = path.split("/")
    if len(segments) > MAX_SEGMENTS or any(segments.count(one) > MAX_REPEATS for one in set(segments) if one):
        return ""
    query = [
        (name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if not TRACKING.fullmatch(name)
    ]
    return urlunsplit((scheme, netloc, path, urlencode(sorted(query)), ""))


def pattern(url: str) -> str:
    """Return an address without its numbers and the values of its parameters; pages of one pattern may be endless."""
    parts = urlsplit(url)
    names = ",".join(name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    return f"{parts.netloc}{NUMBER.sub('#', parts.path)}?{names}"


def scope_of(starts: list[str], hosts: tuple[str, ...], *, below: bool) -> CrawlScope:
    """Return the scope of a crawl from its start addresses."""
    parts = urlsplit(starts[0])
    prefix = parts.path.rpartition("/")[0] + "/" if below else "/"
    named = {urlsplit(start).netloc for start in starts} | {host.lower() for host in hosts}
    return CrawlScope(frozenset(named), prefix, parts.netloc)
