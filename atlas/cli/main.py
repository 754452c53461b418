"""Entry point of `atlas`: turns errors into lines, JSON and exit codes."""

from __future__ import annotations

import codecs
import gc
import io
import os
import sys

from atlas.core.errors import AtlasError, ConfigError

INTERRUPTED = 130

_VALIDATION_WORDS = (
    ("Value error, ", ""),
    ("Assertion failed, ", ""),
    (", unable to parse string as an integer", ""),
    (", unable to parse string as a number", ""),
    ("Input should be a valid integer", "it must be a whole number"),
    ("Input should be ", "it must be "),
)

_WRITTEN_FOR = {
    "index": "analyse analyze build init reindex scan sync update",
    "search QUERY": "ask find grep locate query",
    "node NAME": "definition get show symbol",
    "connect": "install setup",
    "daemon start": "start watch",
    "daemon stop": "stop",
    "mcp": "serve server",
    "cache list": "list ls projects",
    "impact --diff HEAD": "affected diff",
    "--version": "version",
    "--help": "commands help usage",
}
"""Commands, with the words that other programs have for them."""


def main() -> None:
    """Run the command line and exit with the documented code, without a traceback unless ATLAS_DEBUG is set."""
    _use_utf8()
    _escape_unencodable()
    sys.exit(_serve_session() if "mcp" in sys.argv else _run())


def _serve_session() -> int:
    """Serve a session through the daemon, without the rest of the command line; run any other command."""
    from atlas.server.proxy import serve, session_options

    options = session_options(sys.argv[1:])
    try:
        return _run() if options is None else serve(options, _run, _warn_of)
    except KeyboardInterrupt:
        return INTERRUPTED


def _warn_of(ignored: list[str]) -> None:
    from atlas.cli.settings import warn_of

    warn_of(ignored)


def _use_utf8() -> None:
    """Restart with file names in UTF-8 if the locale has another encoding, because the index stores them in UTF-8.

    The terminal keeps its encoding.
    """
    is_told = os.environ.get("PYTHONUTF8") == "1"  # restarted already, or the variable had no effect
    if os.name != "posix" or is_told or codecs.lookup(sys.getfilesystemencoding()).name == "utf-8":
        return
    shown = os.environ.get("PYTHONIOENCODING") or getattr(sys.stdout, "encoding", "") or "ascii"
    environment = {**os.environ, "PYTHONUTF8": "1", "PYTHONIOENCODING": shown}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


def _escape_unencodable() -> None:
    """Escape characters that the terminal's encoding lacks as JSON does, instead of failing; JSON stays valid."""
    codecs.register_error("atlas", _as_in_json)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="atlas")


def _as_in_json(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2)), error.end


def _run() -> int:
    try:
        from atlas.cli.direct import run_directly

        if (code := run_directly(sys.argv[1:])) is not None:
            sys.stdout.flush()
            return code
        # Imported here, so that an interrupt during the import ends as quietly as any other.
        import typer

        from atlas.cli.app import create_app, create_help_app

        try:
            # the imports create half a million objects and no garbage
            gc.disable()
            is_overview = sys.argv[1:] in ([], ["--help"], ["-h"]) and "_ATLAS_COMPLETE" not in os.environ
            app = create_help_app() if is_overview else create_app(*sys.argv[1:2])
            gc.enable()
            code = app(standalone_mode=False)
            sys.stdout.flush()
        except typer.TyperException as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                print(error.format_message(), file=sys.stderr)
                return ConfigError.exit_code
            return _failed(_usage_error(error))
        except typer.Abort:
            return INTERRUPTED
    except AtlasError as error:
        return _failed(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 the boundary: a person gets a line, a developer sets ATLAS_DEBUG
        if _is_reader_gone(error):
            # buffered output must not raise again when Python exits
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return AtlasError.exit_code
        if type(error).__name__ == "Abort":  # raised by the option parser, which is not imported here
            return INTERRUPTED
        from atlas.runtime.process.extras import missing_package

        return _failed(
            missing_package(error)
            or AtlasError(
                f"{type(error).__name__}: {error}", "This is a bug: run again with ATLAS_DEBUG=1 and report the output."
            )
        )
    return code if isinstance(code, int) else 0


def _is_reader_gone(error: Exception) -> bool:
    """Return whether the error says that nobody reads the output; a server's tasks raise such errors as a group."""
    inner: tuple[Exception, ...] = getattr(error, "exceptions", ())
    if inner:
        return all(isinstance(each, ConnectionResetError) or _is_reader_gone(each) for each in inner)
    return isinstance(error, BrokenPipeError)


def _failed(error: AtlasError) -> int:
    from atlas.cli import output, settings

    if os.environ.get("ATLAS_DEBUG", "0") not in ("", "0"):
        import traceback

        traceback.print_exc()
    output.print_error(error, as_json=settings.wants_json())
    return error.exit_code


def _usage_error(error: Exception) -> AtlasError:
    """Convert an error of the option parser to an Atlas error."""
    context = getattr(error, "ctx", None)
    # an option without its value is reported without a context
    named = f"atlas {sys.argv[1]}" if sys.argv[1:] and sys.argv[1].isidentifier() else "atlas"
    command = getattr(context, "command_path", named)
    message = _plain(getattr(error, "format_message", lambda: str(error))())
    if getattr(error, "option_name", "") == "--print-config" or "'--print-config': '--" in message:
        from atlas.cli.clients.recipes import known_clients

        return ConfigError("--print-config needs a client", f"Clients: {known_clients()}.")
    unknown = _unknown_command(message) if getattr(context, "parent", None) is None else ""
    if unknown and (meant := _command_for(unknown)):
        return ConfigError(f"No such command '{unknown}'.", f"Run: atlas {meant}. See `{command} --help`.")
    return ConfigError(message, f"{_meant(message)}See `{command} --help`.")


def _unknown_command(message: str) -> str:
    """Return the name of the command that a message says there is none of; "" for other messages."""
    before, stated, rest = message.partition("No such command '")
    return rest.partition("'")[0] if stated and not before else ""


def _command_for(word: str) -> str:
    """Return what to write instead of a command that other programs have, or of a relation; "" for other words."""
    for meant, words in _WRITTEN_FOR.items():
        if word.lower() in words.split():
            return meant
    from atlas.code.question.stated_relation import stated_relation

    try:
        relation = stated_relation(word, "A", "B", "")
    except ConfigError:
        return ""
    if relation is None:
        return ""
    return f"search --relation {relation.kind} --of NAME{' --to NAME' if relation.kind == 'path' else ''}"


def _meant(message: str) -> str:
    """Return which choices a refused value may have meant, "" if none is near."""
    before, stated, listed = message.rstrip(".'").partition("' is not one of '")
    if not stated:
        return ""
    from difflib import get_close_matches

    refused, choices = before.rpartition("'")[2], listed.split("', '")
    near = [each for each in choices if refused and each.startswith(refused)] or get_close_matches(refused, choices, 2)
    return f"Did you mean {' or '.join(near)}? " if near else ""


def _plain(message: str) -> str:
    """Return a message of the option parser without the terms of its validation library."""
    for written, plain in _VALIDATION_WORDS:
        message = message.replace(written, plain)
    return message


if __name__ == "__main__":
    main()
