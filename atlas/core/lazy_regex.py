"""Regular expressions of modules, compiled when they are first used.

A question imports modules with some 700 patterns and uses 200 of them; compiling all costs .1 of .8 CPU seconds of
`atlas search`. A pattern that is wrong fails at its first use; tests/architecture/test_patterns.py compiles them all.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # `typing` takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any, AnyStr

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


class LazyRegex:
    """A pattern that becomes one with the first method that is asked of it, at no further cost for later calls."""

    def __init__(self, pattern: str | bytes, given_flags: int) -> None:
        self.pattern = pattern
        self.given_flags = given_flags

    def __getattr__(self, name: str) -> object:
        """Compile the pattern and return an attribute of it; raises re.error if it is not a pattern."""
        compiled = re.compile(self.pattern, self.given_flags)
        # found in the instance from now on, bound to the compiled pattern
        self.__dict__.update((each, getattr(compiled, each)) for each in _METHODS)
        return getattr(compiled, name)


def lazy_regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what has the methods and attributes of `re.compile(pattern, flags)`, for a name of a module.

    It is not that value: `isinstance` of `re.Pattern` is false, `re.sub(made, ...)` raises TypeError, and the `re` of a
    match is the compiled pattern. In functions use `re.compile`, which remembers patterns, and which tests look for.
    """
    made: Any = LazyRegex(pattern, flags)
    return made
