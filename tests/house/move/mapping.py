"""Old module -> new file. Starts from modules.json; CHANGES mend it, FALLBACK and families catch modules it does not know."""
from __future__ import annotations

import json
from pathlib import Path

MAP: dict[str, str] = json.loads((Path(__file__).parent / "modules.json").read_text())


def _in(folder: str, old: str, names: str, rename: dict[str, str] | None = None) -> dict[str, str]:
    """The modules `names` of package `old` go to `folder`."""
    return {f"{old}.{name}": f"{folder}/{(rename or {}).get(name, name)}.py" for name in names.split()}


CHANGES: dict[str, str] = {
    # names of HOUSE section 4
    "atlas.search.route": "atlas/code/question/parse_question.py",
    "atlas.search.route_questions": "atlas/code/graph/http_routes.py",
    "atlas.search.roots": "atlas/code/question/stem.py",
    "atlas.spelling": "atlas/core/edit_distance.py",
    "atlas.search.spellings": "atlas/code/question/british_american.py",
    "atlas.search.relate": "atlas/code/graph/answer_relation.py",
    "atlas.search.related": "atlas/code/graph/relation.py",
    "atlas.search.relations": "atlas/code/question/relation_kinds.py",
    "atlas.pipeline.supervisor": "atlas/code/index/daemon.py",
    "atlas.pipeline.tiers.quality": "atlas/code/index/tiers/sentence_transformer.py",
    "atlas.search.quality": "atlas/code/retrieve/sentence_transformer.py",
    "atlas.app.quality": "atlas/adapters/opening/sentence_transformer.py",
    "atlas.embedders.quality": "atlas/adapters/embedders/sentence_transformer.py",
    "atlas.tools.knowledge.once": "atlas/knowledge/tools/idempotency.py",
    "atlas.tools.knowledge.opened": "atlas/knowledge/tools/open_notes.py",
    "atlas.tools.knowledge.relatives": "atlas/knowledge/tools/related_notes.py",
    # the contract: what notes say about code is read by code; knowledge writes and judges notes, and may import code
    **_in("atlas/code/notes", "atlas.search.notes", "about anchors facts decisions"),
    "atlas.notes.note": "atlas/code/notes/note.py",
    "atlas.tools.note_lines": "atlas/code/notes/note_lines.py",
    # escaping, quoting and citing serve all features, the toolsets of all features are listed by app
    "atlas.tools.catalogue": "atlas/app/toolsets.py",
    # composition that needs both the write path and adapters
    "atlas.app.bus": "atlas/app/bus.py",
    "atlas.app.store": "atlas/app/store.py",
    "atlas.app.short_term": "atlas/app/short_term.py",
    "atlas.app.knowledge": "atlas/knowledge/toolset.py",
    "atlas.app.migrate": "atlas/app/migrate.py",
    # folders with fewer files
    **_in("atlas/code/tools/search", "atlas.tools", "search search_page search_parts search_rest explain excerpts snippets further",
          {"further": "unranked", "search_page": "page", "search_parts": "parts", "search_rest": "rest"}),
    **_in("atlas/code/tools/symbol", "atlas.tools", "node context bodies neighbours symbols symbol_lines"),
    **_in("atlas/code/tools/state", "atlas.tools", "health health_checks index index_pass newer_files worker_report"),
    **_in("atlas/code/tools/state", "atlas.tools.status", "daemon report workers"),
    "atlas.tools.status": "atlas/code/tools/state/__init__.py",
    **_in("atlas/adapters/stores/sqlite/file", "atlas.stores.sqlite", "connection hardened own_files side_file page_checks erasure schema_check upgrade maintenance errors"),
    **_in("atlas/adapters/stores/sqlite/cypher/expressions", "atlas.stores.sqlite.cypher", "compile_call compile_expression compile_list compile_text functions operators conversions sql_pattern",
          {"compile_call": "call", "compile_expression": "expression", "compile_list": "lists", "compile_text": "text"}),
    **_in("atlas/adapters/stores/bolt/reading", "atlas.stores.bolt", "consistent_reads cypher depth export filters find query query_edits read search"),
    **_in("atlas/adapters/buses/valkey", "atlas.buses", "valkey valkey_cache valkey_connection valkey_info valkey_memory valkey_paths valkey_server valkey_supervisor",
          {"valkey": "bus", **{f"valkey_{n}": n for n in "cache connection info memory paths server supervisor".split()}}),
    **_in("atlas/adapters/embedders/remote", "atlas.embedders", "batches bisect endpoint http openai remote retry tei", {"remote": "embedder"}),
    **_in("atlas/packs/questions/retrieval", "atlas.search.packs", "retrieval candidates scoring ranking vectors vocabulary near_words synonyms linked named_facts", {"retrieval": "search"}),
    **_in("atlas/code/index/project", "atlas.pipeline", "linker_session parse_journal reconcile rules_check tree_check tree_snapshot tree_state workspace"),
    **_in("benchmarks/atlas_bench/commands", "atlas.cli", "bench bench_all bench_answers bench_search", {"bench_all": "all", "bench_answers": "answers", "bench_search": "search"}),
}

FALLBACK = {
    "atlas.search.packs": "atlas/packs/questions", "atlas.search.notes": "atlas/knowledge/retrieval", "atlas.search": "atlas/code/retrieve",
    "atlas.tools.knowledge": "atlas/knowledge/tools", "atlas.tools.packs": "atlas/packs/tools", "atlas.tools": "atlas/code/tools",
    "atlas.stores.memory": "benchmarks/reference_store", "atlas.bench": "benchmarks/atlas_bench", "atlas.app": "atlas/app", "atlas.cli": "atlas/cli",
}  # fmt: skip
FAMILIES = (("atlas.app.", "pack_", "atlas/packs"), ("atlas.cli.", "pack_", "atlas/cli/packs"), ("atlas.cli.", "bench_", "benchmarks/atlas_bench/commands"),
            ("atlas.buses.", "valkey_", "atlas/adapters/buses/valkey"))

# folder -> folder, for data files, for paths in texts, and for new modules; longest first
FOLDERS: dict[str, str] = {old.replace(".", "/"): new.removesuffix("/__init__.py") for old, new in {**MAP, **CHANGES}.items() if new.endswith("/__init__.py")}
FOLDERS |= {"atlas/search": "atlas/code", "atlas/tools": "atlas/code/tools", "atlas/app": "atlas/app", "atlas/cli": "atlas/cli"}
DATA: dict[str, str] = {
    "atlas/search/package_phrases.toml": "atlas/code/question", "atlas/search/phrases.toml": "atlas/code/question",
    "atlas/search/ranking_weights.toml": "atlas/code/rank", "atlas/search/packs/synonyms.txt": "atlas/packs/questions/retrieval",
}  # fmt: skip
STAY = ("atlas/languages/", "atlas/_parser.pyi")


def target(module: str) -> str:
    """Return the new file of a module."""
    if module in CHANGES:
        return CHANGES[module]
    if module in MAP:
        return MAP[module]
    head, _, name = module.rpartition(".")
    for prefix, family, folder in FAMILIES:
        if module.startswith(prefix) and name.startswith(family):
            return f"{folder}/{name.removeprefix(family)}.py"
    if head == "atlas":
        return f"atlas/core/{name}.py"
    while head:
        folder = FALLBACK.get(head) or FOLDERS.get(head.replace(".", "/"))
        if folder:
            return f"{folder}/{name}.py"
        head, _, part = head.rpartition(".")
        name = f"{part}/{name}"
    raise SystemExit(f"no target for {module}")


def modules(root: Path) -> dict[str, Path]:
    """Return the modules of a tree by dotted name."""
    found = {}
    for path in sorted((root / "atlas").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def dotted(file: str) -> str:
    """Return the module of a new file."""
    return file.removeprefix("benchmarks/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")

CHANGES |= {
    "atlas.tools.catalogue": "atlas/code/tools/catalogue.py", "atlas.app.toolsets": "atlas/app/toolsets.py",
    "atlas.tools.escaping": "atlas/answers/escaping.py", "atlas.app.data_folder": "atlas/adapters/opening/data_folder.py",
    "atlas.app.language_model": "atlas/adapters/opening/language_model.py", "atlas.app.emotion": "atlas/adapters/opening/emotion.py",
    "atlas.app.pack_questions": "atlas/packs/profiles.py", "atlas.app.short_term": "atlas/adapters/opening/short_term.py",
}  # fmt: skip

CHANGES |= {"atlas.cypher.regex": "atlas/parsing/cypher_regex.py", "atlas.app.pack_rows": "atlas/adapters/opening/pack_rows.py"}
