"""Django's source package, fetched once from the package index (the same way as the development tools) and unpacked."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest

PACKAGE = "django==5.2"


@pytest.fixture(scope="session")
def django(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of Django 5.2 with its tests: some 2,800 Python files."""
    folder = tmp_path_factory.mktemp("django")
    with tarfile.open(_archive()) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.iterdir())


def _archive() -> Path:
    cache = Path(__file__).parents[1] / ".cache" / "packages"
    cache.mkdir(parents=True, exist_ok=True)
    if found := sorted(cache.glob("[Dd]jango-5.2.tar.gz")):
        return found[0]
    # another process of the same run may be at it: each downloads for itself, the last one's stays
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*download, "-d", scratch, PACKAGE], check=True, timeout=300)
        (fetched,) = Path(scratch).iterdir()
        kept = cache / fetched.name
        fetched.replace(kept)
    return kept
