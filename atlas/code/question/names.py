"""Normalise names as people and agents write them: separators, quotes, receivers and call brackets. Pure."""

from __future__ import annotations

import re

from atlas.core.invisible import normal_form
from atlas.core.lazy_regex import lazy_regex

_MIXED = lazy_regex(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|_|\.\w|::|#|->|\\\w|\(\)|\$|/\w|^\(\*|^@|^[A-Z][a-z]+\d|^[A-Z][\w]*$")
_ABBREVIATED = lazy_regex(r"[a-z][A-Z]{2,5}s?")
"""What is called so outside of any code: `cURL`, `gRPC`, `iOS`."""
_RECEIVER = lazy_regex(r"^\(\s*+[*&]?+\s*+(?:\w++\s++[*&]?+)?([\w.]++)(?:\[[^\]]*+\])?\s*+\)\.")
_ARGUMENTS = lazy_regex(r"\([^()]*\)$")
_TYPE_ARGUMENTS = lazy_regex(r"(?<=\w)(?:::)?<[^<>]*>(?=$|\.|::|#|\()")


def valid(text: str) -> str:
    """Return the text in normal form C, with lone surrogates, which UTF-8 cannot encode, as question marks."""
    return normal_form(text.encode("utf-8", "replace").decode())


def dotted(name: str) -> str:
    """Return a name as qualified names are written: segments joined by dots.

    Quotes, pointer receivers (`(*Context).Bind`), type arguments (`Vec<T>::push`) and call brackets are removed, and
    the prototype between a class and its member (`Cart.prototype.add`).
    """
    name = name.strip().strip("`'\"")
    name = _RECEIVER.sub(r"\1.", name)
    if not name.startswith("operator"):
        name = _ARGUMENTS.sub("", name)
        name = _TYPE_ARGUMENTS.sub("", name)
    name = name.lstrip("*&")
    name = re.sub(r"::|#(?!\d)|->|(?<=\w)\\(?=\w)", ".", name).strip(".\\")
    return name.replace(".prototype.", ".")


def without_arity(name: str) -> str:
    """Return `render` of `render/2`."""
    bare, _, arity = name.rpartition("/")
    return bare if arity.isdigit() and len(arity) <= 2 and bare.strip("?!").replace(".", "_").isidentifier() else name


def is_code_shaped(name: str) -> bool:
    """Return whether a word looks like an identifier rather than English: mixed case, qualified, a path, `f()`."""
    return _MIXED.search(name) is not None and _ABBREVIATED.fullmatch(name) is None
