"""Questions about routes, events and commands: the first answer of `hybrid_search`, `get_context`, `impact`, own rules."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.notes.anchors import target_uid
from atlas.code.tools.impact import impact
from atlas.code.tools.search.search import hybrid_search
from atlas.code.tools.symbol.node import get_context
from atlas.knowledge.retrieval.resolve_anchor import resolve_anchor
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES = {
    "web/app.py": """from fastapi import FastAPI
from web import users

app = FastAPI()
app.include_router(users.router, prefix="/users")


@app.get("/health")
def health(): ...


@app.get("/files/{path:path}")
def files(path): ...


@app.get("/files/index")
def index(): ...
""",
    "web/users.py": """from fastapi import APIRouter

router = APIRouter()


def load(id):
    return id


@router.get("/me")
def me(): ...


@router.get("/{id}")
def show(id):
    return load(id)


@router.delete("/{id}")
def remove(id): ...
""",
    "web/__init__.py": "",
    "frontend/src/api.ts": """import axios from "axios";

export const load = (id: string) => axios.get(`/users/${id}`);
export const myself = () => fetch("/users/me");
""",
    "web/conf.py": """import os

URL = os.environ["SITE_DATABASE_URL"]
""",
    "Dockerfile": """FROM python
ENV SITE_DATABASE_URL=sqlite://
""",
    "web/signals.py": """from django.db.models.signals import post_save
from django.dispatch import Signal, receiver

paid = Signal()


@receiver(post_save)
def on_save(sender, **kwargs): ...


def pay():
    paid.send(sender=None)


@receiver(paid)
def keep_record(sender, **kwargs): ...
""",
    "web/cli.py": """import click


@click.command("rebuild")
def main(): ...
""",
    "web/queue.py": """def consumer(name):
    return lambda function: function


@consumer("orders")
def work(order): ...
""",
    ".atlas/detectors.toml": """languages = ["python"]
words = ["consumer("]

[[rules]]
kind = "handles"
shape = "plain-decorator"
names = ["consumer"]
on = "function"
event = [0]
event_kind = "message"
""",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("routes") / "site"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture
async def site(tree: Path) -> AsyncIterator[Atlas]:
    data = tree.parent / "data"
    if not data.exists():
        await indexed(tree, data)
    async with open_atlas(load_settings(str(tree), str(data), environment=QUICK)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "first", "others"),
    [
        ("which route handles GET /users/42", "GET /users/{id}", ["web/users.py", "web.users.show (web/users.py:"]),
        ("what handles GET /users/me?", "GET /users/me", ["web.users.me"]),
        ("where is the route /health handled", "GET /health", ["web/app.py", "web.app.health"]),
        ("which function handles DELETE /users/7", "DELETE /users/{id}", ["web.users.remove"]),
        ("who serves GET /files/a/b.txt", "GET /files/{path:path}", ["web.app.files"]),
        ("routes of show", "GET /users/{id}", ["web/users.py"]),
        ("what handles the post_save signal", "on_save", ["web/signals.py"]),
        ("which signal handlers are registered for post_save", "on_save", ["web/signals.py"]),
        # the signal as a name has no routes, which is no reason to answer none
        ("handlers of paid", "keep_record", ["web/signals.py"]),
        ("who sends the paid signal", "pay", ["web/signals.py"]),
        ("which CLI commands are there", "main", ["web/cli.py"]),
        ("what subcommands does this project define?", "main", ["web/cli.py"]),
        ("which function runs the command rebuild", "main", ["web/cli.py"]),
        ("what consumes orders messages", "work", ["web/queue.py"]),
    ],
)
async def test_the_first_answer_names_route_and_handler(
    site: Atlas, question: str, first: str, others: list[str]
) -> None:
    text = (await hybrid_search(site, question, token_budget=900)).render()
    lines = text.splitlines()
    assert any(first in line for line in lines[1:4]), text
    assert all(other in text for other in others), text


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("who calls route GET /users/{id}", ["clients of `GET /users/{id}`: 1", "load", "frontend/src/api.ts"]),
        ("callers of route /users/me", ["myself", "frontend/src/api.ts"]),
        ("which clients call GET /users/42", ["load"]),
        ("who calls GET /health", ["clients of `GET /health`: unknown"]),
        ("what does the frontend call", ["2 routes called by `frontend`", "GET /users/{id}", "GET /users/me"]),
        ("which endpoints are called by the frontend", ["GET /users/me"]),
        ("which endpoints are there", ["GET /users/{id}", "web.users.show (web/users.py:", "1 client"]),
        ("who reads SITE_DATABASE_URL", ["web/conf.py:3", "Dockerfile:2"]),
        ("which environment variables does it read?", ["SITE_DATABASE_URL"]),
    ],
)
async def test_clients_and_variables_are_told(site: Atlas, question: str, wanted: list[str]) -> None:
    text = (await hybrid_search(site, question, token_budget=900)).render()
    assert all(each in text for each in wanted), text


async def test_impact_and_context_name_clients(site: Atlas) -> None:
    assert "frontend/src/api.ts" in (await impact(site, "web.users.show")).render()
    text = (await get_context(site, "GET /users/{id}")).render()
    assert "load" in text, text
    assert "URL" in (await get_context(site, "SITE_DATABASE_URL")).render()
    assert "GET /users/me" in (await get_context(site, "frontend.src.api.myself")).render()


async def test_routes_of_a_framework_without_registrations_are_unknown(tmp_path: Path) -> None:
    root = tmp_path / "bare"
    root.mkdir()
    (root / "app.py").write_text("from fastapi import FastAPI\n\napp = build(FastAPI)\n")
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as opened:
        text = (await hybrid_search(opened, "list routes")).render()
    assert "routes: unknown" in text and "`fastapi`" in text, text


async def test_all_routes_are_listed(site: Atlas) -> None:
    text = (await hybrid_search(site, "which endpoints are there", token_budget=900)).render()
    for route in ("GET /health", "GET /files/{path:path}", "GET /users/me", "GET /users/{id}", "DELETE /users/{id}"):
        assert route in text


async def test_a_route_for_every_path_stands_behind_the_exact_one(site: Atlas) -> None:
    text = (await hybrid_search(site, "which route handles GET /files/index", token_budget=900)).render()
    assert "routes that match `GET /files/index`: 1\n" in text
    assert "routes for every path below match as well: GET /files/{path:path} web/app.py:" in text


async def test_an_unknown_path_is_no_route(site: Atlas) -> None:
    found = await hybrid_search(site, "which route handles PUT /nowhere/1")
    assert "routes that match" not in found.render()


async def test_context_and_impact_of_a_handler_name_its_routes(site: Atlas) -> None:
    assert "GET /users/{id}" in (await get_context(site, "web.users.show")).render()
    assert "GET /users/{id}" in (await impact(site, "web.users.load")).render()


async def test_an_anchor_of_a_note_is_the_route(site: Atlas) -> None:
    anchor = await resolve_anchor(site.reader, "route:GET /users/{id}")
    (node,) = await site.reader.store.symbols([target_uid(site.reader.project, anchor)])
    assert (node.row.label, node.row.path, node.row.line) == ("Route", "web/users.py", 14)


async def test_broken_rules_of_a_project_are_left_out(
    tree: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = tmp_path / "broken"
    (root / ".atlas").mkdir(parents=True)
    (root / "app.py").write_text(FILES["web/cli.py"])
    (root / ".atlas" / "detectors.toml").write_text("languages = ['python']\n\n[[rules]]\nkind = 'nonsense'\n")
    await indexed(root, tmp_path / "data")
    assert "detectors: line 4" in caplog.text
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as opened:
        assert "main" in (await hybrid_search(opened, "which function runs the command rebuild")).render()
