"""Django's source package, fetched once from the package index (the same way as the development tools) and unpacked."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

PACKAGE = "django==5.2"


@pytest.fixture(scope="session")
def django(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of Django 5.2 with its tests: some 2,800 Python files."""
    cache = Path(__file__).parents[2] / ".cache" / "packages"
    cache.mkdir(parents=True, exist_ok=True)
    if not (archives := sorted(cache.glob("[Dd]jango-5.2.tar.gz"))):
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-binary",
            ":all:",
            "-d",
            str(cache),
            PACKAGE,
        ]
        subprocess.run(command, check=True, timeout=300)
        archives = sorted(cache.glob("[Dd]jango-5.2.tar.gz"))
    folder = tmp_path_factory.mktemp("django")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.iterdir())
