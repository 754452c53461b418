"""Options of `atlas pack build`, and the argument that its commands share."""

from __future__ import annotations

from typing import Annotated

import typer

PackArgument = Annotated[str, typer.Argument(metavar="PACK", help="NAME, NAME@VERSION, or a folder as a path: ./pack.")]

ExtendOption = Annotated[
    bool,
    typer.Option("--extend", help="Let the configured language model add entities and facts, marked as such."),
]
ModelTokensOption = Annotated[
    int, typer.Option("--model-tokens", min=0, metavar="N", help="Tokens at which --extend stops and says so.")
]

LanguageOption = Annotated[str, typer.Option("--language", metavar="CODE", help="Of the documentation.")]
NoCodeOption = Annotated[bool, typer.Option("--no-code", help="Leave out the package's own code.")]
OutputOption = Annotated[
    str, typer.Option("--output", "-o", metavar="DIR", help="Folder of the pack. Default: installed packs.")
]
HostOption = Annotated[
    list[str] | None, typer.Option("--host", metavar="HOST", help="Further host to follow; repeatable.")
]
AgainOption = Annotated[
    list[str] | None,
    typer.Option(
        "--from", metavar="SOURCE", help="Source that a pack from elsewhere names and you want to be read; repeatable."
    ),
]
AcceptOption = Annotated[
    bool,
    typer.Option("--accept-sources", help="Read the public sources of a pack from elsewhere without asking."),
]
