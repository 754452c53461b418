"""Chosen pages as self-contained HTML, for a pull request or a wiki: one file each, without scripts.

Links between the chosen pages stay, all others become text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import unescape

from markupsafe import Markup

from atlas.app.session import Session
from atlas.core.errors import Unavailable
from atlas.core.lazy_regex import lazy_regex
from atlas.server.explorer.app import PAGES, Values, is_path
from atlas.server.explorer.commits import LastCommits
from atlas.server.explorer.files import FilePages
from atlas.server.explorer.overview.page import Overview
from atlas.server.explorer.questions import Given, asker_of
from atlas.server.explorer.render import FOLDER, render, url

TRIES = 240
"""Times that the overview is asked for, a quarter of a second each, until the project is counted."""
# templates escape quotes, so that text has none before an equals sign
_LINK = lazy_regex(r' href="(/[^"]*)"')


async def exported_pages(session: Session, names: Sequence[str], diff: str = "") -> dict[str, str]:
    """Return pages by file name: the overview, each symbol with its impact, each file or folder, and the changes.

    `diff`: the revision or range of the changes, "" for none. Raises AtlasError as the pages do.
    """
    reader = (await session.indexed()).reader
    asked: list[tuple[str, str, dict[str, str]]] = [("index.html", "/", {})]
    for number, name in enumerate(names, 1):
        if await is_path(reader, name):
            asked.append((f"file-{number}.html", "/file", {"path": name.removeprefix("./").strip("/")}))
        else:
            asked.append((f"symbol-{number}.html", "/symbol", {"name": name}))
            asked.append((f"impact-{number}.html", "/symbol", {"name": name, "view": "impact"}))
    if diff:
        asked.append(("changes.html", "/changes", {"diff": diff}))
    ask, commits = asker_of(session), LastCommits()
    pages: Mapping[str, tuple[str, Values]] = {
        **PAGES,
        "/": ("overview.html", Overview(session, commits).values),
        "/file": ("file.html", FilePages(commits).values),
    }
    style = Markup((FOLDER / "static" / "explorer.css").read_text(encoding="utf-8"))
    titles = {file: url(path, **query) for file, path, query in asked}
    found: dict[str, str] = {}
    for file, path, query in asked:
        template, values = pages[path]
        given = Given(query)
        shown = await values(ask, reader, given)
        for _ in range(TRIES):
            if not shown.get("again"):
                break
            shown = await values(ask, reader, given)
        else:
            raise Unavailable("the project could not be counted", "Try again.")
        frame = {"project": session.settings.project_name, "given": given, "again": 0, "refresh": 0, "style": style}
        frame |= {"form_token": "", "chat_token": ""}
        frame |= {"pages": {titles[one]: one.removesuffix(".html") for one in titles}}
        page = render(template, {**frame, **shown}).decode()
        found[file] = _LINK.sub(lambda link: _kept(link[1], {to: one for one, to in titles.items()}), page)
    return found


def _kept(href: str, files: Mapping[str, str]) -> str:
    """Return the attribute of a link to a page that is exported, "" for another one."""
    to, _, line = unescape(href).partition("#")
    return f' href="{files[to]}{"#" if line else ""}{line}"' if to in files else ""
