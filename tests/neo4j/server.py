"""A real Neo4j for the test run: built once from Maven artifacts into `.cache/`, started once, gone with the run.

Without a JDK or Maven the tests that need it are skipped on a laptop and fail where `CI` is set.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".cache" / "neo4j"
SOURCES = (HERE / "pom.xml", HERE / "Neo4jForTests.java")
FAST_START = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dkeep.plans=true")
"""Tests empty and fill the database all the time: a plan is not made again whenever the statistics have changed."""
AS_IT_COMES: Sequence[str] = ()
"""With the compiler that takes its time, and the JVM's own choice of collector and heap (a quarter of the memory)."""
PASSWORD = "correct-horse"


@cache
def open_uri() -> str:
    """URI of a server that asks for no password; the first call starts it."""
    return _start("")


@cache
def measured_uri() -> str:
    """URI of a server to measure; the first call starts it."""
    return _start("", AS_IT_COMES)


@cache
def guarded_uri() -> str:
    """URI of a server that wants user `neo4j` and `PASSWORD`, and lets clients encrypt; the first call starts it."""
    return _start(PASSWORD, FAST_START, certificate().parent)


@cache
def certificate() -> Path:
    """The certificate of the guarded server, signed by itself, for 127.0.0.1."""
    folder = Path(tempfile.mkdtemp(prefix="atlas-neo4j-tls-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    key = rsa.generate_private_key(65_537, 2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "atlas tests")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(1), now + timedelta(1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "private.key").write_bytes(private)
    (folder / "public.crt").write_bytes(made.public_bytes(encoding))
    return folder / "public.crt"


def _start(password: str, options: Sequence[str] = FAST_START, tls: Path | None = None) -> str:
    classpath = _built()
    home = Path(tempfile.mkdtemp(prefix="atlas-neo4j-"))
    log = home / "output.txt"
    command = ["java", *options, "-cp", classpath, "Neo4jForTests"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, str(home / "data"), *filter(None, [password, tls and str(tls)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
        )
    atexit.register(_stop, process, home)
    assert process.stdout is not None
    uri = next((line for line in map(bytes.decode, process.stdout) if line.startswith("bolt://")), "").strip()
    if not uri:
        pytest.fail(f"Neo4j did not start:\n{log.read_text(errors='replace')[-2000:]}")
    return uri


def _stop(process: subprocess.Popen[bytes], home: Path) -> None:
    """End its input; the data are thrown away, so it need not write them out."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.kill()
    process.wait()
    shutil.rmtree(home, ignore_errors=True)


def _built() -> str:
    """Return the class path; the artifacts are asked for only when the sources have changed or files are missing."""
    missing = [program for program in ("java", "javac", "mvn") if shutil.which(program) is None]
    if missing:
        _give_up(f"no {' and no '.join(missing)} for a real Neo4j")
    version = hashlib.sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()[:16]
    listed = CACHE / f"classpath-{version}.txt"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        classes = CACHE / f"classes-{version}"
        if not _is_complete(listed):
            shutil.copy(SOURCES[0], CACHE / "pom.xml")
            wanted = CACHE / "maven.txt"
            _run(["mvn", "-q", "-B", "dependency:build-classpath", f"-Dmdep.outputFile={wanted}"])
            artifacts = wanted.read_text().strip()
            _run(["javac", "-cp", artifacts, "-d", str(classes), str(SOURCES[1])])
            listed.write_text(f"{artifacts}{os.pathsep}{classes}")
    return listed.read_text()


def _is_complete(listed: Path) -> bool:
    return listed.exists() and all(Path(part).exists() for part in listed.read_text().split(os.pathsep))


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, timeout=900)
    if done.returncode:
        _give_up(f"{command[0]} failed: {(done.stdout + done.stderr)[-2000:]}")


def _give_up(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
