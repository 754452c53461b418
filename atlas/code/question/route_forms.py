"""Read questions about routes: by method and path, by a name, by words of the path, or all of them. Pure.

A question is one about routes only if it says so: by an HTTP method, or a word such as `route` next to a path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from atlas.code.question.client_forms import asks_for_clients
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.core.lazy_regex import lazy_regex

_METHOD = r"GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|RPC"
_PATH = lazy_regex(r"(?<![\w./<>:-])(?:https?://[\w.:-]+)?(?P<path>/(?:[\w.~:@!$&*+,;=%{}<>\[\]()/-]*[\w}>*\])/])?)")
_METHOD_PATH = lazy_regex(rf"\b(?P<method>{_METHOD})\s+(?:request to |requests to )?[`'\"]?(?P<path>/\S*)")
_BELOW = lazy_regex(
    r"\b(?:under|below|beneath|inside|starting with|beginning with|prefixed with|with the prefix)\b", re.IGNORECASE
)
_REGISTERED = tuple(
    lazy_regex(form, re.IGNORECASE)
    for form in (
        r"^(?:what|which|list|show|all)?(?: me)?(?: all)?(?: the)? ?(?:http |rest |api )?(?:routes|endpoints|urls) "
        r"(?:does|do|that|which) (?:the )?(?:file |module |class )?[`'\"]?(?P<name>[\w./$-]+)[`'\"]? "
        r"(?:registers?|defines?|declares?|adds?|exposes?|serves?|has|have|contains?|handles?)\??$",
        r"^(?:what|which|list|show|all)?(?: me)?(?: all)?(?: the)? ?(?:http |rest |api )?(?:routes|endpoints|urls) "
        r"(?:are )?(?:registered|defined|declared|handled|served|exposed) (?:in|by) (?:the )?(?:file |module |class )?"
        r"[`'\"]?(?P<name>[\w./$-]+)[`'\"]?\??$",
    )
)
_WHICH_ROUTE = lazy_regex(
    r"^(?:which|what)(?: is the)? (?:(?:http|rest|api) )?(?:routes?|endpoints?|urls?) (?P<words>[\w' -]+?)\??$",
    re.IGNORECASE,
)
"""`which endpoint resets a user file`: words of the path or of the handler's name."""
_SMALL_WORDS = frozenset(
    """
    a an the of for to in on at by with from and or is are does do that which what i we it this all any its
    their used returns return gives give handles handle serves serve lets allows one users can get post put
    delete patch there here exist exists available have has
    """.split()  # noqa: SIM905
)
_ROUTE_WORD = lazy_regex(
    r"\b(?:routes?|endpoints?|urls?|handles?|handled|handlers?|serves?|served|views?|requests?|controllers?|api)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RouteQuestion:
    """A question about routes: by method and path, or by the name of a handler; all of them without both."""

    method: str = ""
    path: str = ""
    name: str = ""
    is_prefix: bool = False
    """Whether all routes below the path are asked for."""
    words: tuple[str, ...] = ()
    """Words of the path or of the handler's name."""
    clients: bool = False
    """Whether those who call the route are asked for, rather than its handler."""


def read_route_question(text: str, intent: RelationIntent | None) -> RouteQuestion | None:
    """Return what a question asks about routes, None if it asks something else. Pure."""
    if len(text) > 300:
        return None
    if (found := _METHOD_PATH.search(text)) is not None:
        return RouteQuestion(found["method"], _cleaned(found["path"]), clients=asks_for_clients(text))
    path = _PATH.search(text)
    if path is not None and _ROUTE_WORD.search(text[: path.start()] + text[path.end() :]):
        is_prefix = bool(_BELOW.search(text[: path.start()]))
        return RouteQuestion(path=_cleaned(path["path"]), is_prefix=is_prefix, clients=asks_for_clients(text))
    for form in _REGISTERED:
        if (match := form.match(text)) is not None:
            return RouteQuestion(name=match["name"])
    if (match := _WHICH_ROUTE.match(text)) is not None and (words := stems_of(match["words"])):
        return RouteQuestion(words=words)
    if intent is None or intent.kind != Kind.ROUTES:
        return None
    if intent.name.startswith("/"):
        return RouteQuestion(path=_cleaned(intent.name))
    return RouteQuestion(name=intent.name)


def stems_of(text: str) -> tuple[str, ...]:
    """Return the words of a question, a path or a name without endings, in lower case, each once."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", text)
    words = (word.lower() for word in parts)
    return tuple(
        dict.fromkeys(re.sub(r"(?:ies|es|s|ing|ed|e)$", "", word) for word in words if word not in _SMALL_WORDS)
    )


def _cleaned(path: str) -> str:
    return path.rstrip("`'\".,;!?") or "/"
