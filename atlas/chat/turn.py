"""One question: the model answers, calls tools, sees their results, and answers again, within limits.

Calls run in the order of the model's answer; calls of tools that are declared read-only run side by side. A call that
fails, is refused or cannot be understood goes back to the model as an error.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from atlas.chat.content import Content, of_result
from atlas.chat.conversation import Conversation
from atlas.chat.hub import Hub
from atlas.chat.routes import ToolRoute
from atlas.chat.schemas import argument_problem, result_problem
from atlas.core.errors import AtlasError
from atlas.core.language_model import ChatModel, Retrying, TextDelta, ToolRequest, Usage
from atlas.core.wording import counted

PARALLEL = 8
"""Read-only calls at the same time."""

CHANGED = "error: the server has changed this tool since you read about it; call it as it is described now"


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Bounds of one question; 0 = no bound on tokens and cost."""

    rounds: int = 20
    tokens: int = 0
    """Input and output tokens of all requests together."""
    cost: float = 0.0
    """US dollars."""
    result_tokens: int = 8000
    """Of one tool result."""
    context_tokens: int = 100_000
    """Of all messages of a request."""


class TurnOutcome(StrEnum):
    """How a question ended."""

    ANSWERED = "answered"
    ROUNDS = "rounds"
    TOKENS = "tokens"
    COST = "cost"


class Screen(Protocol):
    """Where a turn shows what happens, and asks."""

    def text(self, delta: str) -> None:
        """Show a piece of the answer."""
        ...

    def end_text(self) -> None:
        """End a part of the answer: tools are called next, or it is complete."""
        ...

    def notice(self, text: str) -> None:
        """Show a remark about the conversation."""
        ...

    def call_started(self, route: ToolRoute, arguments: object) -> None:
        """Show that a tool is called."""
        ...

    def call_progress(self, route: ToolRoute, done: float, total: float | None, message: str) -> None:
        """Show the progress of a call."""
        ...

    def call_ended(self, route: ToolRoute, content: Content, *, failed: bool, seconds: float) -> None:
        """Show the result of a call."""
        ...

    async def allow(self, route: ToolRoute, arguments: object) -> bool:
        """Return whether the user allows a call of a tool that is not read-only."""
        ...


@dataclass(slots=True)
class Spent:
    """What a conversation has used."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    requests: int = 0
    calls: int = 0

    def add(self, usage: Usage) -> None:
        """Add the usage of one request."""
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        self.cost += usage.cost

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Turn:
    """What a question is answered with."""

    model: ChatModel
    hub: Hub
    conversation: Conversation
    screen: Screen
    limits: TurnLimits
    spent: Spent

    async def run(self) -> TurnOutcome:
        """Answer the last message of the conversation. Raises AtlasError if the model cannot be asked."""
        began = Spent(self.spent.input_tokens, self.spent.output_tokens, self.spent.cost)
        for _ in range(self.limits.rounds):
            await self.hub.refresh()
            routes = {route.name: route for route in self.hub.tools()}
            dropped = self.conversation.trim(self.limits.context_tokens)
            if dropped:
                self.screen.notice(
                    f"removed {counted(dropped, 'old tool result')} to stay within {self.limits.context_tokens} tokens"
                )
            text, calls = await self._ask([route.declaration for route in routes.values()])
            self.conversation.add_assistant(text, calls)
            self.screen.end_text()
            if not calls:
                return TurnOutcome.ANSWERED
            await self._call_all(calls, routes)
            if self.limits.tokens and self.spent.tokens - began.tokens >= self.limits.tokens:
                return TurnOutcome.TOKENS
            if self.limits.cost and self.spent.cost - began.cost >= self.limits.cost:
                return TurnOutcome.COST
        return TurnOutcome.ROUNDS

    async def _ask(self, tools: Sequence[dict[str, object]]) -> tuple[str, list[ToolRequest]]:
        texts: list[str] = []
        calls: list[ToolRequest] = []
        self.spent.requests += 1
        async with aclosing(self.model.stream(self.conversation.sendable(), tools)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    texts.append(event.text)
                    self.screen.text(event.text)
                elif isinstance(event, ToolRequest):
                    calls.append(event)
                elif isinstance(event, Retrying):
                    texts.clear()
                    self.screen.end_text()
                    self.screen.notice(f"{event.reason}; asking again in {event.seconds:g} s")
                else:
                    self.spent.add(event)
        return "".join(texts), calls

    async def _call_all(self, calls: Sequence[ToolRequest], routes: dict[str, ToolRoute]) -> None:
        """Call the tools and add their results in the order of the calls; neighbouring read-only calls run together."""
        results: dict[str, Content] = {}
        group: list[tuple[int, ToolRequest]] = []
        for number, call in enumerate(calls):
            route = routes.get(call.name)
            if route is not None and route.read_only:
                group.append((number, call))
                continue
            await self._call_group(group, routes, results)
            group = []
            results[str(number)] = await self._call(call, route, routes)
        await self._call_group(group, routes, results)
        for number, call in enumerate(calls):
            cut = self.conversation.add_result(call, results[str(number)], self.limits.result_tokens)
            if cut:
                self.screen.notice(f"the result of {call.name} was cut by some {counted(cut, 'token')}")

    async def _call_group(
        self, group: Sequence[tuple[int, ToolRequest]], routes: dict[str, ToolRoute], results: dict[str, Content]
    ) -> None:
        places = asyncio.Semaphore(PARALLEL)

        async def one(number: int, call: ToolRequest) -> None:
            async with places:
                results[str(number)] = await self._call(call, routes.get(call.name), routes)

        async with asyncio.TaskGroup() as tasks:
            for number, call in group:
                tasks.create_task(one(number, call))

    async def _call(self, call: ToolRequest, route: ToolRoute | None, routes: dict[str, ToolRoute]) -> Content:
        """Return the result of one call as the model sees it."""
        self.spent.calls += 1
        if route is None:
            return Content(f"error: there is no tool {call.name!r}; tools: {', '.join(routes) or 'none'}")
        try:
            arguments: Any = json.loads(call.arguments or "{}")
        except ValueError as error:
            return Content(f"error: the arguments are not valid JSON: {error}")
        problem = argument_problem(route.tool, arguments)
        if problem:
            return Content(f"error: {problem}")
        if await self.hub.has_changed(route):
            return Content(CHANGED)
        if not route.read_only:
            if not await self.screen.allow(route, arguments):
                return Content("error: the user does not allow this call")
            if await self.hub.has_changed(route):  # while the user read the question
                return Content(CHANGED)
        self.screen.call_started(route, arguments)
        began = time.monotonic()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            self.screen.call_progress(route, progress, total, message or "")

        failed = True
        try:
            result = await route.server.call_tool(route.tool.name, arguments, report)
            self.hub.reader.remember(result, route.server)
            problem = result_problem(route.tool, result)
            if problem:
                raise AtlasError(f"{route.server.spec.name}: the answer is not valid: {problem}")
            content, failed = of_result(result), bool(result.is_error)
            if failed:
                said = content.text if content.text.startswith("error:") else f"error: {content.text}"
                content = Content(said, content.images)
        except AtlasError as error:
            content = Content(f"error: {error.message}{'. ' if error.hint else ''}{error.hint}")
        self.screen.call_ended(route, content, failed=failed, seconds=time.monotonic() - began)
        return content
