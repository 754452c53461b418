"""Bytes to text: a valid UTF-8 text is UTF-8 whatever a server declares, others follow the declaration."""

from __future__ import annotations

import codecs
import re

from atlas.core.lazy_regex import lazy_regex

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

TEXT_ENCODINGS = lazy_regex(r"(utf|iso|latin|ascii|us-ascii|windows|cp|big5|gb|euc|shift|sjis|koi8|mac)[\w-]*", re.I)
"""Declared names outside of it are ignored: Python also has codecs that compress or escape."""

DECLARED_IN_DOCUMENT = lazy_regex(rb"""(?:charset|encoding)\s*+=\s*+["']?+\s*+([A-Za-z0-9_-]{2,40})""")


def decode(data: bytes, declared: str = "") -> tuple[str, str]:
    """Return the text with line feeds, and what was wrong with its encoding ("" if nothing)."""
    text, problem = _decode(data, declared)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\x00", "\ufffd"), problem


def _decode(data: bytes, declared: str) -> tuple[str, str]:
    for mark, name in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace"), ""
    sample = data[:4096]
    if sample.count(0) > len(sample) // 4:
        name = "utf-16-le" if sample[1::2].count(0) >= sample[::2].count(0) else "utf-16-be"
        return data.decode(name, "replace"), f"0: charset: read as {name} by its zero bytes"
    if b"\x1b$" not in sample:
        try:
            return data.decode("utf-8"), ""
        except UnicodeDecodeError:
            pass
    return _decode_as_declared(data, declared)


def _decode_as_declared(data: bytes, declared: str) -> tuple[str, str]:
    in_document = DECLARED_IN_DOCUMENT.search(data[:2048])
    names = [declared, in_document[1].decode("ascii") if in_document else ""]
    for name in names:
        if not TEXT_ENCODINGS.fullmatch(name):
            continue
        try:
            # browsers read latin-1 as Windows' superset of it
            alias = "cp1252" if codecs.lookup(name).name in ("iso8859-1", "ascii") else name
            return data.decode(alias), ""
        except (LookupError, ValueError):
            continue
    invalid = data.decode("utf-8", "replace")
    if invalid.count("\ufffd") * 200 < len(invalid):
        return invalid, "0: charset: some bytes are not UTF-8"
    return data.decode("cp1252", "replace"), "0: charset: not the declared encoding; read as windows-1252"
