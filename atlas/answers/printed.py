"""An answer as a command prints it, and the exit code that it means: equal in its own process and in the daemon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atlas.answers.answer import to_dict
from atlas.core.errors import ConfigError, NotFound
from atlas.core.invisible import json_text, printable

if TYPE_CHECKING:
    from atlas.answers.answer import Answer


def printed(answer: Answer, cursor_option: str, *, as_json: bool, indent: int = 0) -> str:
    """Return the text of an answer for people, or the JSON of the whole answer, with its final line feed.

    `cursor_option` stands before the cursor of the next page; `indent` is that of JSON, 0 = one line.
    """
    if as_json:
        return json_text(to_dict(answer), indent=indent or None) + "\n"
    # agents make calls, people read
    return printable(answer.without_actions().render(cursor_option)) + "\n"


def exit_code_of(answer: Answer) -> int:
    """Return the exit code: of NotFound for no match or an unfinished index, of ConfigError below the token budget."""
    if answer.evidence.below_floor:
        return ConfigError.exit_code
    result = answer.result()
    is_missing = result.is_missing or (result.is_empty and not answer.evidence.indexed_at)
    return NotFound.exit_code if is_missing else 0
