"""`atlas bench search`: how well search finds what questions from any tree ask for, for each ranking."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli.output import console, plain, print_json, table

if TYPE_CHECKING:
    from atlas_bench.search.questions import SearchQuestion
    from atlas_bench.search.run import Answered, Indexes
    from atlas_bench.search.sets import Plan, QuestionSet


def search(
    trees: Annotated[list[Path], typer.Argument(help="Folders to ask about; not modified.", metavar="TREE...")],
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Only questions of this kind; a prefix.")] = None,
    ranking: Annotated[list[str] | None, typer.Option("--ranking", help="Only this ranking.")] = None,
    questions: Annotated[
        list[Path] | None, typer.Option("--questions", help="Question files (TOML) about trees, or folders of them.")
    ] = None,
    patches: Annotated[
        Path | None, typer.Option(help="Patches to trees: series and patches in DIR/NAME.", metavar="DIR")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Questions of each kind and tree.")] = 100,
    seed: Annotated[int, typer.Option("--seed", help="Chooses the questions.")] = 0,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder for copies and indexes, kept; default: a temporary one.")
    ] = None,
    by_tree: Annotated[bool, typer.Option("--by-tree", help="A row for each tree as well.")] = False,
    quality: Annotated[
        str, typer.Option(help="Sentence transformer of the pipeline; see quality.model.", metavar="FOLDER")
    ] = "",
    missed: Annotated[bool, typer.Option("--missed", help="List what the pipeline does not find in ten.")] = False,
    markdown: Annotated[Path | None, typer.Option(help="Write the table to this file.", metavar="FILE")] = None,
    dump: Annotated[
        Path | None, typer.Option(help="Write questions and gold as JSON lines, and ask nothing.", metavar="FILE")
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Make questions from trees, ask them, and print NDCG@10, MRR@10, recall, tokens and times with 95 % intervals.

    Exits with 1 when a tree could not be indexed; the others are asked.
    Example: atlas bench search ~/src/django --kind docstring --kind symbol
    """
    import asyncio

    plan = _plan(kind or [], limit, seed)
    with tempfile.TemporaryDirectory(prefix="atlas-search-") as scratch:
        folder = (data_dir or Path(scratch)).resolve()
        sets = _sets(trees, folder, plan, questions or [], patches)
        if dump is not None:
            _dump(sets, dump)
            return
        answered, failed = asyncio.run(_ask(sets, folder, ranking or [], quality))
    _print(answered, seed, by_tree=by_tree, missed=missed, markdown=markdown, json_output=json_output)
    for problem in failed:
        print(plain(f"not asked: {problem}"), file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def _print(
    answered: list[Answered], seed: int, *, by_tree: bool, missed: bool, markdown: Path | None, json_output: bool
) -> None:
    from atlas_bench.search import report

    if json_output:
        print_json(report.to_dict(answered, seed, with_questions=True))
        return
    rows = report.rows(answered, seed)
    shown = [*rows, *(report.rows(answered, seed, by_tree=True) if by_tree else [])]
    if markdown is not None:
        markdown.write_text(report.markdown(shown), encoding="utf-8")
    if missed:
        print(plain("\n\n".join(report.misses(answered, lambda each: not each.measures["r10"]))), end="\n\n")
    console().print(table(report.COLUMNS, report.cells(shown)))


def _plan(kinds: list[str], limit: int, seed: int) -> Plan:
    from atlas.core.errors import ConfigError
    from atlas_bench.search.questions import KINDS
    from atlas_bench.search.sets import Plan

    chosen = frozenset(name for name in KINDS if not kinds or any(name == k or name.startswith(f"{k} ") for k in kinds))
    if unknown := [k for k in kinds if not any(name == k or name.startswith(f"{k} ") for name in KINDS)]:
        raise ConfigError(f"no such kind: {', '.join(unknown)}", f"Kinds: {', '.join(KINDS)}.")
    return Plan(chosen, limit, seed)


def _sets(
    trees: list[Path], folder: Path, plan: Plan, questions: list[Path], patches: Path | None
) -> list[QuestionSet]:
    from atlas.core.errors import ConfigError
    from atlas.parsing import load_languages
    from atlas_bench.search.sets import make_sets

    languages, given = load_languages(), _given(questions)
    roots = [tree.resolve() for tree in trees]
    if twice := {root.name for root in roots if sum(other.name == root.name for other in roots) > 1}:
        raise ConfigError(f"several trees have the name {min(twice)}", "Questions and indexes are kept by that name.")
    found: list[QuestionSet] = []
    for root in roots:
        _tell(f"{root.name}: reading")
        own = patches / root.name if patches is not None else None
        found += make_sets(root, folder, languages, plan, given.get(root.name, []), own)
    if not found:
        raise ConfigError(
            f"no questions of these kinds can be made: {', '.join(sorted(plan.kinds))}",
            "Documented definitions, headings, tests, a git history or patches are needed.",
        )
    return found


def _given(paths: list[Path]) -> dict[str, list[SearchQuestion]]:
    """Return the questions of files by the name of the package."""
    from atlas_bench.answers.questions import load
    from atlas_bench.search.questions import WRITTEN, SearchQuestion, Target

    return {
        file.name: [
            SearchQuestion(
                each.kind if each.kind in WRITTEN else "file",
                each.ask,
                tuple(Target(place.path) for place in each.gold),
            )
            for each in file.questions
            if each.gold
        ]
        for file in (load(paths, may_be_empty=True) if paths else [])
    }


async def _ask(
    sets: list[QuestionSet], folder: Path, rankings: list[str], quality: str
) -> tuple[list[Answered], list[str]]:
    from atlas.core.errors import AtlasError, ConfigError
    from atlas_bench.search.run import Answered, ask_file_words, ask_set
    from atlas_bench.search.variants import FILES, QUALITY_VARIANTS, VARIANTS

    known = {**VARIANTS, **(QUALITY_VARIANTS if quality else {})}
    if unknown := sorted(set(rankings) - {FILES, *known}):
        raise ConfigError(f"no such ranking: {', '.join(unknown)}", f"Rankings: {', '.join((FILES, *known))}.")
    chosen = {name: variant for name, variant in known.items() if not rankings or name in rankings}
    answered, failed = list[Answered](), list[str]()
    for each in sets:
        data = folder / "index" / each.index / each.name
        try:
            found = await ask_set(each, data, _indexes(quality), chosen, _tell)
        except AtlasError as error:
            failed.append(f"{each.name} ({each.index}): {error.message}")
            continue
        answered += [*(await ask_file_words(each) if not rankings or FILES in rankings else []), *found]
    if not answered:
        raise AtlasError(f"no tree could be asked: {'; '.join(failed)}")
    return answered, failed


def _indexes(quality: str) -> Indexes:
    from functools import partial

    from atlas.app.main import open_atlas
    from atlas.runtime.config.load import load_settings
    from atlas_bench.compose import AgentProbe
    from atlas_bench.search.run import Indexes

    named = {"ATLAS_QUALITY_MODEL": quality} if quality else {}
    return Indexes(
        index=partial(_index, named),
        open=lambda tree, data: open_atlas(load_settings(str(tree), str(data), named)),
        probe=lambda tree, data: AgentProbe(load_settings(str(tree), str(data), named)),
    )


def _index(named: dict[str, str], tree: Path, data: Path) -> None:
    """Index a tree in a process of its own: a crash of the extension costs one tree, not the run."""
    from atlas_bench.process import run

    run(["index", str(tree), "--data-dir", str(data), *(["--quality"] if named else [])], named)


def _dump(sets: list[QuestionSet], file: Path) -> None:
    from atlas.cli.output import json_text

    rows = [
        {
            "tree": each.name,
            "index": each.index,
            "kind": question.kind,
            "text": question.text,
            "gold": [{"path": target.path, "line": target.line, "name": target.name} for target in question.gold],
        }
        for each in sets
        for question in each.questions
    ]
    file.write_text("".join(f"{json_text(row)}\n" for row in rows), encoding="utf-8")


def _tell(text: str) -> None:
    print(f"{plain(text)} ...", file=sys.stderr, flush=True)
