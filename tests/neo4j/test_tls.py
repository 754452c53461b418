"""Encryption to a real Neo4j: what is trusted, what is not, and what is said then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.neo4j.server import PASSWORD, certificate, guarded_uri, open_uri
from tests.neo4j.test_bad_servers import one_line, said
from tests.surfaces.shop import write_files

USER = {"user": "neo4j", "password": PASSWORD}


def encrypted(url: str, mode: str = "+s") -> str:
    return url.replace("bolt://", f"bolt{mode}://")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_files(tmp_path / "shop")
    return tmp_path / "shop"


async def test_an_index_behind_tls(root: Path) -> None:
    """A certificate of one's own is trusted where it is named; `+ssc` asks for none."""
    own = {**USER, "ca_file": str(certificate())}
    for command, url, settings in (
        ("index", encrypted(guarded_uri()), own),
        ("search", encrypted(guarded_uri()), own),
        ("search", encrypted(guarded_uri(), "+ssc"), USER),
    ):
        code, stderr = await said(root, url, command, **settings)
        assert code == 0, (command, url, stderr)


async def test_a_certificate_that_nobody_trusts(root: Path) -> None:
    url = encrypted(guarded_uri())
    code, stderr = await said(root, url, "index", **USER)
    assert (code, f"the certificate of {url} is not trusted: self-signed certificate" in one_line(stderr)) == (2, True)
    assert "ATLAS_STORE_CA_FILE" in stderr


async def test_a_certificate_of_another_host(root: Path) -> None:
    url = encrypted(guarded_uri()).replace("127.0.0.1", "localhost")
    code, stderr = await said(root, url, "index", **USER, ca_file=str(certificate()))
    assert (code, "is not trusted: Hostname mismatch" in one_line(stderr)) == (2, True)


@pytest.mark.parametrize("mode", ["+s", "+ssc"])
async def test_a_server_without_tls(root: Path, mode: str) -> None:
    url = encrypted(open_uri(), mode)
    code, stderr = await said(root, url, "index")
    assert (code, f"cannot reach {url} over TLS: " in one_line(stderr)) == (7, True)
    assert "remove `+s`" in stderr.lower()
