"""PDF files that cost most for their size: `PDFS` gives the bytes of each for a size. See `worst_cases`."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica%s>>"
PROSE = b"BT /F1 12 Tf 50 700 Td " + b"(The default of the limit is ten pages.) Tj T* " * 40 + b"ET\n"


def document(contents: Sequence[bytes], more: Sequence[bytes] = (), *, pages: int = 1, font: bytes = b"") -> bytes:
    """Return a file whose pages share content streams, which are complete objects; `more` are objects from number 5 on.

    1 is the catalogue, 2 the tree of pages, 3 their resources, 4 the font, then `more`, the streams and the pages.
    """
    first = 5 + len(more)
    streams = b" ".join(b"%d 0 R" % (first + number) for number in range(len(contents)))
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources 3 0 R/Contents[" + streams + b"]>>"
    first += len(contents)
    kids = b" ".join(b"%d 0 R" % (first + number) for number in range(pages))
    names = b"".join(b"/X%d %d 0 R" % (number, 5 + number) for number in range(min(len(more), 64)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R>>",
        b"<</Type/Pages/Kids[" + kids + b"]/Count %d>>" % pages,
        b"<</Font<</F1 4 0 R>>/XObject<<" + names + b">>>>",
        FONT % font,
        *more,
        *contents,
        *[page] * pages,
    ]
    made, places = bytearray(b"%PDF-1.7\n"), []
    for number, one in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n" % number + one + b"\nendobj\n"
    at = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    made += b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(made + b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, at))


def stream(data: bytes, filters: bytes = b"", attributes: bytes = b"") -> bytes:
    """Return a stream object of encoded data."""
    named = b"/Filter" + filters if filters else b""
    return b"<</Length %d" % len(data) + named + attributes + b">>stream\n" + data + b"\nendstream"


def packed(data: bytes, attributes: bytes = b"") -> bytes:
    """Return a compressed stream object."""
    return stream(zlib.compress(data, 9), b"/FlateDecode", attributes)


def filled(token: bytes, size: int) -> bytes:
    return token * (size // len(token))


def _forms(size: int) -> bytes:
    """Forms that draw the next one twice: 2 to the power of their number draw the last one."""
    del size
    count = 60
    forms = [
        stream(
            b"/X%d Do /X%d Do" % (number + 1, number + 1),
            attributes=b"/Type/XObject/Subtype/Form/Resources 3 0 R",
        )
        for number in range(count)
    ]
    last = stream(PROSE, attributes=b"/Type/XObject/Subtype/Form/Resources 3 0 R")
    return document([stream(b"/X0 Do")], [*forms, last])


def _ranges(size: int) -> bytes:
    """Maps of characters whose ranges overlap."""
    ranges = filled(b"<0000> <ffff> <0041>\n", size // 2)
    text = b"begincmap\n1 begincodespacerange <0000> <ffff> endcodespacerange\n" + (
        b"%d beginbfrange\n" % ranges.count(b"\n") + ranges + b"endbfrange endcmap"
    )
    return document([stream(PROSE)], [stream(text)], font=b"/ToUnicode 5 0 R/Encoding/Identity-H")


def _outline(size: int) -> bytes:
    """Entries of an outline, each with a destination that is looked up."""
    count = size // 120
    entry = b"<</Title(A title)/Parent 5 0 R/Next %d 0 R/Dest[%d 0 R/Fit]>>"
    entries = [entry % (7 + number, 7 + count + number % 900) for number in range(count)]
    return document([stream(PROSE)], [b"<</First 6 0 R/Last %d 0 R>>" % (5 + count), *entries], pages=900)


def _tree(size: int) -> bytes:
    """A tree of pages whose nodes have themselves and each other as children."""
    nodes = [
        b"<</Type/Pages/Count 9/Kids[%d 0 R %d 0 R %d 0 R]>>" % (5 + number, 6 + number, 5 + number // 2)
        for number in range(size // 80)
    ]
    return document([stream(PROSE)], nodes).replace(b"/Pages 2 0 R", b"/Pages 5 0 R")


PDFS: dict[str, Callable[[int], bytes]] = {
    "pdf shared text": lambda size: document([packed(PROSE * 100)], pages=size // 160),
    "pdf long strings": lambda size: document(
        [packed(b"BT /F1 9 Tf " + b"(" + b"word is one. " * 4000 + b") Tj T* ET")], pages=size // 160
    ),
    "pdf compressed text": lambda size: document([packed(filled(PROSE, 60 << 20))]),
    "pdf compressed spaces": lambda size: document([packed(b" " * (70 << 20))] * 3),
    "pdf compressed twice": lambda size: document(
        [stream(zlib.compress(zlib.compress(b"q " * (35 << 20), 9), 9), b"[/FlateDecode/FlateDecode]")]
    ),
    "pdf operators": lambda size: document([packed(filled(b"q Q ", 8 << 20))]),
    "pdf arrays": lambda size: document([packed(filled(b"[", 8 << 20))]),
    "pdf parentheses": lambda size: document([stream(filled(b"(", size))]),
    "pdf numbers": lambda size: document([stream(b"1" * size)]),
    "pdf names": lambda size: document([stream(filled(b"/#41", size))]),
    "pdf images": lambda size: document([stream(filled(b"BI ID EI", size))]),
    "pdf open image": lambda size: document([stream(b"BI ID " + filled(b"E I ", size))]),
    "pdf hexadecimal": lambda size: document([stream(filled(b"20", size), b"/ASCIIHexDecode")]),
    "pdf base 85": lambda size: document([stream(filled(b"z", size) + b"~>", b"/ASCII85Decode")]),
    "pdf run lengths": lambda size: document([stream(filled(b"\x81 ", size) + b"\x80", b"/RunLengthDecode")]),
    "pdf lzw": lambda size: document([stream(filled(b"\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01", size), b"/LZWDecode")]),
    "pdf predictor": lambda size: document(
        [packed(bytes(20 << 20), b"/DecodeParms<</Predictor 15/Columns 1>>")],
    ),
    "pdf filters": lambda size: document([stream(b"", b"[" + filled(b"/FlateDecode", size) + b"]")]),
    "pdf forms": _forms,
    "pdf character ranges": _ranges,
    "pdf outline": _outline,
    "pdf tree": _tree,
    "pdf objects": lambda size: b"%PDF-1.7\n" + filled(b"1 0 obj\n<<>>\nendobj\n", size),
    "pdf trailers": lambda size: b"%PDF-1.7\n" + filled(b"trailer<</Root 1 0 R/Prev 9>>startxref 9\n", size),
    "pdf cross references": lambda size: (
        b"%PDF-1.7\nxref\n"
        + filled(b"0 1\n0000000009 00000 n \n", size)
        + b"trailer<</Root 1 0 R>>startxref\n9\n%%EOF\n"
    ),
    "pdf deep": lambda size: document([stream(PROSE)], [filled(b"<</A", size)]),
    "pdf damaged": lambda size: document([packed(PROSE * 100)], pages=size // 160)[: -size // 8],
}
"""By name."""
