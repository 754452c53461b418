"""Tables of reStructuredText: grid and simple tables, `csv-table` and `list-table`, as rows of cells.

Spanning cells of a grid give their text once. Rows are lists of plain source text; inline markup is read later.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import pairwise

from atlas.core.lazy_regex import lazy_regex

MAX_COLUMNS = 200
MAX_LINES = 50_000
"""Lines of a table that are read: more blocks than a document may have."""
MAX_CELLS = 200_000
"""Cells of a table that are filled up with empty ones where its lines are shorter."""

GRID_BORDER = lazy_regex(r"\+(?:[-=]+\+)+")
SIMPLE_BORDER = lazy_regex(r"=+(?: +=+)+ *")
SPAN_LINE = lazy_regex(r"-+(?: +-+)* *")


def is_table_start(line: str) -> bool:
    """Return whether a line opens a grid or a simple table."""
    return bool((line.startswith("+") and GRID_BORDER.fullmatch(line)) or SIMPLE_BORDER.fullmatch(line))


def table_end(lines: list[str], start: int) -> int:
    """Return the index after the last line of the table that starts here."""
    if lines[start].startswith("+"):
        end = start
        while end < len(lines) and lines[end][:1] in ("+", "|"):
            end += 1
        return end
    borders, end = 0, start
    while end < len(lines):
        line = lines[end]
        if SIMPLE_BORDER.fullmatch(line):
            borders += 1
            closes = end + 1 >= len(lines) or not lines[end + 1].strip()
            if borders >= 3 or (borders == 2 and closes):
                return end + 1
        end += 1
    # without a closing border the table ends at the first blank line
    end = start
    while end < len(lines) and lines[end].strip():
        end += 1
    return end


def read_table(lines: list[str]) -> tuple[list[str], list[list[str]]]:
    """Return the header cells (possibly none) and the rows of a grid or simple table."""
    lines = lines[:MAX_LINES]
    return _grid(lines) if lines[0].startswith("+") else _simple(lines)


def _grid(lines: list[str]) -> tuple[list[str], list[list[str]]]:
    starts = [at for at, char in enumerate(lines[0]) if char == "+"][: MAX_COLUMNS + 1]
    header: list[str] = []
    rows: list[list[str]] = []
    cells: list[list[str]] = []
    for line in lines[1:]:
        # a line that only some cells cross continues the others
        if GRID_BORDER.fullmatch(line.rstrip()):
            row = [" ".join(cell).strip() for cell in cells]
            if "=" in line and not rows:
                header = row
            elif any(row):
                rows.append(row)
            cells = []
            continue
        edges = [at for at in starts if at < len(line) and line[at] in "|+"]
        parts = [line[left + 1 : right].strip() for left, right in pairwise(edges)]
        parts = ["" if part and not part.strip("-+=|") else part for part in parts]
        while len(cells) < len(parts):
            cells.append([])
        for cell, part in zip(cells, parts, strict=False):
            if part:
                cell.append(part)
    return header, rows


def _simple(lines: list[str]) -> tuple[list[str], list[list[str]]]:
    starts = [found.start() for found in re.finditer("=+", lines[0])][:MAX_COLUMNS]
    columns = list(zip(starts, [*starts[1:], None], strict=True))
    borders = [number for number, line in enumerate(lines) if SIMPLE_BORDER.fullmatch(line)]
    known, head_end = set(borders), borders[1] if len(borders) > 2 else 0
    header: list[list[str]] = []
    rows: list[list[list[str]]] = []
    for number, line in enumerate(lines[1:], start=1):
        if not line.strip() or number in known or SPAN_LINE.fullmatch(line):
            continue
        cells = [line[left:right].strip() for left, right in columns if left < len(line)]
        if number < head_end:
            header = _joined(header, cells)
        elif rows and not cells[0]:
            # a row without its first cell continues the row above
            rows[-1] = _joined(rows[-1], cells)
        else:
            rows.append([[cell] for cell in cells])
    width = len(columns) if len(columns) * len(rows) <= MAX_CELLS else 0
    return _texts(header, width) if header else [], [_texts(row, width) for row in rows]


def _joined(above: list[list[str]], below: list[str]) -> list[list[str]]:
    above += [[] for _ in below[len(above) :]]
    for parts, cell in zip(above, below, strict=False):
        if cell:
            parts.append(cell)
    return above


def _texts(row: list[list[str]], width: int) -> list[str]:
    return [" ".join(parts).strip() for parts in row] + [""] * (width - len(row))


def read_csv_table(lines: list[str], options: dict[str, str]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the body of a `csv-table`; a `:file:` or `:url:` is not followed."""
    delimiter = options.get("delim", ",")
    delimiter = {"tab": "\t", "space": " "}.get(delimiter, delimiter)
    try:
        rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter, skipinitialspace=True))
        header = next(csv.reader([options.get("header", "")], skipinitialspace=True), list[str]())
    except (csv.Error, TypeError, ValueError):
        return [], [[line] for line in lines if line.strip()]
    rows = [[" ".join(cell.split()) for cell in row[:MAX_COLUMNS]] for row in rows if any(row)]
    if not header and options.get("header-rows", "").isdecimal() and rows:
        return rows[0], rows[1:]
    return header, rows


def read_list_table(lines: list[str], options: dict[str, str]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the body of a `list-table`: a list of lists."""
    rows: list[list[str]] = []
    for line in lines:
        row = re.match(r"[*+-]\s++[*+-](?:\s++(.*+))?$", line)
        cell = re.match(r"\s++[*+-](?:\s++(.*+))?$", line)
        if row:
            rows.append([row[1] or ""])
        elif cell and rows:
            rows[-1].append(cell[1] or "")
        elif line.strip() and rows:
            rows[-1][-1] = f"{rows[-1][-1]} {line.strip()}".strip()
    if options.get("header-rows", "").isdecimal() and rows and options["header-rows"] != "0":
        return rows[0], rows[1:]
    return [], rows
