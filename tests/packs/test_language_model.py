"""A language model that adds entities and facts to a pack, behind the real LiteLLM and a server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from atlas.core.errors import ConfigError
from atlas.packs import AsyncPack
from atlas.packs.build import BuildRequest, build_pack
from atlas.packs.documentation.article import Article, Block, BlockKind, Section
from atlas.packs.documentation.extract.model import is_answer, read_findings
from atlas.packs.documentation.rendering import render
from atlas.packs.model import ModelPass
from atlas.parsing import Cl100kCounter
from tests.litellm_clients import close_litellm_clients

from .library import write_tree

# `importorskip` would import it, in every process of a run and before the product has set what the import needs
if find_spec("litellm") is None:
    pytest.skip("needs the extra [litellm]", allow_module_level=True)

from atlas.adapters.language_models.litellm import LiteLlmModel

pytestmark = pytest.mark.filterwarnings("ignore")

SENTENCE = "The pump shuts itself off once the pressure climbs over 7 bar."
TEXT = (
    f"Everything about the pump and how it behaves under load. {SENTENCE} It starts again by itself after a minute, "
    "unless the operator holds the lever, which keeps it off until the lever is let go again by that operator."
)
PROVED = {"kind": "limit", "subject": "pump", "value": "7 bar", "sentence": SENTENCE}
INVENTED = {"kind": "limit", "subject": "pump", "value": "9 bar", "sentence": "The pump stops at 9 bar."}
ENTITY = {"name": "lever", "kind": "part", "sentence": "unless the operator holds the lever"}
RELATION = {"source": "operator", "type": "holds", "target": "lever", "sentence": "unless the operator holds the lever"}
ANSWER = json.dumps({"entities": [ENTITY], "facts": [PROVED, INVENTED], "relations": [RELATION]})


class Server:
    """What the server was asked, and how it answers: a text, or an HTTP status."""

    def __init__(self, answer: Callable[[str], str | int]) -> None:
        self.answer, self.asked, self.port = answer, list[str](), 0


@contextmanager
def serve(answer: Callable[[str], str | int]) -> Iterator[Server]:
    state = Server(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            text = str(body["messages"][-1]["content"])
            state.asked.append(text)
            said = state.answer(text)
            status = said if isinstance(said, int) else 200
            message = {"role": "assistant", "content": said}
            reply: dict[str, Any] = {
                **{"id": "x", "object": "chat.completion", "created": 1, "model": "stub"},
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
            }
            data = json.dumps(reply if status == 200 else {"error": {"message": "busy"}}).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield state
        finally:
            server.shutdown()


def model_pass(server: Server, folder: Path, limit: int = 100_000) -> ModelPass:
    model = LiteLlmModel("openai/stub", f"http://127.0.0.1:{server.port}/v1", "key", 10.0)
    return ModelPass(model, folder / "kept", Cl100kCounter(), limit, pause=0.0)


async def build(folder: Path, model: ModelPass | None, name: str = "pump") -> tuple[str, ...]:
    found = await build_pack(
        BuildRequest(name, (str(folder / "docs"),), "1"), folder / name, replaces=True, model=model
    )
    return found.notes


@pytest.fixture(autouse=True)
async def close_connections() -> AsyncIterator[None]:
    yield
    await close_litellm_clients()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    write_tree(tmp_path / "docs", {"pump.md": f"# Pump\n\n{TEXT}\n", "short.md": "# Short\n\nNothing here.\n"})
    return tmp_path


async def test_statements_with_evidence_join_the_pack_and_are_marked(docs: Path) -> None:
    with serve(lambda text: f"Here it is:\n```json\n{ANSWER}\n```") as server:
        notes = await build(docs, model_pass(server, docs))
    assert [text.count("pump") > 0 for text in server.asked] == [True], "a section that says nothing is not sent"
    assert any("1 statement" in note for note in notes)
    async with await AsyncPack.open(docs / "pump") as pack:
        facts = (await pack.cypher("MATCH (f:Fact) WHERE f.origin = 'model' RETURN f.kind, f.value, f.docstring")).rows
        assert facts == (("limit", "7 bar", SENTENCE),)
        edges = (await pack.cypher("MATCH (:Section)-[r:HAS_FACT]->(f:Fact {origin: 'model'}) RETURN r.strategy")).rows
        assert edges == (("model",),)
        entities = (await pack.cypher("MATCH (e:Entity {name: 'lever'}) RETURN e.origin")).rows
        assert entities == (("model",),)
        assert [one.model for one in pack.manifest.models if one.space == "statements"] == ["openai/stub"]
        answer = await pack.ask("What is the limit of the pump in bar?")
        assert [fact.origin for fact in answer.facts if SENTENCE in fact.text] == ["model"]
        assert f"{SENTENCE} [1] (found by a language model)" in answer.text


async def test_no_model_is_asked_unless_it_is_given(docs: Path) -> None:
    with serve(lambda text: ANSWER) as server:
        assert await build(docs, None) == ()
    assert server.asked == []
    async with await AsyncPack.open(docs / "pump") as pack:
        assert (await pack.cypher("MATCH (n) WHERE n.origin = 'model' RETURN n")).rows == ()


async def test_answers_are_kept_by_content(docs: Path) -> None:
    with serve(lambda text: ANSWER) as server:
        await build(docs, model_pass(server, docs))
        first = (docs / "pump" / "pack.db").read_bytes()
        again = model_pass(server, docs, limit=0)
        await build(docs, again)
        assert (len(server.asked), again.kept, again.spent) == (1, 1, 0)
        assert (docs / "pump" / "pack.db").read_bytes() == first
        write_tree(docs / "docs", {"pump.md": f"# Pump\n\n{TEXT} It is blue.\n"})
        await build(docs, model_pass(server, docs))
        assert len(server.asked) == 2


async def test_the_limit_of_tokens_stops_and_says_so(docs: Path) -> None:
    write_tree(
        docs / "docs", {f"pump{number}.md": f"# Pump {number}\n\n{TEXT} Number {number}.\n" for number in range(5)}
    )
    with serve(lambda text: ANSWER) as server:
        model = model_pass(server, docs, limit=2_700)
        notes = await build(docs, model)
        assert 0 < len(server.asked) < 6
        assert model.spent <= 2_700
    assert [note for note in notes if "limit of 2,700 tokens" in note]


async def test_a_model_that_fails_leaves_the_pack_as_rules_make_it(docs: Path) -> None:
    with serve(lambda text: 503) as server:
        notes = await build(docs, model_pass(server, docs))
        assert len(server.asked) == 3, "tried three times"
        await build(docs, None, "plain")
    assert notes == ("the language model did not answer for 1 section: left as rules have it",)
    async with await AsyncPack.open(docs / "pump") as pack:
        assert (await pack.cypher("MATCH (n) WHERE n.origin = 'model' RETURN n")).rows == ()
    with serve(lambda text: 401) as server, pytest.raises(ConfigError):
        await build(docs, model_pass(server, docs))
    assert (docs / "pump" / "pack.db").exists(), "the pack from before is still there"


@pytest.mark.parametrize(
    "answer",
    [
        "no JSON at all",
        "[]",
        json.dumps({"facts": [INVENTED, {"kind": "secret"}, 7], "entities": "x", "relations": [{"source": "pump"}]}),
        json.dumps(
            {"facts": [{**PROVED, "kind": "opinion"}, {**PROVED, "subject": "engine"}, {**PROVED, "value": "8"}]}
        ),
        json.dumps({"entities": [{**ENTITY, "name": "handle"}], "relations": [{**RELATION, "target": "pump"}]}),
        '{"facts": ' + "[" * 5_000,
    ],
)
def test_statements_without_evidence_are_dropped(answer: str) -> None:
    block = Block(BlockKind.PARAGRAPH, TEXT, line=3)
    one = render(Article("pump.md", "Pump", (Section("", "Pump", 1, (block,), 1),)))
    found = read_findings(answer, one, one.sections[0])
    assert (found.extract.facts, found.extract.entities, found.extract.relations) == ((), (), ())
    assert found.dropped or not is_answer(answer) or answer == "[]"


def test_a_sentence_is_found_whatever_its_line_breaks() -> None:
    block = Block(BlockKind.PARAGRAPH, TEXT.replace("climbs over", "climbs\n  over"), line=3)
    one = render(Article("pump.md", "Pump", (Section("", "Pump", 1, (block,), 1),)))
    found = read_findings(json.dumps({"facts": [PROVED]}), one, one.sections[0])
    (fact,) = found.extract.facts
    assert (fact.value, fact.line, fact.origin) == ("7 bar", 3, "model")
    assert " ".join(one.content[fact.start : fact.end].decode().split()) == SENTENCE
