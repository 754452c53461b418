"""`atlas bench all`: every measurement on given trees, written to one page with tables and charts."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from atlas.cli.output import plain


def run_all(
    trees: Annotated[
        list[Path], typer.Argument(help="Folders to measure; the first one by all steps.", metavar="TREE...")
    ],
    out: Annotated[Path, typer.Option(help="Folder for BENCHMARKS.md and its charts.", metavar="DIR")] = Path("docs"),
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", help="Some steps: index, growth, latency, freshness, lookups, answers, edges, retrieval."
        ),
    ] = None,
    answers: Annotated[
        list[Path] | None, typer.Option("--answers", help="Question files for `answers`, or folders of them.")
    ] = None,
    packages: Annotated[Path | None, typer.Option(help="Folder with the trees of these files.", metavar="DIR")] = None,
    questions: Annotated[
        list[Path] | None, typer.Option("--questions", help="Files of file questions about the trees.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Questions of a kind and tree; names to look up.")] = 40,
    peer: Annotated[
        list[str] | None,
        typer.Option("--peer", help="Another command to compare with; {pattern} is replaced.", metavar="NAME=COMMAND"),
    ] = None,
) -> None:
    """Run every measurement and write docs/BENCHMARKS.md with charts; what is not installed is skipped and named.

    Example: atlas bench all ~/src/django --answers tests/bench/answers --packages ~/packages
    """
    from atlas.core.errors import ConfigError
    from atlas_bench import meter
    from atlas_bench.page.page import write_page
    from atlas_bench.page.plan import Plan
    from atlas_bench.page.section import Section
    from atlas_bench.page.steps import STEPS, run_step

    chosen = only or list(STEPS)
    if unknown := [name for name in chosen if name not in STEPS]:
        raise ConfigError(f"no such step: {', '.join(unknown)}", f"Steps: {', '.join(STEPS)}.")
    roots = [tree.resolve() for tree in trees]
    if missing := [str(tree) for tree in roots if not tree.is_dir()]:
        raise ConfigError(f"{missing[0]} is not a folder", "Give the folders of projects.")
    load = meter.load_average()
    with tempfile.TemporaryDirectory(prefix="atlas-bench-") as scratch:
        plan = Plan(
            roots[0], roots[1:], answers or [], packages, questions or [], limit, peer or [], Path(scratch).resolve()
        )
        sections = list[Section]()
        for number, name in enumerate((each for each in STEPS if each in chosen), 1):
            print(f"{number}/{len(chosen)} {name} ...", file=sys.stderr, flush=True)
            sections.append(section := run_step(name, plan))
            if section.skipped:
                print(plain(f"  skipped: {section.skipped}"), file=sys.stderr, flush=True)
            # After every step: an interrupted run leaves what it has measured.
            page = write_page(out, sections, [tree.name for tree in roots], _command(), load)
            print(f"  {page}", file=sys.stderr, flush=True)


def _command() -> str:
    """Return the command as it was given, folders shortened to their names: the page is read elsewhere."""
    words = (Path(word).name if word.startswith(("/", "~")) else word for word in sys.argv[1:])
    return " ".join(["atlas", *words])
