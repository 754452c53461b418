"""The LiteLLM embedder behind the real library, against a server on loopback; `make test` installs the extra."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from atlas.adapters.embedders.litellm import LiteLlmEndpoint
from atlas.adapters.embedders.remote.embedder import RemoteEmbedder, RequestOptions
from atlas.adapters.embedders.remote.retry import Backoff
from atlas.adapters.language_models.litellm import LiteLlmModel
from atlas.core.errors import ConfigError, Unavailable
from atlas.core.model import Chunk, ModelInfo
from atlas.knowledge.retrieval.judge import Verdict, judge, read_verdict
from tests.litellm_clients import close_litellm_clients
from tests.surfaces.knowledge import desk, project

from .stub import Stub, failure

pytestmark = pytest.mark.filterwarnings("ignore")

SHORT = Backoff(0.5, 0.05)


@pytest.fixture(autouse=True)
async def close_connections() -> AsyncIterator[None]:
    yield
    await close_litellm_clients()


@pytest.fixture
async def stub() -> AsyncIterator[Stub]:
    async with Stub(dimension=64).running() as running:
        yield running


def embedder(stub: Stub, key: str = "some-key-1") -> RemoteEmbedder:
    endpoint = LiteLlmEndpoint("openai/small", f"{stub.url}/v1", key, 0, 5.0, stub.url)
    return RemoteEmbedder(endpoint, RequestOptions(backoff=SHORT, query_backoff=SHORT))


async def test_vectors_come_through_and_the_environment_stays_as_it_was(stub: Stub) -> None:
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    made = embedder(stub)
    chunks = [Chunk(f"u{n}", "", "name", f"def word{'abc'[n % 3]}(): pass", False) for n in range(70)]
    assert len({*await made.embed_chunks(chunks)}) == 3
    assert await made.info() == ModelInfo("litellm", "openai/small", 64, "")
    assert {body["model"] for body in stub.bodies} == {"small"}
    assert max(len(texts) for _, texts in stub.requests) == 32
    assert os.environ.get("TIKTOKEN_CACHE_DIR") == before


def test_no_file_of_a_clone_changes_the_environment(tmp_path: Path) -> None:
    """A virtual environment usually lies in the clone, and LiteLLM reads the `.env` of the folders above its own."""
    (tmp_path / ".env").write_text("OPENAI_API_BASE=http://127.0.0.1:9/v1\nHTTPS_PROXY=http://127.0.0.1:9\n")
    library = tmp_path / ".venv/litellm"
    library.parent.mkdir()
    found = importlib.util.find_spec("litellm")
    assert found is not None and found.origin is not None
    library.symlink_to(Path(found.origin).parent)
    script = tmp_path / "script.py"
    script.write_text(
        f"import os, sys; sys.path.insert(0, {str(library.parent)!r}); before = dict(os.environ)\n"
        "from atlas.runtime.process.litellm_library import load_litellm\n"
        "print(load_litellm().__file__); print(sorted(os.environ.items() ^ before.items()))"
    )
    variables = {name: value for name, value in os.environ.items() if not name.startswith("LITELLM")}
    done = subprocess.run([sys.executable, script], env=variables, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [
        f"{library}/__init__.py",
        "[('LITELLM_LOCAL_MODEL_COST_MAP', 'True')]",
    ], done.stderr


async def test_errors_are_told_apart_and_hold_no_key(stub: Stub) -> None:
    made = embedder(stub)
    await made.info()
    stub.key = "another"
    with pytest.raises(ConfigError) as caught:
        await made.embed_query("x")
    assert "some-key" not in caught.value.message
    stub.key = ""
    stub.misbehave = lambda path, texts: failure(429, "slow down", "Overloaded")
    with pytest.raises(Unavailable, match="slow down"):
        await made.embed_query("x")
    stub.misbehave = lambda path, texts: failure(400, "too long", "x") if len(texts[0]) > 300 else None
    assert any(await made.embed_query("word " * 100))
    assert made.embedding_stats.given_up == 0
    await stub.stop()
    with pytest.raises(Unavailable):
        await made.embed_query("x")
    await stub.start()


@pytest.fixture
def chat() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An OpenAI-compatible chat server: its address, and the requests it gets. A statement "fail" is rejected."""
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(asked)
            text = asked["messages"][-1]["content"]
            answer = 'Sure: {"verdict": "contradict", "why": "earlier\\nand later"}' if "never" in text else "no idea"
            body: dict[str, Any] = {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": answer}}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
            failed = "fail" in text
            data = json.dumps({"error": {"message": "bad key some-key-1"}} if failed else body).encode()
            self.send_response(401 if failed else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1", seen
    server.shutdown()
    server.server_close()


async def test_a_language_model_judges_statements_and_its_failures_hold_no_key(
    chat: tuple[str, list[dict[str, Any]]],
) -> None:
    url, seen = chat
    model = LiteLlmModel("openai/judge", url, "some-key-1", 5.0)
    verdicts = await judge(model, "The timer fires early.", ["The timer never fires early.", "Cats sleep."])
    assert verdicts == [Verdict("contradict", "earlier and later"), Verdict("unknown")]
    assert json.loads(seen[0]["messages"][1]["content"])["one"] == "The timer fires early."
    assert seen[0]["max_tokens"] == 120
    with pytest.raises(ConfigError) as caught:
        await judge(model, "x", ["fail"])
    assert "some-key" not in caught.value.message


async def test_units_about_the_same_are_judged_as_well(chat: tuple[str, list[dict[str, Any]]], tmp_path: Path) -> None:
    place = project(tmp_path)
    model, key = "openai/judge", "some-key-1"
    async with desk(
        place, ATLAS_LANGUAGE_MODEL_MODEL=model, ATLAS_LANGUAGE_MODEL_URL=chat[0], ATLAS_LANGUAGE_MODEL_API_KEY=key
    ) as claims:
        other = await claims.say("ingest_hypothesis", hypothesis="Deer were never seen north of the river.")
        await claims.say("ingest_hypothesis", hypothesis="The river floods its northern bank every spring.")
        said = await claims.say("find_contradictions", claim="A herd of deer grazes north of the river.")
    assert [(one["id"], one["verdict"]) for one in said.data["possible"]] == [(other.id, "contradict")]
    assert [one["verdict"] for one in said.data["same_subject"]] == ["unknown"]


@pytest.mark.parametrize(
    "answer",
    ["", "contradict", "{", '{"verdict": 3}', '{"verdict": "maybe"}', "[1]", '{"verdict": "agree", "why": {}}'],
)
def test_an_answer_that_is_no_verdict_counts_as_unknown(answer: str) -> None:
    found = read_verdict(answer)
    assert found == (Verdict("agree") if "agree" in answer and "{}}" not in answer else Verdict("unknown"))
