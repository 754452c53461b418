"""Idempotency keys: the same call twice writes once, another call with the same key is refused."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from atlas.core.errors import ConfigError
from atlas.knowledge.notes.requests import LIFETIME, begin, finish


def test_a_repeated_call_gets_the_stored_answer(tmp_path: Path) -> None:
    first = begin(tmp_path, "key", "ingest", {"text": "a"}, "c-1")
    assert not first.is_repeated
    finish(first, {"id": "c-1"})
    again = begin(tmp_path, "key", "ingest", {"text": "a"}, "c-2")
    assert (again.is_repeated, again.answer, again.note_id) == (True, {"id": "c-1"}, "c-1")


def test_a_call_that_was_killed_keeps_its_id(tmp_path: Path) -> None:
    begin(tmp_path, "key", "ingest", {"text": "a"}, "c-1")
    again = begin(tmp_path, "key", "ingest", {"text": "a"}, "c-2")
    assert (again.is_repeated, again.answer, again.note_id) == (True, None, "c-1")


def test_another_call_with_the_key_is_refused(tmp_path: Path) -> None:
    begin(tmp_path, "key", "ingest", {"text": "a"}, "c-1")
    for tool, text in (("ingest", "b"), ("connect", "a")):
        with pytest.raises(ConfigError, match="other arguments"):
            begin(tmp_path, "key", tool, {"text": text}, "c-2")


def test_keys_expire_and_damaged_records_count_as_none(tmp_path: Path) -> None:
    old = begin(tmp_path, "old", "ingest", {}, "c-1")
    past = time.time() - LIFETIME - 60
    old.file.write_text(old.file.read_text().replace(str(old.created), str(past)))
    os.utime(old.file, (past, past))
    assert not begin(tmp_path, "old", "ingest", {"other": 1}, "c-2").is_repeated
    damaged = begin(tmp_path, "damaged", "ingest", {}, "c-3")
    damaged.file.write_bytes(b'{"digest":')
    assert not begin(tmp_path, "damaged", "ingest", {}, "c-4").is_repeated


def test_a_key_never_becomes_a_path(tmp_path: Path) -> None:
    request = begin(tmp_path, "../../evil\x00", "ingest", {}, "c-1")
    assert request.file.parent.parent == tmp_path / "idempotency"
