"""Text edits after the move. `edit` reports what no longer fits and goes on, so that a changed main shows all of it at once."""
from __future__ import annotations

import re
from pathlib import Path

LAYERS = """layers = [
  "__main__",
  "cli",
  "server",
  "app",
  "knowledge | packs | papers",
  "code | adapters",
  "chat | answers | parsing | runtime | (languages)",
  "core",
]"""

CONTRACTS = """[tool.importlinter]
root_package = "atlas"
include_external_packages = true

[[tool.importlinter.contracts]]
name = "Layers point down; features do not import each other"
type = "layers"
containers = ["atlas"]
LAYERS

[[tool.importlinter.contracts]]
name = "Only app, and the opening module of a feature, import adapters; others ask atlas.adapters.opening"
type = "forbidden"
source_modules = ["atlas.cli", "atlas.server", "atlas.knowledge", "atlas.packs", "atlas.papers", "atlas.code", "atlas.chat"]
forbidden_modules = ["atlas.adapters.stores", "atlas.adapters.embedders", "atlas.adapters.buses", "atlas.adapters.git", "atlas.adapters.language_models", "atlas.adapters.paper_services", "atlas.adapters.web"]
ignore_imports = ["atlas.packs.opening -> atlas.adapters.**"]
allow_indirect_imports = true

[[tool.importlinter.contracts]]
name = "Only openings, app, servers and the command line see settings"
type = "forbidden"
source_modules = ["atlas.code", "atlas.chat", "atlas.papers", "atlas.answers", "atlas.parsing", "atlas.knowledge.notes", "atlas.knowledge.retrieval", "atlas.knowledge.tools", "atlas.packs.documentation", "atlas.packs.questions", "atlas.packs.tools", "atlas.adapters.stores", "atlas.adapters.buses", "atlas.adapters.embedders", "atlas.adapters.git", "atlas.adapters.language_models", "atlas.adapters.paper_services", "atlas.adapters.web", "atlas.server.mcp", "atlas.server.papers"]
forbidden_modules = ["atlas.runtime.config"]
allow_indirect_imports = true

[[tool.importlinter.contracts]]
name = "The write path does not know the read path"
type = "forbidden"
source_modules = ["atlas.code.index"]
forbidden_modules = [READ]

[[tool.importlinter.contracts]]
name = "The read path does not know the write path"
type = "forbidden"
source_modules = [READ]
forbidden_modules = ["atlas.code.index"]

[[tool.importlinter.contracts]]
name = "The tools of code are above both paths"
type = "forbidden"
source_modules = ["atlas.code.index", READ]
forbidden_modules = ["atlas.code.tools", "atlas.code.atlas"]

[[tool.importlinter.contracts]]
name = "The adapters do not know each other"
type = "independence"
modules = ["atlas.adapters.stores", "atlas.adapters.buses", "atlas.adapters.embedders", "atlas.adapters.git", "atlas.adapters.web"]
""".replace("LAYERS", LAYERS).replace(
    "READ", ", ".join(f'"atlas.code.{n}"' for n in "find reader question retrieve rank graph changes notes".split())
)

DRAWING = """```
__main__  ->  cli  ->  server  ->  app  ->  knowledge | packs | papers  ->  code | adapters
  ->  chat | answers | parsing | runtime  ->  core
```"""

BENCHMARKS = """[build-system]
requires = ["hatchling>=1.26"]
build-backend = "hatchling.build"

[project]
name = "code-atlas-benchmarks"
description = "Measurements of Code Atlas (`atlas bench`) and the reference store that its tests compare others with."
version = "0.1.0"
requires-python = ">=3.11"
license = "Apache-2.0"
dependencies = ["code-atlas"]

[project.entry-points."atlas.commands"]
bench = "atlas_bench.commands.bench:register"

[tool.hatch.build.targets.wheel]
packages = ["atlas_bench", "reference_store"]
"""

PACKS = '''"""Documentation of libraries as knowledge packs: built once, installed, asked offline; also from Python.

Sources come in (`documentation/sources`, read by `documentation/formats`), articles become entities and facts
(`documentation/extract`), `build` writes them to a pack's folder (`documentation/pack`), `opening` opens it,
`questions` answers from it, and `tools` and `toolset` serve it to agents.

`Pack` for plain code, `AsyncPack` for `asyncio`; both have the same verbs. `docs/packs.md` has a runnable example. The
names are imported on first use: whatever needs one module of this package does not load all of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atlas.packs.build import BuildRequest, BuildResult
    from atlas.packs.documentation.pack.manifest import Manifest
    from atlas.packs.documentation.sources.values import CollectOptions, CollectProgress
    from atlas.packs.pack import AsyncPack, Pack
    from atlas.packs.questions.values import Fact, Hit, PackAnswer, Reranker, Source

__all__ = [
    "AsyncPack",
    "BuildRequest",
    "BuildResult",
    "CollectOptions",
    "CollectProgress",
    "Fact",
    "Hit",
    "Manifest",
    "Pack",
    "PackAnswer",
    "Reranker",
    "Source",
]

_HOMES = {
    "atlas.packs.build": ("BuildRequest", "BuildResult"),
    "atlas.packs.documentation.pack.manifest": ("Manifest",),
    "atlas.packs.documentation.sources.values": ("CollectOptions", "CollectProgress"),
    "atlas.packs.pack": ("AsyncPack", "Pack"),
    "atlas.packs.questions.values": ("Fact", "Hit", "PackAnswer", "Reranker", "Source"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
'''

FETCHER = '''"""The fetcher of web pages for documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atlas.adapters.web.fetcher import WebFetcher


def make_fetcher() -> WebFetcher:
    """Return a fetcher that connects to checked addresses only. Sends nothing yet; close it."""
    from atlas.adapters.web.fetcher import WebFetcher

    return WebFetcher()
'''


FURTHER = '''def _register_further(app: typer.Typer) -> None:
    """Register the commands of further distributions of Code Atlas, which are installed beside its dependencies.

    Entry points of all distributions would take 15 ms to read, and those of a folder on the path may be a stranger's.
    """
    for folder in Path(typer.__file__).parents[1].glob("code_atlas_*.dist-info"):
        from importlib.metadata import Distribution

        for command in Distribution.at(folder).entry_points.select(group=FURTHER):
            command.load()(app)
'''


def apply(root: Path) -> None:
    def edit(file: str, old: str, new: str) -> None:
        path = root / file
        text = path.read_text() if path.exists() else ""
        if old in text:
            path.write_text(text.replace(old, new))
        else:
            print(f"EDIT {file}: not found: {old[:90]!r}")

    def write(file: str, text: str) -> None:
        (root / file).write_text(text)

    def regex(file: str, old: str, new: str) -> None:
        path = root / file
        text, number = re.subn(old, lambda _: new, path.read_text(), count=1, flags=re.DOTALL)
        if number:
            path.write_text(text)
        else:
            print(f"REGEX {file}: not found: {old[:90]!r}")

    # pyproject, Makefile
    regex("pyproject.toml", r"\[tool\.importlinter\].*", CONTRACTS)
    edit("pyproject.toml", 'include = ["atlas"]\ntypeCheckingMode', 'include = ["atlas", "benchmarks"]\nextraPaths = ["benchmarks"]\ntypeCheckingMode')
    edit("pyproject.toml", '"training/**" = ["T20"]', '"benchmarks/atlas_bench/commands/**" = ["T20", "B008"]\n"training/**" = ["T20"]')
    write("benchmarks/pyproject.toml", BENCHMARKS)
    edit("Makefile", "\t$(BIN)/maturin develop --release --quiet\n\ttouch $@", "\t$(BIN)/maturin develop --release --quiet\n\t$(BIN)/python -m pip install --quiet --no-deps --editable benchmarks\n\ttouch $@")
    edit("Makefile", "--cov=atlas --cov-branch", "--cov=atlas --cov=benchmarks --cov-branch")
    regex("ARCHITECTURE.md", r"```\n__main__.*?```", DRAWING)
    # architecture tests
    t = "tests/architecture/test_layers.py"
    edit(t, 'MODULES = sorted((ROOT / "atlas").rglob("*.py"))', 'MODULES = sorted([*(ROOT / "atlas").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")])')
    edit(t, '"typer": ("atlas/cli/",)', '"typer": ("atlas/cli/", "benchmarks/atlas_bench/commands/")')
    edit(t, '"rich": ("atlas/cli/",)', '"rich": ("atlas/cli/", "benchmarks/atlas_bench/commands/")')
    edit(t, 'if top in sys.stdlib_module_names or (top == "atlas" and key != "atlas._parser"):', 'if top in (*sys.stdlib_module_names, *OWN) or (top == "atlas" and key != "atlas._parser"):')
    edit(t, '"""Foreign package -> where', 'OWN = ("atlas_bench", "reference_store")\n"""Foreign package -> where')
    edit(t, 'OWN = ("atlas_bench", "reference_store")\n"""Foreign package -> where it may be imported; the Python standard library is free everywhere, nothing else is."""',
         '"""Foreign package -> where it may be imported; the Python standard library is free everywhere, nothing else is."""\nOWN = ("atlas_bench", "reference_store")\n"""The packages of the distribution in benchmarks/."""')
    edit(t, '        "atlas/knowledge/notes/",\n', '        "atlas/knowledge/notes/",\n        "atlas/code/notes/note.py",\n')
    edit(t, '"apsw": ("atlas/adapters/stores/",)', '"apsw": ("atlas/adapters/stores/", "benchmarks/atlas_bench/dump.py")')
    edit("tests/architecture/test_circles.py", '[(python_graph, PYTHON, 1), (rust_graph', '[(python_graph, PYTHON, 1), (python_graph, ROOT / "benchmarks/atlas_bench", 1), (rust_graph')
    edit("tests/architecture/test_languages.py", '    "benchmarks/atlas_bench/",\n', "")
    edit("tests/architecture/test_languages.py", '    "benchmarks/atlas_bench/commands/search.py",\n', "")
    edit("tests/unit/test_bolt_dialect.py", 'sorted(BOLT.glob("*.py"))', 'sorted(BOLT.rglob("*.py"))')
    # commands
    c = "atlas/cli/app.py"
    for old, new in (
        ("index", "code.index"), ("daemon", "daemon.daemon"), ("worker", "daemon.worker"), ("query", "code.query"), ("impact", "code.impact"),
        ("notes", "knowledge.notes"), ("memory", "knowledge.memory"), ("pack", "packs.pack"), ("state", "daemon.state"),
        ("dead_letters", "daemon.dead_letters"), ("export", "code.export"), ("chat", "chat.chat"),
    ):  # fmt: skip
        edit(c, f'    "{old}": (', f'    "{new}": (')
    edit(c, '    "bench": ("bench",),\n', "")
    edit(c, "in the order of `atlas --help`.\"\"\"", 'in the order of `atlas --help`."""\n\nFURTHER = "atlas.commands"\n"""Entry points of further distributions `code-atlas-*`: functions that register commands, such as `bench`."""')
    edit(c, '            import_module(f"atlas.cli.{family}").register(app)\n', '            import_module(f"atlas.cli.{family}").register(app)\n    if not any(command in names for names in FAMILIES.values()):\n        _register_further(app)\n')
    edit(c, "def _print_version(", FURTHER + "\n\ndef _print_version(")
    edit(c, "import os\nfrom importlib import import_module\n", "import os\nfrom importlib import import_module\nfrom pathlib import Path\n")
    # openings
    write("atlas/packs/__init__.py", PACKS)
    write("atlas/adapters/opening/fetcher.py", FETCHER)
    b = "atlas/packs/build.py"
    edit(b, "from atlas.adapters.web.fetcher import WebFetcher", "from atlas.adapters.opening.fetcher import make_fetcher")
    edit(b, "WebFetcher()", "make_fetcher()")
    k = "atlas/knowledge/toolset.py"
    edit(k, "import _emotion", "import encode_emotion")
    edit(k, "emotion=_emotion", "emotion=encode_emotion")
    edit("atlas/adapters/opening/emotion.py", "def _emotion(text: str) -> bytes:\n", 'def encode_emotion(text: str) -> bytes:\n    """Return the emotions of a text as a vector in bytes."""\n')
    edit(k, "from atlas.app.papers import make_paper_links\n", "")
    edit(k, "        self._papers = make_paper_links(settings) if personal is not None else None\n", "        self._papers = papers\n")
    edit(k, "        # which papers the user has stored is the user's own, as personal notes are\n", "")
    edit(k, "def __init__(self, settings: Settings, session: ProjectSession, personal: ProjectSession | None) -> None:", "def __init__(\n        self,\n        settings: Settings,\n        session: ProjectSession,\n        personal: ProjectSession | None,\n        papers: PaperLinks | None = None,\n    ) -> None:")
    edit(k, '"""`personal`: a session with the user\'s own notes; None if they are not served."""', '"""`personal`: a session with the user\'s own notes, `papers`: stored papers; None if they are not served."""')
    edit(k, "    from atlas.core.language_model import LanguageModel\n", "    from atlas.core.language_model import LanguageModel\n    from atlas.core.paper_source import PaperLinks\n")
    s = "atlas/app/session.py"
    edit(s, "        self._desk = KnowledgeDesk(settings, self, personal)\n", "        # which papers the user has stored is the user's own, as personal notes are\n        papers = make_paper_links(settings) if personal is not None else None\n        self._desk = KnowledgeDesk(settings, self, personal, papers)\n")
    edit(s, "from atlas.app.freshness import FreshnessGuard\n", "from atlas.app.freshness import FreshnessGuard\nfrom atlas.app.papers import make_paper_links\n")
    edit("atlas/app/bus.py", '("valkey", "valkey_info", "valkey_server")', '("bus", "info", "server")')
    edit("atlas/app/bus.py", 'import_module(f"atlas.adapters.buses.{module}")', 'import_module(f"atlas.adapters.buses.valkey.{module}")')
    # lines that became too long
    edit("atlas/_parser.pyi", "as rows of atlas.core.model's NodeRow, EdgeRow, SearchText.", "as NodeRow, EdgeRow and SearchText of atlas.core.model.")
    edit("atlas/adapters/stores/sqlite/cypher/__init__.py", "compile_*, pattern,", "expressions,\npattern,")
    edit("atlas/adapters/web/__init__.py", '"""HTTP requests for documentation: implements the `Fetcher` of `atlas.packs.documentation.sources.values`. Only `app` imports it."""', '"""HTTP requests for documentation: implements the `Fetcher` of `atlas.core.fetching`."""')
    edit("atlas/packs/documentation/formats/restructured/included.py", "see `atlas.packs.documentation.formats.inclusion`", "see `documentation.formats.inclusion`")
