"""Files whose text is not UTF-8 code with a known name: other encodings, scripts, pointers, linked work trees."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from atlas._parser import content_digest, parse_bytes, scan, searched
from atlas.parsing import load_languages

LANGUAGES = load_languages()
TEXT = "class Größe {\n    void caw() {}\n}\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_wide_text_is_parsed(encoding: str) -> None:
    data = TEXT.encode(encoding)
    parsed = parse_bytes(LANGUAGES, "a.java", data)
    facts = json.loads(parsed.to_json())
    assert [each["path"] for each in facts["definitions"][1:]] == ["Größe", "Größe.caw"]
    assert facts["definitions"][2]["start_line"] == 2
    assert not parsed.problems
    assert parsed.digest == content_digest(data)
    assert searched("a.java", data) == TEXT.encode()


def test_outputs_of_notebooks_are_not_searched() -> None:
    text = b'{"cells": [{"cell_type": "code", "source": ["x = 1"], "outputs": [{"text": "loud"}]}]}'
    found = searched("a.ipynb", text)
    assert b"loud" not in found
    assert len(found) == len(text)
    assert searched("a.json", text) is text


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("#!/usr/bin/env node", "javascript"),
        ("#!/usr/bin/env -S node --import tsx", "javascript"),
        ("#!/usr/bin/env -S uv run --script", "python"),
        ("#! /usr/local/bin/python3.12 -u", "python"),
        ("#!/usr/bin/env -S deno run -A", "typescript"),
        ("#!/usr/bin/env -S npx tsx", "typescript"),
        ("#!/bin/bash", "bash"),
        ("#!/usr/bin/env ruby\r", "ruby"),
        ("#!/usr/bin/env dotnet", "csharp"),
        ("#!/usr/bin/env unheard-of", ""),
        ("no script", ""),
    ],
)
def test_scripts_are_known_by_their_first_line(tmp_path: Path, line: str, language: str) -> None:
    (tmp_path / "deploy").write_text(f"{line}\nx\n")
    found = scan(str(tmp_path), LANGUAGES)
    assert [each.language for each in found.files] == ([language] if language else [])


def test_pointers_of_git_lfs_are_skipped() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    assert parse_bytes(LANGUAGES, "a.py", pointer).skip_reason == "lfs-pointer"


def test_a_linked_work_tree_in_its_repository_is_skipped(tmp_path: Path) -> None:
    def git(*arguments: str, at: Path = tmp_path) -> None:
        identity = ("-c", "user.email=a@example.test", "-c", "user.name=a", "-c", "protocol.file.allow=always")
        subprocess.run(("git", *identity, *arguments), cwd=at, check=True, capture_output=True)

    main = tmp_path / "main"
    main.mkdir()
    git("init", "-q", at=main)
    (main / "a.py").write_text("def a(): pass\n")
    git("add", ".", at=main)
    git("commit", "-qm", "a", at=main)
    git("worktree", "add", "-q", "inside/second", at=main)
    found = scan(str(main), LANGUAGES)
    assert [each.path for each in found.files] == ["a.py"]
    assert ("inside/second/", "worktree") in found.skipped
    second = scan(str(main / "inside/second"), LANGUAGES)
    assert [each.path for each in second.files] == ["a.py"]
    # a bare repository has no files of its own
    bare = tmp_path / "bare"
    git("clone", "-q", "--bare", str(main), str(bare / ".git"))
    git("worktree", "add", "-q", "-b", "other", "other", at=bare)
    assert [each.path for each in scan(str(bare), LANGUAGES).files] == ["other/a.py"]
