"""What every answer knows: its text, its structured content, its emptied form, and what came of the question.

An answer type is a frozen dataclass of values with `tool` and `evidence`; it adds its lines and its content, and both
forms get the evidence here. Text: the first line is the evidence (project, generation, time, freshness); then come the
answer, stale files, notes, omissions and the cursor. Equal answers give equal bytes. Structured content: typed,
complete, and about as short as the text, because some clients pass only one of the two to their model. It costs at most
a tenth more than the text: keys stand once, lists hold the lines of the text, values that follow from others are not
repeated, and empty values are omitted.

Places are `path:line` relative to the project root, digests are 16 hex digits of the node's exact text, and scores and
confidences are rounded to 4 decimal places. Empty strings and tuples mean that a value is absent; the JSON form omits
them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass
from typing import Any, ClassVar, Protocol, Self, cast

from atlas.answers.evidence import ALWAYS, Evidence, Structure, evidence_head, evidence_structure, evidence_tail
from atlas.core.errors import ConfigError, NotFound
from atlas.core.invisible import json_text, printable


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """What came of a question; the default is an answer that cannot lack anything."""

    is_empty: bool = False
    """Nothing was found."""
    has_no_definition: bool = False
    """Nothing was found, or not the one definition of a name."""
    is_missing: bool = False
    """A name in the question does not exist, or means several things and is not answered for all of them."""
    asked: tuple[str, ...] = ()
    """The names that the answer is about: a newer file that mentions one may hold what the answer lacks."""


class Answer(Protocol):
    """A dataclass of values that says of itself what all forms of an answer need."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    cites: ClassVar[bool] = False
    """It cites files: structured content starts with a flag that is true if a file of the project is newer."""

    tool: str
    evidence: Evidence

    def lines(self) -> Iterable[str]:
        """Yield the lines of the text between the first and the last lines of the evidence."""
        ...

    def content(self) -> Structure:
        """Return the structured content without the evidence and without empty values."""
        ...

    def emptied(self) -> Self:
        """Return the answer without its body, for a budget below the shortest complete answer."""
        return self

    def without_actions(self) -> Self:
        """Return the answer without proposed calls of tools, for a person."""
        return self

    def offering(self, tools: Collection[str]) -> Self:
        """Return the answer without proposed calls of other tools than these."""
        return self

    def result(self) -> AnswerOutcome:
        """Return what came of the question."""
        return AnswerOutcome()

    def render(self, cursor_prefix: str = "cursor=") -> str:
        """Return the text, without a trailing newline; `cursor_prefix` is what a caller writes before the cursor."""
        head = evidence_head(self.evidence)
        if self.evidence.below_floor:
            return printable("\n".join((head, *self.evidence.withheld)))
        return printable("\n".join((head, *self.lines(), *evidence_tail(self.evidence, cursor_prefix))))

    def structure(self) -> Structure:
        """Return the structured content; the tool's definition declares its schema."""
        content = self.content()
        if self.evidence.below_floor:
            content = {key: value for key, value in content.items() if key in ALWAYS}
        flag: Structure = {"stale": self.evidence.freshness == "stale"} if self.cites else {}
        return {**flag, **content, "evidence": evidence_structure(self.evidence, is_flagged=self.cites)}


def structure_text(answer: Answer) -> str:
    """Return the structured content as the JSON text that a client passes to its model."""
    return json.dumps(shown_structure(answer), ensure_ascii=False, separators=(",", ":"))


def shown_structure(answer: Answer) -> Structure:
    """Return the structured content with what a reader does not see escaped, as in the text."""
    return cast("Structure", _without_hidden(answer.structure()))


def _without_hidden(value: object) -> object:
    if isinstance(value, str):
        return value if value.isascii() and value.isprintable() else printable(value)
    if isinstance(value, Mapping):
        return {key: _without_hidden(item) for key, item in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_without_hidden(item) for item in cast("Sequence[object]", value)]
    return value


def to_dict(value: object) -> object:
    """Return an answer as JSON values: dataclasses as mappings without empty values, tuples as lists."""
    if is_dataclass(value):
        pairs = ((field.name, to_dict(getattr(value, field.name))) for field in fields(value))
        return {name: item for name, item in pairs if item is not None and item != "" and item != []}
    if isinstance(value, Mapping):
        return {str(key): to_dict(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [to_dict(item) for item in cast("Sequence[object]", value)]
    return value


def printed(answer: Answer, cursor_option: str, *, as_json: bool, indent: int = 0) -> str:
    """Return what a command prints: the text for people, or the JSON of the whole answer, with its final line feed.

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
