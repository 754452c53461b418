"""The flow page: which of several symbols a chain begins at, what a route or an event leads to, and conditions of calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.core.model import Label, NodeRow
from atlas.server.explorer.flow.conditions import conditions_above
from atlas.server.explorer.flow.reach import is_query

from .served import opened, text_of

TWO_MAINS = {
    "examples/demo.c": "int helper(void) { return 1; }\n\nint main(void) {\n  return helper();\n}\n",
    "src/server.c": "int serve(void) { return 2; }\n\nint main(void) {\n  return serve();\n}\n",
}


def test_a_chain_names_the_symbol_of_several_that_it_begins_at(tmp_path: Path) -> None:
    with opened(tmp_path, TWO_MAINS) as client:
        page = text_of(client, "/flow?of=main&to=serve")
        assert "from function main src/server.c:3: 1" in page
        assert "several symbols are called `main`" in page
        assert "from function main examples/demo.c:3: 1" in text_of(client, "/flow?of=main&to=helper")


def test_why_a_symbol_is_here_is_asked_of_its_own_lines(tmp_path: Path) -> None:
    """Two symbols of a name: each uid holds the path of its file."""
    with opened(tmp_path, TWO_MAINS, history=True) as client:
        found = client.get("/symbol?name=src/server.c:3&view=history").text
        assert "changed the lines of function" in found
        assert "Write src/server.c" in found
        assert "Write examples/demo.c" not in found


SHOP = {
    "package.json": '{"name": "shop", "dependencies": {"express": "4", "@prisma/client": "5"}}\n',
    "src/store.ts": "import { PrismaClient } from '@prisma/client';\n\nconst db = new PrismaClient();\n\n"
    "export async function load(id: number) {\n  if (id > 0) {\n    return db.item.findMany({ where: { id } });\n  }\n"
    "  return null;\n}\n\nexport function label(id: number) {\n  return `#${id}`;\n}\n\n"
    "export function archive(id: number) {\n  return db.item.delete({ where: { id } });\n}\n",
    "src/app.ts": "import express from 'express';\nimport { archive, label, load } from './store';\n\nconst app = express();\n\n"
    "app.get('/items/:id', async (req, res) => {\n  try {\n    res.json(await load(1));\n  } catch (e) {\n    res.json(1);\n  }\n"
    "});\n\napp.get('/label', (req, res) => {\n  res.send(label(2));\n});\n\n"
    "app.delete('/items/:id', (req, res) => {\n  res.json(archive(3));\n});\n",
}


def test_a_route_leads_to_its_own_queries(tmp_path: Path) -> None:
    """Handlers without a name belong to their module: what other routes of the module call is not theirs."""
    with opened(tmp_path, SHOP) as client:
        page = text_of(client, "/flow?of=GET /items/:id")
        assert "route GET /items/:id leads to 1 place" in page
        steps = [page.index(one) for one in ("src/app.ts:6", "src/app.ts:8", "7: try {", "findMany src/store.ts:7")]
        assert steps[:2] == sorted(steps[:2])
        assert "query @prisma/client.PrismaClient.item.findMany" in page
        assert "6: if (id > 0) {" in page
        assert "delete" not in page.partition("leads to")[2]
        unknown = text_of(client, "/flow?of=GET /label")
        assert "leads to 0 places" in unknown
        assert "unknown rather than none" in unknown
        # with an end, the chain begins at the handler as well
        chain = text_of(client, "/flow?of=DELETE /items/:id&to=archive")
        assert "path to archive from route DELETE /items/:id: 1" in chain
        assert "src/app.ts:19" in chain
        assert "unknown, no chain" in text_of(client, "/flow?of=GET /label&to=archive")
        assert "No symbol, route or event nonesuch" in text_of(client, "/flow?of=nonesuch")


EVENTS = {
    "shop/signals.py": "from django.dispatch import Signal\n\nsold = Signal()\n",
    "shop/mail.py": "from django.dispatch import receiver\n\nfrom shop.signals import sold\n\n\n@receiver(sold)\n"
    "def mail(sender, **given):\n    if sender:\n        keep(sender)\n\n\ndef keep(sender):\n    cursor = connect()\n"
    "    for each in sender:\n        cursor.execute(\n            'INSERT INTO mails VALUES (%s)', each)\n\n\ndef connect():\n"
    "    return open('x')\n",
    "shop/cart.py": "from shop.signals import sold\n\n\ndef buy():\n    text = 'select an item'\n    sold.send(text)\n",
}


def test_an_event_leads_to_its_handlers_and_a_statement_is_a_query(tmp_path: Path) -> None:
    with opened(tmp_path, EVENTS) as client:
        page = text_of(client, "/flow?of=sold")
        assert "signal sold leads to 1 place" in page
        assert (
            page.index("mail shop/mail.py") < page.index("keep shop/mail.py:9") < page.index("query a statement of SQL")
        )
        assert "8: if sender:" in page
        assert "14: for each in sender:" in page
        sender = text_of(client, "/flow?of=shop.cart.buy")
        assert "leads to 1 place" in sender
        assert "event sold" in sender.replace("event:signal:", "")
        assert "/flow?of=shop%3Aevent%3Asignal%3Asold" in client.get("/flow?of=shop.cart.buy").text


@pytest.mark.parametrize(
    ("text", "line", "first", "expected"),
    [
        ("def f(x):\n    if x:\n        a()\n    else:\n        b()\n", 5, 1, ((2, "if x:"), (4, "else:"))),
        ("def outer():\n    if y:\n        def f(\n            x,\n        ):\n            b()\n", 6, 3, ()),
        ("int f(int x)\n{\n  if (x)\n    b();\n}\n", 4, 1, ((3, "if (x)"),)),
        ("int f(int x) {\n  if (x &&\n      y) {\n    b();\n  }\n}\n", 4, 1, ((2, "if (x && y) {"),)),
        ("int f(int x) {\n  switch (x) {\n  case 1:\n    b();\n  }\n}\n", 4, 1, ((2, "switch (x) {"), (3, "case 1:"))),
        ("def f(x):\n    if (\n        x\n    ):\n        b()\n", 5, 1, ((2, "if ("),)),
        ("def f(x):\n    if x:\n        a()\n    b()\n", 4, 1, ()),
    ],
)
def test_conditions_are_those_inside_of_the_definition(
    text: str, line: int, first: int, expected: tuple[tuple[int, str], ...]
) -> None:
    assert conditions_above(text.splitlines(), line, first) == expected


def test_queries_are_calls_of_packages_that_ask_databases() -> None:
    def external(name: str) -> NodeRow:
        return NodeRow(name, Label.EXTERNAL_SYMBOL, "external_symbol", name, f"ext:{name}", "")

    assert is_query(external("django.db.models.QuerySet.filter"))
    assert is_query(external("@prisma/client.PrismaClient.item.findMany"))
    assert is_query(external("database/sql.DB.QueryContext"))
    assert is_query(external("Illuminate\\Support\\Facades\\DB::select"))
    assert not is_query(external("django.dbx.models.QuerySet.filter"))
    assert not is_query(external("django.db.models.CharField"))
    assert not is_query(external("django.db.models.QuerySet.filter")._replace(path="a.py"))
