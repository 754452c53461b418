"""The explorer's application: which page answers which path, what an error looks like, and how it is served."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from atlas.core.errors import AtlasError, ConfigError, NotFound, Unavailable
from atlas.server.explorer.access import OneBrowser
from atlas.server.explorer.commits import LastCommits
from atlas.server.explorer.drawing import svg
from atlas.server.explorer.files import FilePages
from atlas.server.explorer.flow.page import flow_values
from atlas.server.explorer.knowledge import knowledge_values, unit_values, write_unit
from atlas.server.explorer.overview.page import Overview
from atlas.server.explorer.packs import PackPages
from atlas.server.explorer.papers import PaperPages
from atlas.server.explorer.pictures import picture_of
from atlas.server.explorer.questions import Asker, Given, asker_of, read_form
from atlas.server.explorer.render import FOLDER, file_url, render, symbol_url
from atlas.server.explorer.reports import changes_values, live_status, status_values
from atlas.server.explorer.search import search_values, suggestions
from atlas.server.explorer.symbol import symbol_values

if TYPE_CHECKING:
    import socket

    from atlas.app.session import Session
    from atlas.code.reader import Reader
    from atlas.runtime.config.load import Settings
    from atlas.server.explorer.chat import ChatRoom, Servers

logger = logging.getLogger("atlas.explorer")

AT_WORK = 4
"""Pages that are composed at once; further requests wait."""
PAGE_SECONDS = 60.0
REQUESTS = 64
"""Connections of one browser, and more."""
STATUSES: Mapping[type[AtlasError], int] = {NotFound: 404, ConfigError: 400, Unavailable: 503}
HTML = "text/html; charset=utf-8"
STATIC_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

Values = Callable[[Asker, "Reader", Given], Awaitable[Mapping[str, object]]]
"""What a page shows: the variables of its template."""
Write = Callable[[Asker, Given], Awaitable[str]]
"""Does what a form asks for; returns the page that shows it."""


async def _picture(ask: Asker, reader: Reader, given: Given) -> Mapping[str, object]:
    picture = await picture_of(ask, reader, given.text("name"))
    return {"title": picture.title, "picture": picture, "drawing": svg(picture, linked=True), "evidence": None}


PAGES: Mapping[str, tuple[str, Values]] = {
    "/search": ("search.html", search_values),
    "/symbol": ("symbol.html", symbol_values),
    "/changes": ("changes.html", changes_values),
    "/flow": ("flow.html", flow_values),
    "/picture": ("picture.html", _picture),
    "/knowledge": ("knowledge.html", knowledge_values),
    "/unit": ("unit.html", unit_values),
    "/status": ("status.html", status_values),
}
"""Path -> template, and what it shows."""
NAVIGATION = {
    "/search": "Search",
    "/file": "Files",
    "/changes": "Changes",
    "/flow": "Flow",
    "/knowledge": "Knowledge",
    "/packs": "Packs",
    "/papers": "Papers",
    "/chat": "Chat",
    "/status": "Status",
}


class Explorer:
    """The pages of one session."""

    def __init__(self, session: Session, servers: Servers | None = None) -> None:
        """`servers`: those of a chat; None: there is no chat."""
        self._session, self._ask = session, asker_of(session)
        self._places = asyncio.Semaphore(AT_WORK)
        self._form = new_token()
        """What a form must have to be one of this explorer's."""
        self._packs, self._papers = PackPages(session), PaperPages(session.settings)
        self._servers = servers
        self._chat: ChatRoom | None = None

    async def aclose(self) -> None:
        """End the chat and close the papers; idempotent."""
        if self._chat is not None:
            await self._chat.aclose()
        await self._papers.aclose()

    def application(self) -> Starlette:
        """Return the application without its access control."""
        commits = LastCommits()
        own: Mapping[str, tuple[str, Values]] = {
            "/": ("overview.html", Overview(self._session, commits).values),
            "/file": ("file.html", FilePages(commits).values),
            "/packs": ("packs.html", self._packs.values),
            "/article": ("article.html", self._packs.article),
            "/papers": ("papers.html", self._papers.values),
            "/paper": ("paper.html", self._papers.paper),
            "/chat": ("chat.html", self._talk),
        }
        writes: Mapping[str, Write] = {
            "/unit/write": self._write_unit,
            "/chat/ask": self._in_chat(lambda chat: chat.ask),
            "/chat/allow": self._in_chat(lambda chat: chat.decide),
            "/chat/end": self._in_chat(lambda chat: chat.end),
        }
        return Starlette(
            routes=[
                *(Route(path, self._page(*page)) for path, page in {**PAGES, **own}.items()),
                *(Route(path, self._write(write), methods=["POST"]) for path, write in writes.items()),
                Route("/chat/live", self._live_talk),
                Route("/suggest", self._suggest),
                Route("/open", self._open),
                Route("/status/live", self._live),
                Route("/static/{name}", _static),
                Route("/{rest:path}", self._nowhere),
            ]
        )

    def _page(self, template: str, values: Values) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            async def compose(given: Given) -> Response:
                reader = (await self._session.indexed()).reader
                shown = await values(self._ask, reader, given)
                return Response(render(template, {**self._frame(given), **shown}), media_type=HTML)

            return await self._within_limits(request, compose)

        return answer

    def _write(self, write: Write) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            async def compose(_: Given) -> Response:
                to = await write(self._ask, await read_form(request, self._form))
                return Response(status_code=303, headers={"location": to})

            return await self._within_limits(request, compose)

        return answer

    async def _write_unit(self, ask: Asker, given: Given) -> str:
        if not self._session.settings.knowledge.allow_write:
            raise ConfigError("notes are only read here", "The setting knowledge.allow_write allows to write them.")
        return await write_unit(ask, given)

    async def _room(self) -> ChatRoom:
        """Return the chat, made when it is first asked for: its SDK costs half of a start."""
        if self._chat is None:
            made = await asyncio.to_thread(_new_room, self._session.settings, self._servers)
            self._chat = self._chat or made  # of two requests at once, the first one's
        return self._chat

    def _in_chat(self, write: Callable[[ChatRoom], Write]) -> Write:
        async def written(ask: Asker, given: Given) -> str:
            return await write(await self._room())(ask, given)

        return written

    async def _talk(self, ask: Asker, reader: Reader, given: Given) -> Mapping[str, object]:
        return await (await self._room()).values(ask, reader, given)

    async def _live_talk(self, request: Request) -> Response:
        return StreamingResponse((await self._room()).live(), media_type="text/event-stream")

    async def _suggest(self, request: Request) -> Response:
        async def compose(given: Given) -> Response:
            return Response(json.dumps(await suggestions(self._ask, given)), media_type="application/json")

        return await self._within_limits(request, compose)

    async def _open(self, request: Request) -> Response:
        """Lead to the page of a name, which may be a file, a folder or a symbol."""

        async def compose(given: Given) -> Response:
            reader, name = (await self._session.indexed()).reader, given.text("name")
            to = file_url(_path_of(name)) if await is_path(reader, name) else symbol_url(name)
            return Response(status_code=303, headers={"location": to})

        return await self._within_limits(request, compose)

    async def _live(self, request: Request) -> Response:
        async def compose(given: Given) -> Response:
            return Response(await live_status(self._ask), media_type="text/event-stream")

        return await self._within_limits(request, compose)

    async def _nowhere(self, request: Request) -> Response:
        return self._problem(NotFound("there is no such page", "Search, or begin at the first page."), Given({}))

    async def _within_limits(self, request: Request, compose: Callable[[Given], Awaitable[Response]]) -> Response:
        given = Given({})
        try:
            given = Given(dict(request.query_params))
            async with self._places, asyncio.timeout(PAGE_SECONDS):
                return await compose(given)
        except AtlasError as error:
            return self._problem(error, given)
        except TimeoutError:
            return self._problem(Unavailable("the page took too long", "Ask for less, or try again."), given)
        except Exception:  # the boundary: the browser gets a sentence, the log the traceback
            logger.exception("%s failed", request.url.path)
            return self._problem(AtlasError("the page failed", "This is a bug in Code Atlas; see its log."), given)

    def _problem(self, error: AtlasError, given: Given) -> Response:
        status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)
        near = error.near if isinstance(error, NotFound) else ()
        shown = {"title": "Not found" if status == 404 else "Problem", "error": error, "near": near, "evidence": None}
        return Response(render("problem.html", {**self._frame(given), **shown}), status, media_type=HTML)

    def _frame(self, given: Given) -> dict[str, object]:
        return {
            "project": self._session.settings.project_name,
            "given": given,
            "pages": NAVIGATION,
            "again": 0,
            "refresh": 0,
            "style": "",
            "form_token": self._form if self._session.settings.knowledge.allow_write else "",
            "chat_token": self._form,
        }


async def is_path(reader: Reader, name: str) -> bool:
    """Return whether a name is that of an indexed file or of a folder with such files."""
    path = _path_of(name)
    return any(each == path or each.startswith(f"{path}/") for each in await reader.store.paths(reader.project))


def _path_of(name: str) -> str:
    return name.removeprefix("./").strip("/")


def _new_room(settings: Settings, servers: Servers | None) -> ChatRoom:
    from atlas.server.explorer.chat import ChatRoom

    return ChatRoom(settings, servers)


@cache
def _statics() -> Mapping[str, tuple[bytes, str]]:
    """Return the files that may be served, by name, with their types: these and no path of a request."""
    files = (FOLDER / "static").iterdir()
    return {each.name: (each.read_bytes(), STATIC_TYPES[each.suffix]) for each in files if each.suffix in STATIC_TYPES}


async def _static(request: Request) -> Response:
    found = _statics().get(request.path_params["name"])
    return Response(found[0], media_type=found[1]) if found is not None else Response(status_code=404)


async def serve_explorer(
    session: Session,
    listening: socket.socket,
    token: str,
    start: str,
    ready: Callable[[], None],
    servers: Servers | None = None,
) -> None:
    """Serve the pages until SIGINT or SIGTERM; closes the session. `start`: see `OneBrowser`. Raises AtlasError."""
    from atlas.server.http.server import serve

    explorer = Explorer(session, servers)
    try:
        await session.indexed()  # makes the first index, or says why there is none
        await serve(OneBrowser(explorer.application(), token, start), listening, ready, requests=REQUESTS)
    finally:
        await explorer.aclose()
        await session.aclose()


def new_token() -> str:
    """Return a token that nobody guesses."""
    return secrets.token_urlsafe(32)
