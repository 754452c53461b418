"""What the commands that ask the index pass to its tools. Imports nothing heavy."""

from __future__ import annotations

from atlas.core.errors import ConfigError

TYPE_CHECKING = False  # `typing` takes as long as the rest
if TYPE_CHECKING:
    from collections.abc import Sequence

STATUS_BUDGET = 200_000
CURSOR_OPTION = "--cursor "
"""Stands before the cursor of the next page, so that the line can be copied into the next command."""
LINE_MODES = ("exact", "regex")

AskRequest = tuple[str, dict[str, object]]
"""A tool and its arguments."""


def given(**arguments: object) -> dict[str, object]:
    """Return the given arguments: neither empty nor 0."""
    return {name: value for name, value in arguments.items() if value not in ("", 0, [])}


def status_request(
    *, skipped: bool = False, only: str = "", every: bool = False, token_budget: int = STATUS_BUDGET
) -> AskRequest:
    """Return the request of `atlas status`."""
    shown = given(token_budget=token_budget, skipped_filter=only) | {"skipped": skipped, "everything": every}
    return "status", shown


def symbol_request(tool: str, name: str, *, path: str = "", label: str = "", token_budget: int = 0) -> AskRequest:
    """Return the request of `atlas node` and `context`, whose tools are `get_node` and `get_context`."""
    return tool, {"name": name} | given(path=path, label=label, token_budget=token_budget)


def impact_request(
    name: str = "", *, diff: str = "", staged: bool = False, depth: int = 0, limit: int = 0, token_budget: int = 0
) -> AskRequest:
    """Return the request of `atlas impact`, with a text as its answer."""
    return "impact", given(name=name, diff=diff, staged=staged, depth=depth, limit=limit, token_budget=token_budget)


def cypher_request(query: str, *, limit: int = 0, token_budget: int = 0) -> AskRequest:
    """Return the request of `atlas cypher`, without parameters."""
    parameters: dict[str, object] = {}
    return "cypher_query", {"query": query, **given(limit=limit, token_budget=token_budget), "parameters": parameters}


def search_request(
    query: str = "",
    *,
    relation: str = "",
    of: str = "",
    to: str = "",
    scope: str = "",
    mode: str = "hybrid",
    path: str = "",
    label: Sequence[str] | None = None,
    language: Sequence[str] | None = None,
    tests: bool | None = None,
    limit: int = 0,
    brief: bool = False,
    snippets: bool = False,
    token_budget: int = 0,
    cursor: str = "",
) -> AskRequest:
    """Return the request of `atlas search`. Raises ConfigError for an empty question."""
    stated = given(relation=relation, of=of, to=to, scope=scope)
    if not query.strip() and not stated:
        raise ConfigError("the query is empty", "give a name, some words or a question, or --relation with --of")
    chosen = given(path=path, labels=label or [], languages=language or [])
    if tests is not None:
        chosen["include_tests"] = tests
    shown = given(limit=limit, token_budget=token_budget, cursor=cursor, brief=brief)
    if mode in LINE_MODES:
        return "text_search", {"query": query, "mode": mode, **chosen, **shown}
    asked = query or f"{relation} {of}".strip()
    return f"{mode}_search", {"query": asked, **stated, **chosen, **shown, **given(snippets=snippets)}
