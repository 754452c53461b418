"""The ordered list of answers that are lines of texts: the first that knows its kind of question counts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from atlas.code.lines.caught import answer_caught
from atlas.code.lines.environment import answer_environment
from atlas.code.lines.flags import answer_flags
from atlas.code.lines.line_report import LineReport
from atlas.code.lines.releases import answer_releases
from atlas.code.lines.settings import answer_settings
from atlas.code.lines.versions import answer_versions
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.model import Filter

LINE_ANSWERS: tuple[Callable[[Reader, Query, Filter], Awaitable[LineReport | None]], ...] = (
    answer_caught,
    answer_environment,
    answer_versions,
    answer_releases,
    answer_flags,
    answer_settings,
)
