"""Several projects of a user that answer together, with real processes and stores: what crosses borders, what never."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from .processes import atlas

LIBRARY = {
    "pyproject.toml": '[project]\nname = "shop-lib"\nversion = "1.2.0"\n',
    "shoplib/__init__.py": "from .cart import Cart, total\n",
    "shoplib/cart.py": "class Cart:\n    def add(self, item):\n        return item\n\n\ndef total(cart):\n    return 0\n",
}
USER = {
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\ndependencies = ["shop-lib>=1.0"]\n',
    "main.py": (
        "import shoplib\nfrom shoplib import Cart, total\n\n\ndef run():\n    cart = Cart()\n    cart.add(1)\n"
        "    shoplib.total(cart)\n    return total(cart)\n\n\nclass Own(Cart):\n    pass\n"
    ),
}
BACK = {
    "package.json": '{"name": "back", "version": "1.0.0"}',
    "server.js": (
        'const express = require("express");\nconst app = express();\n'
        'app.get("/api/articles/:slug", (q, s) => s.end());\napp.post("/api/users", createUser);\n'
        "function createUser(q, s) { s.end(); }\n"
    ),
}
FRONT = {
    "package.json": '{"name": "front", "version": "1.0.0"}',
    "api.js": (
        'import axios from "axios";\nconst api = axios.create({ baseURL: "/api" });\n'
        "export const article = (slug) => api.get(`/articles/${slug}`);\n"
        'export function register(user) { return api.post("/users", user); }\n'
        'export const other = () => api.get("/unknown");\n'
    ),
}


PROTO = "package shop.v1;\nservice Carts {\n  rpc GetCart(Key) returns (Cart);\n}\n"
CARTS = {
    "protos/carts.proto": PROTO,
    "server.py": (
        "import carts_pb2_grpc\n\n\nclass Server(carts_pb2_grpc.CartsServicer):\n"
        "    def GetCart(self, request, context):\n        return cart_of(request)\n\n\ndef cart_of(key):\n    return key\n"
    ),
}
CHECKOUT = {
    "go.mod": "module example.com/checkout\n",
    "api/carts.proto": PROTO,
    "main.go": (
        'package main\n\nimport pb "example.com/checkout/genproto"\n\ntype service struct {\n\tcarts pb.CartsClient\n}\n\n'
        "func (s *service) order() {\n\ts.carts.GetCart(nil, nil)\n}\n"
    ),
}
WEB = {
    "package.json": '{"name": "web", "version": "1.0.0"}',
    "cart.ts": (
        'import { CartsClient } from "./gen/carts_grpc_pb";\nconst carts = new CartsClient("carts:80");\n'
        "export function show() {\n  return carts.getCart({}, () => {});\n}\n"
        "export function other() {\n  return carts.dropCart({}, () => {});\n}\n"
    ),
}


class User:
    """A user with settings and a cache of their own, and projects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder / "config")}

    def project(self, name: str, files: Mapping[str, str], *, indexed: bool = True) -> Path:
        root = self.folder / name
        for path, text in {"atlas.toml": "", **files}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        if indexed:
            self.done("index", str(root))
        return root

    def done(self, *words: str) -> str:
        ended = atlas(*words, env=self.env)
        assert ended.returncode == 0, ended.stderr + ended.stdout
        return ended.stdout

    def document(self, *words: str) -> dict[str, Any]:
        found = json.loads(self.done(*words, "--json"))
        assert isinstance(found, dict)
        return found

    def ask(self, root: Path, *words: str) -> str:
        """The answer of a command, whatever its exit code."""
        return atlas(words[0], *words[1:], "--project", str(root), env=self.env).stdout

    def caches(self) -> set[str]:
        return {one["project"] for one in self.document("cache", "list")["folders"]}

    @property
    def file(self) -> Path:
        return self.folder / "config" / "code-atlas" / "atlas.toml"


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def test_members_are_added_listed_and_removed(user: User) -> None:
    lib, app = user.project("lib", LIBRARY), user.project("app", USER, indexed=False)
    assert "no workspace" in user.done("workspace", "list")
    user.file.parent.mkdir(parents=True, exist_ok=True)
    user.file.write_text("# mine\n[search]\nlimit = 7 # kept\n")
    user.done("workspace", "add", str(lib / "shoplib"), str(app))
    user.done("workspace", "add", str(lib))  # again: nothing changes
    assert user.file.read_text() == (
        f'# mine\n[search]\nlimit = 7 # kept\n\n[workspace]\nmembers = ["{lib}", "{app}"]\n'
    )
    members = user.document("workspace", "list")["members"]
    assert [(one["project"], one["state"], one["root"]) for one in members] == [
        ("lib", "ok", str(lib)),
        ("app", "not indexed", str(app)),
    ]
    shutil.rmtree(app)
    assert [one["state"] for one in user.document("workspace", "list")["members"]] == ["ok", "gone"]
    user.done("workspace", "remove", str(app))
    assert [one["root"] for one in user.document("workspace", "list")["members"]] == [str(lib)]
    assert "limit = 7 # kept" in user.file.read_text()


def test_wrong_members_are_refused(user: User) -> None:
    lib = user.project("lib", LIBRARY)
    for words in (("add", str(user.folder / "nowhere")), ("remove", str(lib))):
        assert atlas("workspace", *words, env=user.env).returncode == 3
    assert atlas("workspace", "add", str(lib), "--name", "a=b", env=user.env).returncode == 2
    user.file.parent.mkdir(parents=True, exist_ok=True)
    user.file.write_text('[workspace]\nmembers = [\n  "/a", # why\n]\n')
    refused = atlas("workspace", "add", str(lib), env=user.env)
    assert refused.returncode == 2 and "has comments" in refused.stderr
    user.file.write_text('[workspace]\nmembers = ["relative/path"]\n')
    assert "not an absolute path" in atlas("status", "--project", str(lib), env=user.env).stderr


def test_a_repository_cannot_name_members(user: User) -> None:
    lib = user.project("lib", LIBRARY)
    app = user.project("app", {**USER, "atlas.toml": f'[workspace]\nmembers = ["{lib}", "{user.folder / "app"}"]\n'})
    ended = atlas("search", "where is total defined", "--project", str(app), env=user.env)
    assert "workspace.members cannot be set by a project's file" in ended.stderr
    assert "project lib" not in ended.stdout


def test_uses_of_a_library_in_another_project(user: User) -> None:
    lib, app = user.project("lib", LIBRARY), user.project("app", USER)
    assert "project app" not in user.ask(lib, "search", "callers of total")
    user.done("workspace", "add", str(lib), str(app))
    said = "in project app (shop-lib 1.2.0, declared >=1.0)"
    told = user.ask(lib, "search", "callers of total")
    assert f"{said}: callers 1: main.py:8,9 main.run (calls 0.93)" in told
    assert "callers of function shoplib.cart.total shoplib/cart.py:6: none in this project\n" in told
    assert f"{said}: callers 1: main.py:7 main.run" in user.ask(lib, "search", "callers of Cart.add")
    assert f"{said}: subclasses 1: main.py:12 main.Own" in user.ask(lib, "search", "subclasses of Cart")
    assert f"{said}: importers 1: main.py:1,2 module" in user.ask(lib, "search", "who imports shoplib")
    assert f"{said}: uses 3: main.py:2" in user.ask(lib, "impact", "Cart")
    assert f"{said}: usages 3" in user.ask(lib, "context", "shoplib.cart.Cart")


def test_an_imported_name_has_its_definition_in_the_other_project(user: User) -> None:
    lib, app = user.project("lib", LIBRARY), user.project("app", USER)
    user.done("workspace", "add", str(lib), str(app))
    found = user.ask(app, "search", "where is total defined")
    assert "shoplib.total is function shoplib.cart.total shoplib/cart.py:6 in project lib" in found
    assert "depends on project lib: shop-lib 1.2.0, declared >=1.0 (pyproject.toml:4" in user.ask(
        app, "search", "what does this project depend on"
    )
    assert "project app has function main.run main.py:5: ask with project app" in user.ask(lib, "node", "run")


def test_a_change_in_another_project_is_seen_at_once(user: User) -> None:
    lib, app = user.project("lib", LIBRARY), user.project("app", USER)
    user.done("workspace", "add", str(lib), str(app))
    (app / "late.py").write_text("from shoplib import total\n\n\ndef late():\n    return total(1)\n")
    assert "late.py:5 late (calls 0.93)" in user.ask(lib, "search", "callers of total")


def test_calls_by_url_reach_the_routes_of_another_project(user: User) -> None:
    back, front = user.project("back", BACK), user.project("front", FRONT)
    user.done("workspace", "add", str(back), str(front))
    clients = user.ask(back, "search", "who calls GET /api/articles/42")
    assert "in project front: calls of GET /api/articles/:slug 1: api.js:3 article (route-path 0.85)" in clients
    assert "calls of POST /api/users 1: api.js:4 register" in user.ask(back, "impact", "createUser")
    called = user.ask(front, "context", "api.register")
    assert "register 4 calls route POST /api/users server.js:4 in project back (route-path 0.85)" in called
    assert "calls route" not in user.ask(front, "context", "api.other")


def test_calls_of_procedures_reach_their_servers_in_another_project(user: User) -> None:
    # one client has a copy of the description, the other one only generated code that is not in its tree
    carts, checkout, web = (
        user.project(name, files) for name, files in (("carts", CARTS), ("checkout", CHECKOUT), ("web", WEB))
    )
    user.done("workspace", "add", str(carts), str(checkout), str(web))
    for question in ("callers of server.Server.GetCart", "who calls Carts.GetCart", "who calls Carts/GetCart"):
        said = user.ask(carts, "search", question)
        assert "calls of RPC /shop.v1.Carts/GetCart 1: main.go:10 main.service.order (rpc-client 0.85)" in said, said
        assert "cart.ts:4 show (rpc-client 0.85)" in said, said
    for client, name in ((checkout, "order"), (web, "show")):
        said = user.ask(client, "search", f"what does {name} call")
        assert "calls route RPC /shop.v1.Carts/GetCart protos/carts.proto:3 in project carts" in said, said
        assert said.count("in project") == 1, said
    for changed in ("cart_of", "server.Server.GetCart"):
        said = user.ask(carts, "impact", changed)
        assert "main.go:10" in said, said
        assert "cart.ts:4" in said, said
    assert "in project" not in user.ask(web, "search", "what does other call")


def test_all_projects_answer_one_question_within_the_budget(user: User) -> None:
    lib, app = user.project("lib", LIBRARY), user.project("app", USER)
    user.done("workspace", "add", str(lib), str(app))
    both = user.document("search", "Cart", "--in", "all", "--project", str(app), "--token-budget", "900")
    assert [label for label, _ in both["parts"]] == ["app", "lib"], "the asking project comes first"
    assert both["evidence"]["tokens"] <= 900
    text = user.ask(app, "cypher", "MATCH (c:Class) RETURN c.project, c.name", "--in", "all")
    assert "app | Own" in text and "lib | Cart" in text and text.index("project app:") < text.index("project lib:")
    one = user.ask(app, "cypher", "MATCH (c:Class) RETURN c.project, c.name", "--in", "lib")
    assert "lib | Cart" in one and "Own" not in one
    refused = atlas("search", "Cart", "--in", "nobody", "--project", str(app), env=user.env)
    assert refused.returncode != 0 and "nobody" in refused.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("search", "callers of total"),
        ("node", "total"),
        ("context", "total"),
        ("impact", "total"),
        ("cypher", "MATCH (f:Function) WHERE f.name = 'total' RETURN f.qualified_name"),
    ],
)
def test_all_outside_of_a_workspace_is_the_one_project_and_the_answer_says_so(
    user: User, words: tuple[str, ...]
) -> None:
    lib = user.project("lib", LIBRARY)
    said = user.ask(lib, *words, "--in", "all")
    assert said.startswith("project lib:\n") and "shoplib" in said
    assert "note: lib is in no workspace" in said and "atlas workspace add" in said
    by_folder, alone = user.ask(lib, *words, "--in", str(lib)), user.ask(lib, *words)
    assert by_folder == alone and "workspace" not in alone
    document = user.document(*words, "--in", "all", "--project", str(lib))
    assert [label for label, _ in document["parts"]] == ["lib"] and "in no workspace" in document["missing"][0]


def test_all_of_projects_that_have_no_answer_is_the_first_ones_error(user: User) -> None:
    lib = user.project("lib", LIBRARY)
    gone = user.project("gone", USER, indexed=False)
    user.done("workspace", "add", str(lib), str(gone))
    shutil.rmtree(gone)
    refused = atlas("cypher", "MATCH (", "--in", "all", "--project", str(lib), env=user.env)
    assert refused.returncode == 4 and "Traceback" not in refused.stderr


def test_an_unknown_project_outside_of_a_workspace_leads_to_workspaces(user: User) -> None:
    lib = user.project("lib", LIBRARY)
    refused = atlas("search", "Cart", "--in", "nobody", "--project", str(lib), env=user.env)
    assert refused.returncode == 3
    assert "`nobody` is not indexed (indexed: lib)" in refused.stderr and "atlas workspace add" in refused.stderr


def test_nothing_of_a_project_outside_of_the_workspace_is_opened(user: User) -> None:
    lib, app = user.project("lib", LIBRARY), user.project("app", USER)
    secret = user.project("secret", USER, indexed=False)
    user.done("workspace", "add", str(lib), str(app))
    user.done("workspace", "add", "--name", "other", str(secret), str(app))
    # `secret` shares a workspace with `app` only
    for words in (("search", "callers of total"), ("impact", "total"), ("search", "Cart", "--in", "all")):
        assert "secret" not in user.ask(lib, *words)
    assert str(secret) not in user.caches()
    assert atlas("search", "Cart", "--in", "secret", "--project", str(lib), env=user.env).returncode != 0
    user.done("index", str(secret))
    shutil.rmtree(user.folder / "config")
    assert "project" not in user.ask(app, "search", "callers of total").replace("project:", "")


def test_members_that_are_gone_or_without_an_index_are_named(user: User) -> None:
    lib, app = user.project("lib", LIBRARY), user.project("app", USER)
    bare = user.project("bare", USER, indexed=False)
    user.done("workspace", "add", str(lib), str(app), str(bare))
    gone = user.project("gone", USER)
    user.done("workspace", "add", str(gone))
    shutil.rmtree(gone)
    answer = user.ask(lib, "search", "callers of total")
    assert "in project app" in answer
    assert "project bare is not asked: bare is not indexed yet" in answer
    assert f"project gone is not asked: {gone} is gone" in answer
    every = user.ask(lib, "search", "Cart", "--in", "all")
    assert "project lib:" in every and "project app:" in every and f"{gone} is gone" in every


def test_projects_that_depend_on_each_other_end(user: User) -> None:
    lib = user.project("lib", {**LIBRARY, "back.py": "from app import main\n\n\ndef back():\n    return main.run()\n"})
    package = USER["pyproject.toml"].replace('["shop-lib>=1.0"]', '["shop-lib"]')
    app = user.project("app", {"pyproject.toml": package, "app/__init__.py": "", "app/main.py": USER["main.py"]})
    manifest = LIBRARY["pyproject.toml"] + 'dependencies = ["app"]\n'
    (lib / "pyproject.toml").write_text(manifest)
    user.done("index", str(lib))
    user.done("workspace", "add", str(lib), str(app))
    assert "in project app" in user.ask(lib, "impact", "total")
    assert "in project lib (app 1, declared): uses 1: back.py:5 back (calls" in user.ask(app, "impact", "run")


def test_a_package_that_two_projects_provide_is_said(user: User) -> None:
    lib, app = user.project("lib", LIBRARY), user.project("app", USER)
    fork = user.project("fork", LIBRARY)
    user.done("workspace", "add", str(lib), str(app), str(fork))
    assert "also provided by fork: not known which one is installed" in user.ask(lib, "search", "callers of total")
    found = user.ask(app, "search", "where is total defined")
    assert "shoplib.total is provided by 2 projects of the workspace" in found
    assert "in project lib" in found and "in project fork" in found


def test_a_version_outside_of_the_declared_range_is_said(user: User) -> None:
    lib = user.project("lib", LIBRARY)
    app = user.project("app", {**USER, "pyproject.toml": USER["pyproject.toml"].replace(">=1.0", ">=2,<3")})
    user.done("workspace", "add", str(lib), str(app))
    answer = user.ask(lib, "search", "callers of total")
    assert "shop-lib 1.2.0, declared >=2,<3, which that version is not in): callers 1: main.py:8,9" in answer
    assert "(calls 0.72)" in answer


def test_two_members_of_one_name_are_told_apart(user: User) -> None:
    lib = user.project("lib", LIBRARY)
    first, second = user.project("a/app", USER), user.project("b/app", USER)
    user.done("workspace", "add", str(lib), str(first), str(second))
    answer = user.ask(lib, "search", "callers of total")
    assert f"in project app ({first})" in answer and f"in project app ({second})" in answer
    refused = atlas("search", "run", "--in", "app", "--project", str(lib), env=user.env)
    assert refused.returncode == 2 and f"Name one: {first}, {second}." in refused.stderr
    assert "main.run" in user.ask(lib, "search", "run", "--in", str(second))
