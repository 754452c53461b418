"""A toolset is one entry: two tools are added without a change to any file of the product, and served to a client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import jsonschema
import pytest
from mcp import Client

from atlas.answers.answer import Answer, AnswerOutcome
from atlas.answers.assemble import fit_counted
from atlas.answers.evidence import Evidence, Structure
from atlas.answers.items import ITEMS_SCHEMA, Item, ItemGroup, ItemsAnswer, ItemsBody
from atlas.answers.tool import Reads, Tool, list_of, text, whole
from atlas.answers.toolset import UNKNOWN_CALLER, Caller, Toolset
from atlas.app.session import Session
from atlas.app.toolset_host import ToolsetHost
from atlas.app.toolsets import TOOLSETS
from atlas.cli.show import print_answer
from atlas.core.errors import AtlasError, NotFound
from atlas.parsing import Cl100kCounter
from atlas.runtime.config.load import load_settings
from atlas.server.mcp import make_server


@dataclass(frozen=True, slots=True)
class Rolled(Answer):
    """An answer of a type that nothing else knows."""

    tool: str
    faces: tuple[int, ...]
    evidence: Evidence

    def lines(self) -> Iterator[str]:
        """Yield one line a throw."""
        yield from (f"threw {face}" for face in self.faces)

    def content(self) -> Structure:
        """Return the throws."""
        return {"faces": list(self.faces)}

    def emptied(self) -> Self:
        """Return no throw."""
        return replace(self, faces=())

    def result(self) -> AnswerOutcome:
        """Return whether anything was thrown."""
        return AnswerOutcome(is_empty=not self.faces)


class Table:
    """What a session opens for the toy: its dice, and who threw them."""

    def __init__(self, project: str) -> None:
        self.project, self.clients, self.is_closed = project, list[str](), False

    async def answer(self, tool: Tool, arguments: Mapping[str, object], caller: Caller = UNKNOWN_CALLER) -> Answer:
        """Return the answer of the tool."""
        self.clients.append(caller.client)
        await caller.report(1, 2, "shaking")
        return await tool.run(self, arguments)

    async def aclose(self) -> None:
        """Close."""
        self.is_closed = True


async def throw(table: Table, *, faces: list[int], token_budget: int = 200) -> Rolled:
    """Return the throws that fit the budget."""
    if not faces:
        raise NotFound("no dice", "give faces")
    counter = Cl100kCounter()

    def build(count: int) -> Rolled:
        withheld = (f"{len(faces) - count} throws",) if count < len(faces) else ()
        evidence = Evidence(table.project, 1, "-", "", (), counter.encoding, 0, token_budget, (), withheld)
        return Rolled("throw_dice", tuple(faces[:count]), evidence)

    return fit_counted(counter, token_budget, build, len(faces))


async def players(table: Table, *, type_: str = "") -> ItemsAnswer:
    """Return who threw."""
    items = [Item(f"{name or 'nobody'} {type_}".strip(), {"name": name}) for name in table.clients]
    body = ItemsBody("ok", "players", (ItemGroup.of("players", items),))
    return ItemsAnswer("list_players", body, Evidence(table.project, 1, "-", "", (), "", 0, 0))


TOY: Toolset[ToolsetHost] = Toolset(
    "toy",
    (
        Tool(
            "throw_dice",
            "Throw dice.",
            {"faces": list_of({"type": "integer"}, 500), "token_budget": whole("", 1, 1000)},
            {"faces": {"type": "array"}},
            ("faces",),
            handler=throw,
            idempotent=False,
        ),
        Tool(
            "list_players",
            "Who threw.",
            {"type": text("Kind", 20)},
            handler=players,
            parameters={"type": "type_"},
            output=ITEMS_SCHEMA,
            reads=Reads.INSTALLATION,
            read_only=False,
        ),
    ),
    lambda session: Table(session.settings.project_name),
    "Dice are thrown by throw_dice.",
)
KNOWN = {**TOOLSETS, TOY.name: TOY}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "tree").mkdir()
    settings = load_settings(str(tmp_path / "tree"), str(tmp_path / "data"))
    return Session(settings, toolsets=tuple(KNOWN.values()))


async def test_two_tools_are_served_by_one_entry(session: Session) -> None:
    server = make_server(session, toolsets=["toy"], known=KNOWN)
    async with Client(server) as client:
        assert client.instructions is not None and client.instructions.endswith("Dice are thrown by throw_dice.")
        throwing, listing = (await client.list_tools()).tools
        assert (throwing.name, listing.name) == ("throw_dice", "list_players")
        assert throwing.input_schema["required"] == ["faces"]
        assert throwing.annotations is not None and throwing.annotations.idempotent_hint is False
        assert listing.annotations is not None and listing.annotations.read_only_hint is False
        found = await client.call_tool("throw_dice", {"faces": [3, 5]})
        assert [one.text for one in found.content] == ["[tree @1, indexed -]\nthrew 3\nthrew 5"]  # type: ignore[union-attr]
        assert found.structured_content == {"faces": [3, 5], "evidence": {"project": "tree", "generation": 1}}
        jsonschema.validate(found.structured_content, throwing.output_schema)
        named = await client.call_tool("list_players", {"type": "guest"})
        assert named.structured_content is not None and len(named.structured_content["players"]) == 2
        jsonschema.validate(named.structured_content, listing.output_schema)
        wrong = await client.call_tool("throw_dice", {"faces": "six"})
        assert wrong.is_error
        none = await client.call_tool("throw_dice", {"faces": []})
        assert none.is_error and "no dice" in none.content[0].text  # type: ignore[union-attr]
    table = session.opened_by(TOY.open)
    await session.aclose()
    assert isinstance(table, Table) and table.is_closed


async def test_tools_that_write_are_left_out_as_others_are(session: Session) -> None:
    async with Client(make_server(session, toolsets=["toy"], offer_writes=False, known=KNOWN)) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["throw_dice"]
    await session.aclose()


async def test_an_answer_of_a_new_type_is_cut_and_emptied_and_shown(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = TOY.tools[0]
    cut = await session.answer(tool, {"faces": list(range(300)), "token_budget": 120})
    assert isinstance(cut, Rolled) and 0 < len(cut.faces) < 300 and cut.evidence.withheld
    floor = await session.answer(tool, {"faces": [1], "token_budget": 1})
    assert floor.evidence.below_floor and floor.structure()["evidence"] and "faces" not in floor.structure()
    print_answer(cut)
    assert "threw 0" in capsys.readouterr().out
    with pytest.raises(AtlasError):
        await session.answer(tool, {"faces": []})
    await session.aclose()
