"""`atlas man`: the manual page, made of the commands' own help."""

from __future__ import annotations

import re
from typing import Any

import typer
import typer.main

from atlas import __version__
from atlas.cli.app import EXIT_CODES, create_app

DESCRIPTION = """Code Atlas answers questions about a codebase from a code graph that stays current. It runs on one
machine without a service. An index is made by the first question, or by atlas index."""


def register(app: typer.Typer) -> None:
    """Add the command."""

    def man() -> None:
        """Print the manual page, in the format of man."""
        print(manual_page(), end="")

    app.command("man")(man)


def manual_page() -> str:
    """Return the page in the format of man(7)."""
    command: Any = typer.main.get_command(create_app())
    parts = [
        f'.TH ATLAS 1 "" "Code Atlas {__version__}" "User Commands"',
        ".SH NAME",
        r"atlas \- questions about a codebase, answered from a code graph",
        ".SH SYNOPSIS",
        ".B atlas",
        "[OPTIONS] COMMAND [ARGS]",
        ".SH DESCRIPTION",
        _text(DESCRIPTION),
        ".SH OPTIONS",
        *_options(command),
        ".SH COMMANDS",
    ]
    for name, inner in _visible(command):
        parts += _command(f"atlas {name}", inner)
    return "\n".join((*parts, ".SH EXIT STATUS", _text(EXIT_CODES), ""))


def _visible(group: Any) -> list[tuple[str, Any]]:
    return [(name, inner) for name, inner in group.commands.items() if not inner.hidden]


def _command(path: str, command: Any) -> list[str]:
    arguments = [
        param.metavar or str(param.name).upper() for param in command.params if param.param_type_name == "argument"
    ]
    parts = [f".SS {_text(' '.join([path, *arguments]))}", _text(command.help or "")]
    inner = getattr(command, "commands", None)
    if inner is None:
        return [*parts, *_options(command)]
    for name, one in _visible(command):
        parts += _command(f"{path} {name}", one)
    return parts


def _options(command: Any) -> list[str]:
    parts: list[str] = []
    for param in command.params:
        if param.param_type_name != "option" or param.hidden:
            continue
        names = ", ".join((*param.opts, *param.secondary_opts))
        metavar = "" if param.is_flag else param.metavar or str(param.name).upper()
        parts += [".TP", rf"\fB{_text(names)}\fR {_text(metavar)}".rstrip(), _text(param.help or "")]
    return parts


def _text(text: str) -> str:
    """Return text as a paragraph: no line of it is a request, and hyphens stay hyphens."""
    line = re.sub(r"\s+", " ", text.replace("\b", "")).strip().replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{line}" if line.startswith((".", "'")) else line
