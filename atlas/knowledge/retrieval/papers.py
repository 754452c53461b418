"""Papers in chains of claims: the links between papers, which the user's stored papers know and the index does not.

The index has the papers that notes name as their sources. Which paper cites which is a matter of the user's library, so
these links are joined when a question is answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from atlas.core.errors import StoreError
from atlas.core.ids import make_uid
from atlas.core.invisible import escaped
from atlas.core.model import EdgeRow, EdgeType, Label, NodeRow
from atlas.core.paper_source import PaperLinks
from atlas.core.threads import in_thread
from atlas.parsing import papers_named_in

CROSSINGS = frozenset((EdgeType.SOURCE.value, "CITES", "SAME_PAPER"))
"""Relations that lead to, from and between papers."""
_NAMES = ("arxiv:", "doi:")
MAX_TITLED = 3
"""Papers of one source whose titles are written in front of it."""
MAX_TITLE = 300


async def paper_edges(papers: PaperLinks | None, project: str, uids: Sequence[str]) -> list[EdgeRow]:
    """Return the links of those nodes that are papers; nothing if the stored papers cannot be read."""
    names = paper_names(project, uids)
    if papers is None or not names:
        return []
    try:
        links = await in_thread(papers.links, names)
    except StoreError:
        return []
    return [
        EdgeRow(make_uid(project, one.source), make_uid(project, one.target), one.relation, 0, "stored-paper", 1.0)
        for one in links
    ]


async def paper_rows(papers: PaperLinks | None, project: str, uids: Sequence[str]) -> dict[str, NodeRow]:
    """Return a row, with the title if it is known, of each node that is a paper, whether or not the index has it."""
    names, titles = paper_names(project, uids), dict[str, str]()
    if papers is not None and names:
        with suppress(StoreError):
            titles.update(await in_thread(papers.titles, names))
    return {make_uid(project, name): _row(project, name, titles.get(name, "")) for name in names}


async def titled_source(papers: PaperLinks | None, source: str) -> str:
    """Return a source with the titles of its stored papers in front: a note is searched by them.

    The title is part of the note's file then, so the index depends on files only, whoever makes it.
    """
    names = papers_named_in(source, MAX_TITLED) if papers is not None and source else []
    if papers is None or not names:
        return source
    try:
        found = await in_thread(papers.titles, names)
    except StoreError:
        return source
    titles = [" ".join(escaped(found[name]).split())[:MAX_TITLE].rstrip(" .,;") for name in names if name in found]
    missing = [title for title in titles if title and title.casefold() not in source.casefold()]
    return "; ".join((*missing, source))


def paper_names(project: str, uids: Sequence[str]) -> list[str]:
    """Return the names of those uids that are papers."""
    names = [uid.removeprefix(f"{project}:") for uid in uids if uid.startswith(f"{project}:")]
    return [name for name in names if name.startswith(_NAMES)]


def _row(project: str, name: str, title: str) -> NodeRow:
    return NodeRow(
        uid=make_uid(project, name),
        label=Label.PAPER,
        kind="paper",
        name=name.partition(":")[2],
        qualified_name=name,
        path="",
        docstring=title,
    )
