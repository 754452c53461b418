"""Questions about members that statements give to objects: what replaces a function, and what uses a member."""

from __future__ import annotations

from atlas.code.lines.assigned.member_uses import answer_member_uses
from atlas.code.lines.assigned.of_file import answer_attached_by
from atlas.code.lines.assigned.replaced import answer_replaced
from atlas.code.lines.line_report import LineReport
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.model import Filter


async def answer_members(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer such a question; None for others. Raises store errors."""
    found = await answer_attached_by(reader, query, where) or await answer_replaced(reader, query, where)
    return found or await answer_member_uses(reader, query, where)
