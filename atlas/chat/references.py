"""`@resource` in what a user types: which resource of which server is meant, and the arguments of templates. Pure.

A reference is an address (`@papers://physics`), a name (`@readme`), either behind a server's name and a colon
(`@papers:folders`), or a template's name with arguments (`@topic(topic=physics)`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate

from atlas.chat.routes import ResourceRoute
from atlas.core.lazy_regex import lazy_regex

_REFERENCE = lazy_regex(r"(?:^|(?<=[\s(]))@([^\s@(){}]++(?:\([^)\n]{0,300}+\))?)")
_EXPRESSION = lazy_regex(r"\{([+#./;?&]?)([^{}]*+)\}")
_LAST = lazy_regex(r"\{(\w{1,100})\}$")
_TRAILING = ".,;:!?"

MAX_REFERENCES = 100
"""Different words with an "@" of one text that are looked up."""

MAX_ADDRESS, MAX_VARIABLES = 2000, 20
"""Characters of an address or template, and variables of a template, beyond which nothing fits."""


@dataclass(frozen=True, slots=True)
class ResourceReference:
    """A reference as written, and the resource that it means; `route` None if nothing has that name."""

    written: str
    route: ResourceRoute | None
    uri: str
    missing: tuple[str, ...] = ()
    """Arguments of the template that are not given."""
    encoded: str = ""
    """The address with encoded slashes, which other servers want, where `uri` has some from arguments."""


def find_references(text: str, routes: Iterable[ResourceRoute]) -> tuple[ResourceReference, ...]:
    """Return the references of a text in order, each once."""
    known = tuple(routes)
    found: dict[str, ResourceReference] = {}
    for match in _REFERENCE.finditer(text):
        written = match[1]
        reference = resolve(written, known)
        if reference.route is None and written[-1] in _TRAILING:
            written = written.rstrip(_TRAILING)
            reference = resolve(written, known)
        found.setdefault(written, reference)
        if len(found) == MAX_REFERENCES:
            break
    return tuple(found.values())


def is_only_references(text: str) -> bool:
    """Return whether a text has references and nothing else."""
    return bool(text.strip()) and not _REFERENCE.sub("", text).strip()


def resolve(written: str, routes: Sequence[ResourceRoute]) -> ResourceReference:
    """Return what a reference (without "@") means: an address, then a name, then an address that fits a template."""
    name, arguments = _split(written)
    server, _, rest = name.partition(":")
    scopes = [(name, routes)]
    if rest and not rest.startswith("//"):
        scopes.append((rest, [route for route in routes if route.server.spec.name == server]))
    for wanted, among in scopes:
        for route in among:
            if wanted == route.uri and not route.is_template:
                return ResourceReference(written, route, route.uri)
        for route in among:
            if wanted in (route.name, route.uri):
                if not route.is_template:
                    return ResourceReference(written, route, route.uri)
                uri, missing = expand(route.uri, arguments, slashes="/")
                encoded, _ = expand(route.uri, arguments)
                return ResourceReference(written, route, uri, missing, encoded if encoded != uri else "")
        for route in among:
            if route.is_template and template_pattern(route.uri).fullmatch(wanted):
                return ResourceReference(written, route, wanted)
    return ResourceReference(written, None, "")


def variables(template: str) -> tuple[str, ...]:
    """Return the names of the variables of a URI template."""
    names: list[str] = []
    for match in _EXPRESSION.finditer(template):
        names += [_bare(name) for name in match[2].split(",") if name]
    return tuple(dict.fromkeys(names))


def expand(template: str, arguments: dict[str, str], slashes: str = "") -> tuple[str, tuple[str, ...]]:
    """Return the address of a template and the variables that are not given (RFC 6570, levels 1 to 3).

    `slashes` "/" leaves those of values as they are, which paths need and the RFC allows for `{+path}` only.
    """
    missing: list[str] = []

    def value(match: re.Match[str]) -> str:
        operator, names = match[1], [_bare(name) for name in match[2].split(",") if name]
        given = [(name, arguments[name]) for name in names if name in arguments]
        if operator in ("?", "&"):
            pairs = "&".join(f"{name}={quote(text, safe='')}" for name, text in given)
            return f"{operator}{pairs}" if pairs else ""
        missing.extend(name for name in names if name not in arguments)
        safe = ":/?#[]@!$&'()*+,;=" if operator in ("+", "#") else slashes
        separator = operator if operator in (".", "/", ";") else ","
        prefix = operator if operator in ("#", ".", "/", ";") else ""
        return prefix + separator.join(quote(text, safe=safe) for _, text in given)

    return _EXPRESSION.sub(value, template), tuple(missing)


@dataclass(frozen=True, slots=True)
class TemplatePattern:
    """What fits a template. Matching never backtracks, as a regular expression of `{+a}{+b}...` would forever."""

    template: UriTemplate | None
    with_slashes: UriTemplate | None = None
    """The template with `{+path}` for a `{path}` at its end: people write paths with slashes."""

    def fullmatch(self, uri: str) -> bool:
        """Return whether the template makes this address."""
        templates = (self.template, self.with_slashes)
        return any(one is not None and one.match(uri, max_uri_length=MAX_ADDRESS) is not None for one in templates)


@lru_cache(maxsize=10_000)
def template_pattern(template: str) -> TemplatePattern:
    """Return the pattern of a template; nothing fits one that is not valid or ambiguous, as adjacent variables are."""
    return TemplatePattern(_parsed(template), _parsed(_LAST.sub(r"{+\1}", template)))


def _parsed(template: str) -> UriTemplate | None:
    try:
        return UriTemplate.parse(template, max_length=MAX_ADDRESS, max_variables=MAX_VARIABLES)
    except InvalidUriTemplate:
        return None


def _split(written: str) -> tuple[str, dict[str, str]]:
    """Split `name(key=value, ...)`."""
    name, opened, inside = written.partition("(")
    if not opened or not inside.endswith(")"):
        return written, {}
    pairs = (part.partition("=") for part in inside[:-1].split(","))
    return name, {key.strip(): value.strip() for key, equals, value in pairs if equals}


def _bare(name: str) -> str:
    return name.split(":")[0].rstrip("*").strip()
