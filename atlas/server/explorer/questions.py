"""What pages ask and are asked: calls of tools through the session, and the checked values of a request's query."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import parse_qsl

from starlette.requests import Request

from atlas.answers.answer import Answer
from atlas.answers.schema import check_arguments
from atlas.app.session import Session
from atlas.app.toolsets import BY_NAME
from atlas.core.errors import ConfigError

CLIENT = "explorer"
MAX_TEXT = 4_000
"""Characters of one value of a query."""
MAX_FORM, MAX_FIELDS = 400_000, 20
"""Bytes of a form, and its fields."""


class Asker(Protocol):
    """Calls a tool by its name."""

    async def __call__(self, tool: str, **arguments: object) -> Answer:
        """Return the answer. Raises AtlasError as the tool does, ConfigError for arguments against its schema."""
        ...


def asker_of(session: Session) -> Asker:
    """Return what calls the tools of a session."""

    async def ask(tool: str, **arguments: object) -> Answer:
        definition = BY_NAME[tool]
        return await session.answer(definition, check_arguments(definition.input_schema, arguments), CLIENT)

    return ask


class Given:
    """The query of a request, or its form. Values that are missing are empty."""

    def __init__(self, values: Mapping[str, str], most: int = MAX_TEXT) -> None:
        """Take the values by name. Raises ConfigError for one that is too long."""
        self._values = values
        if any(len(value) > most for value in values.values()):
            raise ConfigError("the question is too long", f"At most {most} characters.")

    def text(self, name: str) -> str:
        """Return a value."""
        return self._values.get(name, "")

    def words(self, name: str) -> list[str]:
        """Return the words of a value that commas or spaces divide."""
        return self.text(name).replace(",", " ").split()

    def number(self, name: str, most: int = 10_000_000) -> int:
        """Return a number from 0 to `most`; 0 for what is none."""
        found = self._values.get(name, "")
        return min(int(found), most) if found.isascii() and found.isdigit() and len(found) < 10 else 0

    def without(self, *names: str) -> dict[str, str]:
        """Return all values but some, for a link to another page of the same list."""
        return {name: value for name, value in self._values.items() if name not in names}


async def read_form(request: Request, token: str) -> Given:
    """Return the fields of a form of ours. Raises ConfigError for one without the token of our forms, or too large."""
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > MAX_FORM:
            raise ConfigError("the form is too large", f"At most {MAX_FORM} bytes.")
    try:
        fields = parse_qsl(data.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise ConfigError("the form cannot be read", "Use the forms of the pages.") from error
    given = Given(dict(fields), MAX_FORM)
    if not hmac.compare_digest(given.text("token").encode(), token.encode()):
        raise ConfigError("the form is an old one, or none of this explorer", "Load its page again.")
    return given
