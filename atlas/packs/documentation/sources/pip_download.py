"""A program that downloads one archive with pip's own finder and session: `pip_download.py NAME VERSION FOLDER`.

It prefers the sdist, which has the documentation, and prints `{"file", "version"}` as its last line. Unlike `pip
download` it prepares nothing, so no build backend of the package runs. It runs in a process of its own since pip has no
public interface for this: a version of pip that differs costs one clear error.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

MAX_BYTES = 512 << 20


def main(name: str, version: str, folder: str) -> int:
    """Download the archive; return the exit code."""
    for formats in (["--no-binary", ":all:"], ["--only-binary", ":all:"]):
        found = download(name, version, Path(folder), formats)
        if found:
            print(json.dumps(found))  # noqa: T201 the answer to the parent process
            return 0
    print(f"ERROR: No matching distribution found for {name}{'==' + version if version else ''}", file=sys.stderr)  # noqa: T201
    return 1


def download(name: str, version: str, folder: Path, formats: list[str]) -> dict[str, str] | None:
    """Download the best archive among the formats into the folder; None if there is none."""
    from pip._internal.commands import create_command
    from pip._vendor.packaging.specifiers import SpecifierSet

    command: Any = create_command("download")
    options, _ = command.parse_args(["--no-deps", *formats, name])
    with command.main_context():
        session = command.get_default_session(options)
        finder = command._build_package_finder(options=options, session=session, ignore_requires_python=True)
        specifier = SpecifierSet(f"=={version}" if version else "")
        candidate = finder.find_best_candidate(name, specifier).best_candidate
        if candidate is None:
            return None
        link = candidate.link
        path = folder / Path(link.filename).name
        digest = hashlib.new(link.hash_name) if link.hash_name else None
        response = session.get(link.url_without_fragment, stream=True, headers={"Accept-Encoding": "identity"})
        response.raise_for_status()
        size = 0
        with path.open("wb") as file:
            for part in response.iter_content(1 << 16):
                size += len(part)
                if size > MAX_BYTES:
                    raise SystemExit(f"ERROR: {link.filename} has more than {MAX_BYTES >> 20} MB")
                if digest:
                    digest.update(part)
                file.write(part)
        if digest and digest.hexdigest() != link.hash:
            raise SystemExit(f"ERROR: {link.filename} does not have the digest that the index states")
        return {"file": path.name, "version": str(candidate.version)}


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:4]))
