"""Writes that happen once: a repeated call with the same idempotency key gives the answer of the first one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from atlas.answers.items import ItemsAnswer, ItemsBody, body_from_json, body_to_json
from atlas.core.threads import in_thread
from atlas.knowledge.notes import requests
from atlas.knowledge.notes.checks import check_line
from atlas.knowledge.tools.note_base import Knowledge, NoteBase, locked
from atlas.knowledge.tools.units import answer

WRITE_BUDGET = 1500


async def once(
    knowledge: Knowledge,
    base: NoteBase,
    tool: str,
    key: str,
    arguments: Mapping[str, Any],
    kind: str,
    write: Callable[[str], Awaitable[tuple[ItemsBody, list[str]]]],
) -> ItemsAnswer:
    """Run a write, or return the answer of an earlier call with the same key. See `atlas.knowledge.notes.requests`.

    `write` gets the id of the note to write; called again with the id of a call that was killed, it doubles nothing.
    """
    note_id = base.notebook.ids.new(kind)
    if not key:
        body, notes = await write(note_id)
        return await answer(knowledge, tool, body, WRITE_BUDGET, notes)
    name = check_line("idempotency_key", key)
    async with locked(base, name, "key"):
        # a newer version of a client repeats the calls of the one before
        client = knowledge.client.partition("/")[0]
        request = await in_thread(requests.begin, base.notebook.data_dir, name, tool, arguments, note_id, client)
        if request.answer is not None:
            # a damaged answer counts as none: the note has the recorded id, so it is not doubled
            with suppress(KeyError, TypeError, ValueError, AttributeError):
                body = replace(body_from_json(request.answer), status="repeated")
                return await answer(knowledge, tool, body, WRITE_BUDGET)
        body, notes = await write(request.note_id)
        await in_thread(requests.finish, request, body_to_json(body))
        return await answer(knowledge, tool, body, WRITE_BUDGET, notes)
