"""Prompts for MCP clients: what to ask of the tools, in which order, to explain, review or plan. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from atlas.core.errors import ConfigError

MAX_VALUE_CHARACTERS = 1_000


class Argument(NamedTuple):
    """An argument of a prompt; the `symbol` is completed from the index."""

    name: str
    description: str
    required: bool = True


class Prompt(NamedTuple):
    """A prompt: the text has a `{name}` for each argument."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    text: str


_SYMBOL = Argument("symbol", "Name, qualified name, uid or path:line")

PROMPTS = (
    Prompt(
        "explain_symbol",
        "Explain a symbol",
        "Explain what a symbol does, who uses it and how it is tested.",
        (_SYMBOL,),
        """Explain `{symbol}` in this project.
1. Call get_context with name `{symbol}`. If the name is ambiguous, choose the candidate that fits and say which.
2. Call hybrid_search with `callers of {symbol}` and with `tests for {symbol}`.
3. Say what it does, what it needs, who calls it, which tests cover it, and which documents describe it.
Cite path:line from the answers. Say where an answer is stale, withheld or uncertain (confidence below 0.8).""",
    ),
    Prompt(
        "review_change",
        "Review a change",
        "Review a change by what depends on it: callers, overrides, tests and documents.",
        (Argument("change", "Revision, branch or files; the uncommitted change if omitted", required=False),),
        """Review {change}.
1. List the changed files and symbols; the resource atlas://file/PATH has the outline of a file.
2. For each changed function, method or class call hybrid_search with `what breaks if I change NAME`, and with
   `overrides of NAME` for a method.
3. Read each affected caller with get_context and decide whether it still holds.
4. Call hybrid_search with `tests for NAME` and `docs for NAME`; name tests to run and documents to update.
Report defects first, each with path:line and the chain of edges; then missing tests. If an answer is stale, call
index.""",
    ),
    Prompt(
        "plan_refactoring",
        "Plan a refactoring",
        "Plan a refactoring of a symbol with every place that has to change.",
        (_SYMBOL, Argument("goal", "What shall be different afterwards")),
        """Plan a refactoring of `{symbol}`: {goal}
1. Call get_context with name `{symbol}`.
2. Call hybrid_search with `callers of {symbol}`, `overrides of {symbol}`, `references to {symbol}`, `importers of
   {symbol}` and `tests for {symbol}`; follow each cursor to the end.
3. List every place that has to change as path:line, grouped by file, and what changes there.
4. Order the steps so that the tests pass after each one; name the tests.
Edges with a confidence below 0.8 and unresolved references are to be checked by reading; say which.""",
    ),
)
_DEFAULTS = {"change": "the uncommitted change of this working tree"}


def prompt_text(name: str, values: Mapping[str, str]) -> tuple[Prompt, str]:
    """Return a prompt and its text with the values filled in.

    Raises ConfigError for an unknown prompt, and for a missing, unknown, too long or unprintable value.
    """
    prompt = next((each for each in PROMPTS if each.name == name), None)
    if prompt is None:
        raise ConfigError(f"unknown prompt {name[:80]!r}", f"Prompts: {', '.join(each.name for each in PROMPTS)}.")
    known = {argument.name for argument in prompt.arguments}
    for key, value in values.items():
        if key not in known:
            raise ConfigError(f"unknown argument {key[:80]!r}", f"Arguments: {', '.join(sorted(known))}.")
        if len(value) > MAX_VALUE_CHARACTERS or not value.isprintable():
            raise ConfigError(f"{key} is too long or has control characters", "Give one line.")
    text = prompt.text
    for argument in prompt.arguments:
        value = values.get(argument.name, "").strip() or _DEFAULTS.get(argument.name, "")
        if not value:
            raise ConfigError(f"missing argument {argument.name}", argument.description)
        text = text.replace(f"{{{argument.name}}}", value)
    return prompt, text
