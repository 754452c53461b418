"""The layers of ARCHITECTURE.md hold, and every foreign library stays where it belongs."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted([*(ROOT / "atlas").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")])

FORBIDDEN_NAMES = {
    "manager", "service", "handler", "processor", "orchestrator", "engine", "utils", "util", "helpers", "helper",
    "common", "base", "misc",
}  # fmt: skip

MESSAGES = ("atlas/server/malformed.py", "atlas/server/roots.py")
HOMES = {
    "typer": ("atlas/cli/", "benchmarks/atlas_bench/commands/"),
    "rich": ("atlas/cli/", "benchmarks/atlas_bench/commands/"),
    "prompt_toolkit": ("atlas/cli/chat/",),
    "mcp": (*MESSAGES, "atlas/server/mcp.py", "atlas/server/papers.py", "atlas/server/paper_changes.py", "atlas/chat/"),
    "mcp_types": (
        *MESSAGES,
        "atlas/server/mcp.py",
        "atlas/server/papers.py",
        "atlas/server/paper_changes.py",
        "atlas/chat/",
        "atlas/cli/chat/",
        "atlas/app/chat.py",
    ),
    "reportlab": ("atlas/papers/pdf.py",),
    "arxiv": ("atlas/adapters/paper_services/arxiv.py",),
    "requests": ("atlas/adapters/paper_services/",),
    "urllib3": ("atlas/adapters/paper_services/",),  # the library below requests
    "pydantic": (*MESSAGES, "atlas/server/mcp.py"),
    "anyio": (
        "atlas/server/malformed.py",
        "atlas/server/mcp.py",
        "atlas/server/paper_changes.py",
        "atlas/runtime/process/stdin.py",
        "atlas/chat/",
    ),
    "opentelemetry": ("atlas/server/mcp.py", "atlas/runtime/process/metrics.py"),
    "apsw": ("atlas/adapters/stores/", "benchmarks/atlas_bench/dump.py"),
    "cryptography": ("atlas/packs/documentation/pack/minisign.py",),
    "zstandard": ("atlas/packs/documentation/pack/",),
    "dulwich": ("atlas/adapters/git/",),
    "graphglot": ("atlas/adapters/stores/",),
    "neo4j": ("atlas/adapters/stores/bolt",),
    "httpx2": ("atlas/adapters/embedders/remote/http.py", "atlas/chat/transport.py", "atlas/adapters/web/"),
    "pip": ("atlas/packs/documentation/sources/pip_download.py",),
    "protego": ("atlas/packs/documentation/sources/crawl/robots.py",),
    "numpy": ("atlas/adapters/embedders/onnx_model.py",),
    "onnxruntime": ("atlas/adapters/embedders/onnx_model.py",),
    "tokenizers": ("atlas/adapters/embedders/onnx_model.py",),
    "pypdf": ("atlas/packs/documentation/formats/pdf_text.py",),
    "selectolax": ("atlas/packs/documentation/formats/html/",),
    "valkey": ("atlas/adapters/buses/valkey/connection.py",),
    "pygls": ("atlas/server/editor/protocol.py",),
    "lsprotocol": ("atlas/server/editor/protocol.py",),
    "starlette": ("atlas/server/explorer/",),
    "jinja2": ("atlas/server/explorer/render.py",),
    "markupsafe": ("atlas/server/explorer/",),
    "uvicorn": ("atlas/server/http/server.py", "atlas/server/http/protocol.py"),
    "h11": ("atlas/server/http/protocol.py",),
    "watchfiles": ("atlas/code/index/watch/recursive.py",),
    "litellm": ("atlas/runtime/process/litellm_library.py",),
    "atlas._parser": (
        "atlas/runtime/config/",
        "atlas/adapters/stores/cypher/",
        "atlas/packs/documentation/",
        "atlas/knowledge/notes/",
        "atlas/code/notes/note.py",
        "atlas/parsing/",
        "atlas/parsing/scanning.py",
        "atlas/adapters/embedders/",
    ),
}
"""Foreign package -> where it may be imported; the Python standard library is free everywhere, nothing else is."""
OWN = ("atlas_bench", "reference_store")
"""The packages of the distribution in benchmarks/."""

MODULE_LINES = 700
"""Budget of a module; of a Rust module with its tests."""

FUNCTION_LINES = 60
"""Budget of a function without those inside of it: it fits a screen."""

FOLDER_FILES = 22
"""Budget of a folder; more means that a room is missing."""

SHORT_LINES, SHORT_MODULES = 40, 15
"""How many modules of the product may be shorter; most of these belong to the module that imports them."""

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def faults_of(path: Path) -> Iterator[str]:
    """Say what a module imports that it may not, and why it is not named, documented and small."""
    text, place = path.read_text(), path.relative_to(ROOT).as_posix()
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    for name in imports_of(nodes):
        top = name.partition(".")[0]
        key = "atlas._parser" if name.startswith("atlas._parser") else top
        if top in (*sys.stdlib_module_names, *OWN) or (top == "atlas" and key != "atlas._parser"):
            continue
        if key not in HOMES:
            yield f"{place} imports {name}, which has no home in this test"
        elif not place.startswith(HOMES[key]):
            yield f"{place} imports {name}; only {HOMES[key]} may"
    if {path.stem, path.parent.name} & FORBIDDEN_NAMES:
        yield f"{place} has a name that says nothing"
    if not ast.get_docstring(tree):
        yield f"{place}: a module opens with what comes in and what goes out"
    if (length := len(text.splitlines())) > MODULE_LINES:
        yield f"{place} has {length} lines"
    for node in nodes:
        if isinstance(node, FUNCTIONS) and lines_of(node) > FUNCTION_LINES:
            inner = [one for one in ast.walk(node) if isinstance(one, FUNCTIONS) and one is not node]
            if (length := lines_of(node) - sum(map(lines_of, inner))) > FUNCTION_LINES:
                yield f"{place}: {node.name} has {length} lines of its own: it does not fit a screen"


def imports_of(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or ""
            if node.module == "atlas":
                yield from (f"atlas.{alias.name}" for alias in node.names)


def test_layers_point_down() -> None:
    script = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_architecture_draws_the_layers_that_are_checked() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    # what is in parentheses does not exist yet, or holds no code
    checked = [[name for name in layer.split(" | ") if not name.startswith("(")] for layer in layers]
    text = (ROOT / "ARCHITECTURE.md").read_text().partition("Imports point down only")[2]
    drawn = [layer.split(" | ") for layer in " ".join(text.split("```")[1].split()).split(" -> ")]
    assert [sorted(layer) for layer in drawn] == [sorted(layer) for layer in checked]
    modules = {
        path.stem if path.is_file() else path.name for path in (ROOT / "atlas").iterdir() if path.suffix in ("", ".py")
    }
    assert modules - {"__init__", "__pycache__", "languages"} == {name for layer in checked for name in layer}


def test_modules_are_named_documented_and_small_and_foreign_libraries_stay_at_home() -> None:
    assert len(MODULES) > 500
    assert [fault for path in MODULES for fault in faults_of(path)] == []


def test_each_fault_of_a_module_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    body = "def outer():\n    def inner():\n" + "        pass\n" * 59 + "    pass\n" * FUNCTION_LINES
    (tmp_path / "utils.py").write_text("import os, typer, unheard\n" + body + "\n" * MODULE_LINES)
    said = [" ".join(fault.split()[:3]) for fault in faults_of(tmp_path / "utils.py")]
    assert said == [
        "utils.py imports typer;",
        "utils.py imports unheard,",
        "utils.py has a",
        "utils.py: a module",
        f"utils.py has {len(body.splitlines()) + MODULE_LINES + 1}",
        "utils.py: outer has",
    ]


def test_folders_are_small_and_few_modules_are_tiny() -> None:
    modules = [path for path in MODULES if path.is_relative_to(ROOT / "atlas")]
    folders = Counter(path.parent.relative_to(ROOT).as_posix() for path in modules)
    assert {folder: count for folder, count in folders.items() if count > FOLDER_FILES} == {}
    ideas = [path for path in modules if path.name not in ("__init__.py", "__main__.py")]
    short = [path.name for path in ideas if len(path.read_text().splitlines()) < SHORT_LINES]
    assert len(short) <= SHORT_MODULES, short


def test_only_the_python_module_of_the_extension_names_pyo3() -> None:
    crates = ROOT / "rust-parser"
    naming = {path.relative_to(crates).parts[0] for path in crates.glob("*/src/**/*.rs") if "pyo3" in path.read_text()}
    assert naming == {"py"}


def test_rust_modules_are_documented_and_small() -> None:
    for path in sorted((ROOT / "rust-parser").glob("*/src/**/*.rs")):
        text = path.read_text()
        assert text.startswith("//!"), f"{path.name} has no module documentation"
        assert len(text.splitlines()) <= MODULE_LINES, f"{path.name} has {len(text.splitlines())} lines"
        assert path.stem not in FORBIDDEN_NAMES


def test_no_subcommand_imports_what_only_another_needs() -> None:
    """`atlas --help` must stay fast: neither adapters nor the MCP SDK nor the extension may be imported for it."""
    script = "import sys, atlas.cli.app; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    loaded = set(done.stdout.split())
    heavy = {
        "mcp",
        "pydantic",
        "apsw",
        "graphglot",
        "atlas._parser",
        "atlas.app.main",
        "atlas.adapters.stores",
        "asyncio",
        "rich",
    }
    assert not loaded & heavy


RUN = "from atlas.cli.main import main; main()"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a project and its index."""
    folder = tmp_path_factory.mktemp("indexed")
    (folder / "shop").mkdir()
    (folder / "shop" / "cart.py").write_text("def total(): ...\n")
    _loaded(RUN, ["index", str(folder / "shop"), "--data-dir", str(folder / "data")])
    return folder


@pytest.mark.parametrize("words", ["status", "node total", "search total", "index"])
def test_a_command_without_a_daemon_imports_what_it_needs(indexed: Path, words: str) -> None:
    place = [str(indexed / "shop")] if words == "index" else ["--project", str(indexed / "shop")]
    loaded = _loaded(RUN, [*words.split(), *place, "--data-dir", str(indexed / "data")])
    assert "atlas.app.main" in loaded
    # the option parser and the protocol; 5 to 30 ms each for a list of distributions, packaged files and a system call
    unneeded = {"typer", "pydantic", "rich", "mcp", "importlib.metadata", "importlib.resources", "ctypes", "zipfile"}
    if words.split()[0] != "search":
        unneeded |= {"atlas.code.find", "atlas.code.answerers", "atlas.packs.links", "atlas.code.changes.changes"}
    assert not loaded & unneeded


def test_a_server_imports_no_tool_before_it_is_called() -> None:
    make = (
        "from pathlib import Path; from atlas.app.session import make_session; from atlas.server.mcp import make_server;"
        " from atlas.runtime.config.load import load_settings; make_server(make_session(load_settings('.', 'd')))"
    )
    loaded = _loaded(make, [])
    tools = {"atlas.code.find", "atlas.code.atlas", "atlas.code.tools.search.search", "atlas.code.tools.state.index"}
    assert not loaded & (tools | {"apsw", "atlas.packs.links", "atlas.packs.opening", "atlas.papers.links"})


def test_the_explorer_listens_before_it_imports_what_single_pages_need() -> None:
    loaded = _loaded("import atlas.server.explorer.app, atlas.server.http.server", [])
    assert not loaded & {"mcp", "mcp_types", "atlas.packs.links", "atlas.packs.opening", "atlas.packs.profiles"}


def _loaded(program: str, arguments: list[str]) -> set[str]:
    """Return the names of the modules that a program has imported at its end."""
    script = f"import atexit, sys; atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr)); {program}"
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=60)
    return set(done.stderr.splitlines()[-1].split())


def test_a_session_that_the_daemon_serves_imports_next_to_nothing() -> None:
    """`atlas mcp` has to start in 50 ms: `-S` leaves out what an installation's `.pth` files import."""
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import atlas.cli.main, atlas.server.proxy; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"pathlib", "typing", "dataclasses", "asyncio", "subprocess", "hashlib", "tomllib", "typer"}
    ours = {name for name in loaded if name.startswith("atlas.") and name.count(".") > 1}
    assert ours <= {
        "atlas.cli.main", "atlas.core.errors", "atlas.core.ids", "atlas.runtime.process", "atlas.runtime.process.places",
        "atlas.runtime.process.session_socket", "atlas.server.proxy", "atlas.server.relay",
    }  # fmt: skip
