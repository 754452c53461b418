"""`atlas bench answers`: how many questions about known packages the first answer answers, next to grep."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli.output import console, plain, print_json, table

if TYPE_CHECKING:
    from atlas_bench.answers.run import Run


def answers(
    questions: Annotated[list[Path], typer.Argument(help="Question files (TOML), or folders of them.")],
    trees: Annotated[Path | None, typer.Option(help="Folder with one folder per package.", metavar="DIR")] = None,
    named: Annotated[list[str] | None, typer.Option("--tree", help="Tree of a package.", metavar="NAME=PATH")] = None,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Only questions of this kind.")] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option("--peer", help="Another command to compare with; {pattern} is replaced.", metavar="NAME=COMMAND"),
    ] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Folder for the indexes; default: a temporary one.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="List the questions that are not answered.")] = False,
    tables: Annotated[
        Path | None, typer.Option("--markdown", help="Write the tables to this file.", metavar="FILE")
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Write a chart to this file.", metavar="FILE")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Ask questions with known answers through the search tool, grep, and ripgrep and ctags if they are on PATH.

    Exits with 1 when a package could not be indexed; the others are asked.

    Example: atlas bench answers tests/bench/answers --trees ~/packages --failed
    """
    from atlas_bench.answers import report

    ran = _ask(questions, trees, named or [], kind or [], peer or [], data_dir)
    asked = ran.asked
    if tables is not None:
        tables.write_text(report.tables(asked), encoding="utf-8")
    if svg is not None:
        packages = len({each.package for each in asked})
        title = (
            f"Questions answered by the first call: {len({id(each.question) for each in asked})} on {packages} packages"
        )
        svg.write_text(report.svg(asked, title), encoding="utf-8")
    if json_output:
        print_json(report.to_dict(asked) | {"failed": ran.failed})
    else:
        if failed:
            print(plain(report.failures(asked)), end="\n\n")
        console().print(table(*report.cells(report.by_kind(asked), report.KIND)))
        console().print(table(*report.cells(report.by_package(asked), report.PACKAGE)))
    for problem in ran.failed:
        print(plain(f"not asked: {problem}"), file=sys.stderr)
    if ran.failed:
        raise typer.Exit(1)


def _ask(
    questions: list[Path],
    trees: Path | None,
    named: list[str],
    kinds: list[str],
    templates: list[str],
    data: Path | None,
) -> Run:
    import asyncio
    import dataclasses

    from atlas.core.errors import ConfigError
    from atlas.runtime.config.load import load_settings
    from atlas_bench.answers.peers import peers
    from atlas_bench.answers.questions import KINDS, load
    from atlas_bench.answers.run import Asker, ask_all, find_trees
    from atlas_bench.compose import AgentProbe

    if unknown := sorted(set(kinds) - set(KINDS)):
        raise ConfigError(f"no such kind: {', '.join(unknown)}", f"Kinds: {', '.join(KINDS)}.")
    files = load(questions)
    places = find_trees(files, named, trees)
    if kinds:
        chosen = [
            dataclasses.replace(file, questions=tuple(each for each in file.questions if each.kind in kinds))
            for file in files
        ]
        files = [file for file in chosen if file.questions]
        if not files:
            raise ConfigError(f"no question is of the kind {', '.join(kinds)}", "Leave out --kind.")

    def open_session(tree: Path, index: Path) -> Asker:
        return AgentProbe(load_settings(str(tree), str(index), {}))

    others = peers(templates)
    with tempfile.TemporaryDirectory(prefix="atlas-answers-") as scratch:
        running = ask_all(files, places, data or Path(scratch).resolve(), open_session, others, _tell)
        return asyncio.run(running)


def _tell(text: str) -> None:
    print(f"{text} ...", file=sys.stderr, flush=True)
