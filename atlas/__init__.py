"""Code Atlas: a code graph that stays current and answers in few tokens, with evidence."""

import sys

__version__ = "0.1.0"

if sys.version_info < (3, 11):  # noqa: UP036 pip refuses it, but a checkout can be run by any Python
    _wrong = "Code Atlas needs Python 3.11 or newer, and this is {}.{} ({})".format(
        *sys.version_info[:2], sys.executable
    )
    # of `python -m atlas` nobody reads a traceback
    raise SystemExit("error: " + _wrong) if sys.argv[:1] == ["-m"] else ImportError(_wrong)
