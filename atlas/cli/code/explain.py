"""`atlas search --explain`: the stages of the ranking and the features of each hit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from atlas.cli import output
from atlas.cli.run import run

if TYPE_CHECKING:
    from atlas.code.find import SearchResult
    from atlas.code.reader import RankingOptions
    from atlas.runtime.config.load import Settings

SHOWN = 10
"""Hits without a limit."""


def explain_search(
    settings: Settings, mode: str, query: str, arguments: Mapping[str, Any], limit: int, *, as_json: bool
) -> None:
    """Search and print the explanation, as text or JSON. Raises AtlasError as the search does."""
    from atlas.code.tools.search.explain import explain, explanation_lines

    found, options = run(_search(settings, mode, query, arguments))
    if as_json:
        output.print_json(explain(found, options, limit or SHOWN))
        return
    for line in explanation_lines(found, options, limit or SHOWN):
        print(output.plain(line))


async def _search(
    settings: Settings, mode: str, query: str, arguments: Mapping[str, Any]
) -> tuple[SearchResult, RankingOptions]:
    from atlas.app.session import make_session
    from atlas.code.find import Mode
    from atlas.code.tools.search.explain import find_to_explain

    session, modes = make_session(settings), {"text": Mode.WORDS, "vector": Mode.MEANING}
    try:
        atlas = await session.fresh()
        found = await find_to_explain(atlas, modes.get(mode, Mode.HYBRID), query, **arguments)
        return found, atlas.reader.ranking
    finally:
        await session.aclose()
