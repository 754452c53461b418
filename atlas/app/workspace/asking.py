"""One question to another project of the workspace, or to all: each answers by itself, within one budget."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from atlas.answers.answer import Answer, AnswerOutcome
from atlas.answers.evidence import Evidence, Structure
from atlas.app.workspace.members import ALL, SessionWorkspace
from atlas.core.errors import AtlasError, ConfigError

if TYPE_CHECKING:
    from atlas.answers.tool import Tool
    from atlas.answers.toolset import Caller
    from atlas.runtime.config.load import Settings

DEFAULT_BUDGET = 2_000
LEAST_BUDGET = 60
"""Tokens below which a project is not asked: its answer would not fit."""
OVERHEAD = 24
"""Tokens that an answer's heading takes in the whole, in text or structure."""
ALONE = "is in no workspace, so it answers alone: `atlas workspace add FOLDER ...` names projects that answer together"
OWN_SHARE = 2
"""The asking project's answer may take one in so many tokens of the budget."""

Ask = Callable[["Tool", Mapping[str, object], "Caller"], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class WorkspaceAnswer(Answer):
    """The answers of several projects to one question; that of the asking project first."""

    cites: ClassVar[bool] = True

    tool: str
    parts: tuple[tuple[str, Answer], ...]
    """Label of the project and its answer."""
    evidence: Evidence
    """That of the first answer, with the tokens and the budget of all."""
    missing: tuple[str, ...] = ()
    """Projects that have not answered, and why."""

    def lines(self) -> Iterator[str]:
        """Yield the whole answers, each below the name of its project."""
        for label, answer in self.parts:
            yield f"project {label}:"
            yield answer.render("cursor=")
        yield from (f"note: {line}" for line in self.missing)

    def render(self, cursor_prefix: str = "cursor=") -> str:
        """Return the text: each answer has its own first and last lines."""
        texts = [f"project {label}:\n{answer.render(cursor_prefix)}" for label, answer in self.parts]
        return "\n".join((*texts, *(f"note: {line}" for line in self.missing)))

    def content(self) -> Structure:
        """Return the content of the first answer, with the other answers by project."""
        others: Structure = {label: answer.structure() for label, answer in self.parts[1:]}
        missing: Structure = {"missing": list(self.missing)} if self.missing else {}
        return {**self.parts[0][1].content(), "others": others, **missing}

    def structure(self) -> Structure:
        """Return the structure of the first answer with those of the others by project."""
        content = self.content()
        first = self.parts[0][1].structure()
        return {**first, **{key: content[key] for key in ("others", "missing") if key in content}}

    def without_actions(self) -> Self:
        """Return the answers without proposed calls."""
        return replace(self, parts=tuple((label, answer.without_actions()) for label, answer in self.parts))

    def offering(self, tools: Collection[str]) -> Self:
        """Return the answers without proposed calls of other tools."""
        return replace(self, parts=tuple((label, answer.offering(tools)) for label, answer in self.parts))

    def result(self) -> AnswerOutcome:
        """Return whether any project has found something."""
        results = [answer.result() for _, answer in self.parts]
        return AnswerOutcome(
            all(one.is_empty for one in results),
            all(one.has_no_definition for one in results),
            all(one.is_missing for one in results),
            results[0].asked,
        )


async def ask_elsewhere(
    workspace: SessionWorkspace, own: Settings, tool: Tool, arguments: Mapping[str, object], caller: Caller, ask: Ask
) -> Answer | None:
    """Return the answer of another project, or of all of the workspace; None if the session's own one is meant.

    `ask` asks the session's own project. Raises ConfigError and NotFound for a project that cannot be asked.
    """
    project = arguments.get("project")
    if "project" not in tool.arguments or not isinstance(project, str) or not project:
        return None
    rest = {name: value for name, value in arguments.items() if name != "project"}
    if project == str(own.root) or project == workspace.own_label:
        return await ask(tool, rest, caller)
    member = await workspace.named(project)
    if member is not None:
        return await workspace.session(member).answer(tool, rest, caller.client)
    if project != ALL or own.project_name == ALL:
        return None
    if arguments.get("cursor") and not workspace.is_empty:
        raise ConfigError("a cursor belongs to one project", "Give project with the cursor: the name above the page.")
    return await _ask_all(workspace, own, tool, rest, caller, ask)


async def _ask_all(
    workspace: SessionWorkspace, own: Settings, tool: Tool, arguments: Mapping[str, object], caller: Caller, ask: Ask
) -> Answer:
    given = arguments.get("token_budget")
    budget = given if isinstance(given, int) else own.search.token_budget or DEFAULT_BUDGET
    has_budget = "token_budget" in tool.arguments
    members = await workspace.members()
    parts: list[tuple[str, Answer]] = []
    missing = [f"{workspace.own_label} {ALONE}"] if workspace.is_empty else []
    used = OVERHEAD * len(missing)
    own_share = OWN_SHARE if members else 1
    failure: AtlasError | None = None
    asked = [(workspace.own_label, None), *((one.label, one) for one in members)]
    for position, (label, member) in enumerate(asked):
        left = (budget - used) // own_share if not position else (budget - used) // (len(asked) - position)
        if member is not None and member.problem:
            used += OVERHEAD
            missing.append(f"project {label} is not asked: {member.problem}")
            continue
        if has_budget and position and left - OVERHEAD < LEAST_BUDGET:
            missing.append(f"project {label} is not asked: raise token_budget, or give project {label}")
            continue
        own_arguments = {**arguments, "token_budget": max(1, left - OVERHEAD)} if has_budget else arguments
        try:
            answer = await (
                ask(tool, own_arguments, caller)
                if member is None
                else workspace.session(member).answer(tool, own_arguments, caller.client)
            )
        except AtlasError as error:
            failure = failure or error
            used += OVERHEAD
            missing.append(f"project {label} has no answer: {error.message[:200]}")
            continue
        parts.append((label, answer))
        used += answer.evidence.tokens + OVERHEAD
    if failure is not None and not parts:
        raise failure
    first = parts[0][1].evidence
    return WorkspaceAnswer(tool.name, tuple(parts), replace(first, tokens=used, token_budget=budget), tuple(missing))
