"""Packs as a stranger makes them: any content, with a manifest and checksums that fit."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import zstandard

FILES = ("eval/questions.jsonl", "kg_config.json", "pack.db", "skill.md", "urls.txt", "vocabulary.json")


def restated(folder: Path, **changes: Any) -> None:
    """Write the manifest of a folder anew: with these fields, and with the checksums of what is there."""
    document = json.loads((folder / "manifest.json").read_text()) | changes
    document["files"] = {
        name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name in FILES
        if (folder / name).is_file() and (data := (folder / name).read_bytes()) is not None
    }
    (folder / "manifest.json").write_text(json.dumps(document, ensure_ascii=False))


def archived(folder: Path, archive: Path, *, changes: Mapping[str, Any] | None = None) -> Path:
    """Write a folder as an archive whose checksums fit."""
    restated(folder, **(changes or {}))
    members = [("manifest.json", (folder / "manifest.json").read_bytes())]
    members += [(name, (folder / name).read_bytes()) for name in FILES if (folder / name).is_file()]
    return write_archive(archive, members)


def write_archive(archive: Path, members: list[tuple[str | tarfile.TarInfo, bytes]]) -> Path:
    """Write these members in this order, whatever they are."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for member, data in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = len(data) if info.isreg() else 0
            tar.addfile(info, io.BytesIO(data))
    archive.write_bytes(zstandard.ZstdCompressor().compress(out.getvalue()))
    return archive
