"""Entry point of `atlas`: the one place where errors become lines, JSON and exit codes."""

from __future__ import annotations

import os
import sys

from atlas.errors import AtlasError, ConfigError

INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with the documented code; never a traceback unless ATLAS_DEBUG is set."""
    sys.exit(_run())


def _run() -> int:
    try:
        # imported here so that an interrupt while importing ends as quietly as any other
        import typer

        from atlas.cli.app import app

        try:
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
    except BrokenPipeError:
        # the reader has gone: what is still buffered must not raise again when Python exits
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return AtlasError.exit_code
    except Exception as error:  # noqa: BLE001 the boundary: a person gets a line, a developer sets ATLAS_DEBUG
        return _failed(
            AtlasError(f"{type(error).__name__}: {error}", "A bug: run again with ATLAS_DEBUG=1 and report.")
        )
    return code if isinstance(code, int) else 0


def _failed(error: AtlasError) -> int:
    from atlas.cli import options, output

    if os.environ.get("ATLAS_DEBUG", "0") not in ("", "0"):
        import traceback

        traceback.print_exc()
    output.print_error(error, as_json=options.wants_json())
    return error.exit_code


def _usage_error(error: Exception) -> AtlasError:
    """Turn what the option parser says into our error."""
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "atlas")
    message = getattr(error, "format_message", lambda: str(error))()
    return ConfigError(message, f"See `{command} --help`.")


if __name__ == "__main__":
    main()
