"""A project with secrets: no byte of the index and no answer holds them, and status says where they are."""

from __future__ import annotations

import random
from pathlib import Path

from tests.bench.secret_kinds import ALNUM, KEYS, chars, password
from tests.bench.secrets import stored

from .processes import Place, atlas, server, text_of

CHANCE = random.Random(11)
TOKEN = "glpat" + "-" + chars(ALNUM, 20)(CHANCE)
PASSWORD = password(CHANCE)
KEY = KEYS[0].line.replace("{}", KEYS[0].literal(CHANCE))
KEY_LINES = KEY.split("\n")[1:-1]
FILES = {
    "pay.py": f'"""Pays."""\n\nKEY = """\n{KEY}\n"""\n\n\ndef pay(amount, token="{TOKEN}"):\n    """Pay with {TOKEN}."""\n    return connect(password="{PASSWORD}")\n',
    "README.md": f"# Pay\n\nRun it:\n\n```sh\nexport PAY_PASSWORD={PASSWORD}\ngit clone https://deploy:{TOKEN}@git.internal/pay.git\n```\n",
    "pay.go": f'package pay\n\nconst Token = "{TOKEN}"\n\nfunc Pay() string {{ return Token }}\n',
    ".env.example": f"PAY_TOKEN={TOKEN}\nPAY_PASSWORD={PASSWORD}\nPAY_URL=https://deploy:{TOKEN}@git.internal/pay\nPAY_DEBUG=no\n",
}
SECRETS = (TOKEN, PASSWORD, *KEY_LINES)


def written(folder: Path) -> Place:
    place = Place(folder / "pay", folder / "data")
    place.root.mkdir()
    for name, text in FILES.items():
        (place.root / name).write_text(text, "utf-8")
    return place


async def held(place: Place) -> list[str]:
    """Return the secrets that the data folder holds, and check that it holds what stands beside them."""
    kept = await stored(place.data)
    assert b"def pay(amount, token=" in kept and b"git.internal/pay.git" in kept and b"PAY_DEBUG" in kept
    return [each for each in SECRETS if each.encode() in kept]


async def test_no_byte_and_no_answer_holds_a_secret(tmp_path: Path) -> None:
    place = written(tmp_path)
    done = atlas("index", str(place.root), "--data-dir", str(place.data))
    assert done.returncode == 0, done.stderr
    assert await held(place) == []
    asked: tuple[tuple[str, dict[str, object]], ...] = (
        ("get_node", {"name": "pay.pay"}),
        ("get_node", {"name": "README.md"}),
        ("get_context", {"name": "pay.go:3"}),
        ("get_context", {"name": "README.md"}),
        ("get_context", {"name": ".env.example"}),
        ("get_context", {"name": "pay.pay"}),
        ("text_search", {"query": TOKEN}),
        ("text_search", {"query": "connect password token"}),
        ("hybrid_search", {"query": "pay with a token"}),
        ("cypher_query", {"query": "MATCH (n) RETURN n LIMIT 100"}),
        ("status", {"skipped": True}),
    )
    async with server(place) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        for tool, arguments in asked:
            assert tool in names
            result = await client.call_tool(tool, arguments)
            answer = text_of(result) + str(result.structured_content)
            # What was asked is repeated; nothing else is.
            shown = answer.replace(str(arguments.get("query", "\0")), "")
            assert not any(each in shown for each in SECRETS), tool
    assert "pay" in atlas("search", "pay", *place.options).stdout
    assert await held(place) == []


async def test_status_says_rule_and_line(tmp_path: Path) -> None:
    place = written(tmp_path)
    atlas("index", str(place.root), "--data-dir", str(place.data))
    for only in ((), ("--only", "secret")):
        said = atlas("status", "--skipped", *only, *place.options, "--json").stdout
        assert "secret: private-key" in said and "8: secret: gitlab-pat" not in said.split("pay.go")[-1]
        assert "3: secret: gitlab-pat" in said
        assert not any(each in said for each in SECRETS)


async def test_a_secret_that_is_added_is_masked_and_one_that_is_removed_is_forgotten(tmp_path: Path) -> None:
    place = written(tmp_path)
    (place.root / "pay.go").write_text("package pay\n\nfunc Pay() string { return token }\n")
    atlas("index", str(place.root), "--data-dir", str(place.data))
    (place.root / "pay.go").write_text(FILES["pay.go"])
    atlas("index", str(place.root), "--data-dir", str(place.data))
    assert await held(place) == []
    assert "pay.go" in atlas("status", "--skipped", *place.options).stdout
    (place.root / "pay.go").write_text("package pay\n\nfunc Pay() string { return token }\n")
    atlas("index", str(place.root), "--data-dir", str(place.data))
    assert "pay.go" not in atlas("status", "--skipped", *place.options).stdout
