"""The three kinds of registries on the loopback interface, with one tiny package each, for the real clients."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.docs.web_server import Answer, Route, Site, serve

NAME, VERSION = "atlas-sample", "1.0.0"


def archive(folder: str, manifest: str, text: str) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as made:
        files = {
            manifest: text,
            "README.md": "# Sample\n\nText of the sample.\n",
            "src/lib.rs": "",
            "build.rs": "fn main() {}",
        }
        for name, content in files.items():
            info = tarfile.TarInfo(f"{folder}/{name}")
            info.size = len(content)
            made.addfile(info, io.BytesIO(content.encode()))
    return data.getvalue()


@contextmanager
def registry() -> Iterator[Site]:
    """Serve below /pypi/simple/, /npm/ and /crates/."""
    sdist = archive(f"{NAME}-{VERSION}", "PKG-INFO", f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n")
    tgz = archive("package", "package.json", json.dumps({"name": NAME, "version": VERSION}))
    crate = archive(
        f"{NAME}-{VERSION}",
        "Cargo.toml",
        f'[package]\nname = "{NAME}"\nversion = "{VERSION}"\nedition = "2021"\nbuild = "build.rs"\n',
    )

    def binary(data: bytes) -> Answer:
        return Answer(data, media_type="application/octet-stream")

    def document(site: Site) -> Mapping[str, Route]:
        dist = {"tarball": f"{site.url}/npm/{NAME}.tgz", "shasum": hashlib.sha1(tgz).hexdigest()}
        version = {"name": NAME, "version": VERSION, "dist": dist}
        packument = {"name": NAME, "dist-tags": {"latest": VERSION}, "versions": {VERSION: version}}
        entry = {"name": NAME, "vers": VERSION, "deps": [], "cksum": hashlib.sha256(crate).hexdigest(), "features": {}}
        entry["yanked"] = False
        return {
            f"/pypi/simple/{NAME}/": Answer(f'<a href="/files/{NAME}-{VERSION}.tar.gz">x</a>'.encode()),
            f"/files/{NAME}-{VERSION}.tar.gz": binary(sdist),
            f"/npm/{NAME}": Answer(json.dumps(packument).encode(), media_type="application/json"),
            f"/npm/{NAME}.tgz": binary(tgz),
            "/crates/config.json": Answer(json.dumps({"dl": f"{site.url}/dl"}).encode()),
            f"/crates/at/la/{NAME}": Answer(json.dumps(entry).encode()),
            f"/dl/{NAME}/{VERSION}/download": binary(crate),
        }

    with serve({}) as site:
        site.routes.update(document(site))
        yield site
