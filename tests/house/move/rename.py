#!/usr/bin/env python3
"""One word, one class (ADR 0023): rename.py ROOT, after move.py. Renames classes where they are defined, imported and used."""
from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()
RENAMES = """
code/question/change_questions Asks ChangeAspect
code/question/package_questions Asks PackageAspect
knowledge/retrieval/candidates Candidate NoteCandidate
packs/questions/retrieval/candidates Candidate PassageCandidate
cli/clients/change Change ClientChange
core/history Change FileChange
knowledge/notes/importing/plan Change NoteChange
adapters/stores/sqlite/unit_changes Changes RowChanges
code/changes/changes Changes ChangeAnswer
code/index/watch/debounce Changes WatchedChanges
knowledge/retrieval/comparisons Comparison SidesCompared
server/http/connections Connection TcpEntry
adapters/stores/sqlite/cypher/context Context QueryContext
code/tools/symbol/context Context NodeContext
code/tools/answers Described SchemaEntry
packs/documentation/formats/html/objects Described HtmlSignature
packs/documentation/formats/restructured/signatures Described RstSignature
adapters/git/objects Entry TreeEntry
knowledge/notes/listing Entry ListedFile
packs/documentation/sources/tree Entry SourceFile
code/rank/features Evidence QuestionEvidence
packs/questions/gate Evidence GateEvidence
code/tools/impact Findings ImpactFindings
packs/documentation/extract/model Findings ModelFindings
code/retrieve/long_search Found ChannelHits
packs/questions/retrieval/search Found FoundSections
papers/finder Found FoundPapers
code/question/frames Frame RelationFrame
code/question/tracebacks Frame TracebackFrame
code/tools/symbol/symbols Hit SymbolHit
adapters/git/staging Index StagingArea
adapters/stores/bolt/dialect Index IndexIdentity
adapters/stores/cypher/syntax Item ReturnItem
code/changes/change_impact Mention RemainingMention
code/graph/mentions Mention NameMention
packs/documentation/entity_table Mention EntityMention
cli/code/query Mode ModeOption
chat/offer Offer ServerOffer
cli/mcp Offer OfferedTools
chat/turn Outcome TurnOutcome
packs/questions/evaluation Outcome QuestionOutcome
parsing/outline Outline OutlineReader
adapters/git/packs Pack GitPack
packs/documentation/formats/html/objects Page PageSubject
packs/documentation/sources/crawl/state Page FetchedPage
answers/packing Part AnswerPart
code/graph/unreached Part ProjectPart
packs/documentation/passages Passage ArticlePassage
cli/clients/change Place ConfigEntry
code/retrieve/places Place WrittenPlace
knowledge/notes/importing/items Place SourcePlace
knowledge/tools/note_base Place NotePath
packs/documentation/formats/html/walk Place ElementPosition
packs/documentation/formats/restructured/reader Place LinePosition
packs/documentation/formats/restructured/reader Reader RstReader
chat/references Reference ResourceReference
core/paper_source Reference CitedPaper
code/retrieve/expand Related RelatedNodes
papers/citations Related RelatedPaper
code/graph/relation Relation EdgeAnswer
code/notes/note Relation NoteRelation
app/single_flight Run StartedRun
packs/documentation/formats/html/inline Run InlineRun
adapters/stores/sqlite/cypher/scope Scope NameScope
code/question/question_scope Scope QuestionScope
packs/documentation/sources/crawl/addresses Scope CrawlScope
code/tools/symbol/symbols Section NeighbourSection
code/tools/symbol/symbols Source SourceLines
chat/connection State ConnectionState
code/notes/anchors State AnchorCondition
packs/documentation/extract/statements Statement StatedValue
cli/daemon/service_files Unit ServiceUnit
packs/questions/excerpts Unit ExcerptUnit
adapters/git/walk Walker CommitWalker
packs/documentation/formats/html/walk Walker HtmlWalker
packs/documentation/sources/work_tree WorkTree DocumentationTree
adapters/stores/sqlite/edges _Found _SortedEdge
knowledge/tools/memory_queries _Found _FolderHits
adapters/buses/memory _Group _ConsumerGroup
adapters/stores/sqlite/cypher/project _Group _AggregateGroup
adapters/buses/valkey/bus _Reader _GroupReader
knowledge/retrieval/statements _Reader _WordReader
packs/documentation/formats/asciidoc _Reader _AsciiDocReader
packs/documentation/formats/markdown _Reader _MarkdownReader
adapters/stores/bolt/reading/cypher _Writer _DriverValues
adapters/stores/sqlite/cypher/results _Writer _CountedValues
knowledge/notes/importing/run _Writer _NoteWriter
"""


EDITS: list[tuple[str, str, str]] = [
    (
        "atlas/code/index/watch/debounce.py",
        "paths with their times and returns them as one `WatchedChanges`.",
        "paths with their times, returns them as `WatchedChanges`.",
    ),
    (
        "atlas/knowledge/retrieval/review.py",
        "                    state, state=AnchorCondition.MOVED, changed=changed_parts(state.anchor, node.row), at=place_of(node.row),\n",
        "                    state, state=AnchorCondition.MOVED, changed=changed_parts(state.anchor, node.row),\n                    at=place_of(node.row),\n",
    ),
]


def rename_in(text: str, renames: dict[str, str]) -> str:
    """Rename names, but neither attributes nor keyword arguments; in docstrings and comments names in backquotes."""
    spots = []
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    depth = 0
    for number, token in enumerate(tokens):
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        if token.type == tokenize.NAME and token.string in renames and tokens[number - 1].string != ".":
            if not (depth and tokens[number + 1].string == "=" ):
                spots.append((token, renames[token.string]))
        elif token.type in (tokenize.STRING, tokenize.COMMENT):
            new = token.string
            for old, name in renames.items():
                new = new.replace(f"`{old}`", f"`{name}`")
                if token.string[0] in "frbFRB" and "{" in new:
                    new = re.sub(rf"(\{{[^}}]*?)(?<![\w.]){old}\b", rf"\g<1>{name}", new)
            if new != token.string:
                spots.append((token, new))
    lines = text.splitlines(keepends=True)
    for token, new in reversed(spots):
        (a, b), (c, d) = token.start, token.end
        head, tail = lines[a - 1][:b], lines[c - 1][d:]
        lines[a - 1 : c] = [head + new + tail]
    return "".join(lines)


def main() -> None:
    by_module: dict[str, dict[str, str]] = {}
    files = [p for top in ("atlas", "benchmarks", "tests", "training") for p in (ROOT / top).rglob("*.py") if "bench/data" not in str(p)]
    texts = {p: p.read_text() for p in files}
    taken = {n.name for t in texts.values() for n in ast.walk(ast.parse(t)) if isinstance(n, ast.ClassDef)}
    for line in RENAMES.split("\n"):
        if line.strip():
            module, old, new = line.split()
            file = ROOT / "atlas" / f"{module}.py"
            if not file.exists() or not re.search(rf"^class {old}\b", file.read_text(), re.M):
                print(f"RENAME: no class {old} in {module}")
                continue
            if new in taken:
                print(f"RENAME: {new} is taken")
                continue
            by_module.setdefault("atlas." + module.replace("/", "."), {})[old] = new
    for path, text in texts.items():
        own = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        wanted = dict(by_module.get(own, {}))
        tree = ast.parse(text)
        aliased, attributes = [], []
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in by_module:
                for alias in node.names:
                    if new := by_module[node.module].get(alias.name):
                        if alias.asname:
                            aliased.append((node, alias.name, new))
                        else:
                            wanted[alias.name] = new
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                for module, names in by_module.items():
                    if module.rpartition(".")[2] == node.value.id and node.attr in names and f"import {node.value.id}" in text:
                        attributes.append((f"{node.value.id}.{node.attr}", f"{node.value.id}.{names[node.attr]}"))
        new = rename_in(text, wanted) if wanted else text
        for old, name in attributes:
            new = re.sub(rf"(?<![\w.]){re.escape(old)}\b", name, new)
        if listed := re.search(r"^__all__ = [\[(][^\])]*[\])]", new, re.M):
            shown = listed[0]
            for old, name in wanted.items():
                shown = shown.replace(f'"{old}"', f'"{name}"')
            new = new.replace(listed[0], shown)
        for node, old, name in aliased:
            new = re.sub(rf"(from {re.escape(node.module)} import [^\n]*?)\b{old} as ", rf"\g<1>{name} as ", new)
        if new != text:
            path.write_text(new)
    for file, old, new in EDITS:
        text = (ROOT / file).read_text()
        if old not in text:
            print(f"RENAME edit: {file}: no {old!r}")
        (ROOT / file).write_text(text.replace(old, new))
    ruff = ROOT / ".venv/bin/ruff"
    subprocess.run([ruff, "check", "--fix", "--quiet", "--select", "I,RUF022", "."], cwd=ROOT)
    subprocess.run([ruff, "format", "--quiet", "."], cwd=ROOT)


if __name__ == "__main__":
    main()
