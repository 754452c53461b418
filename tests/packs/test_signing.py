"""Signed packs: who signed is shown, a bad signature is refused, and no pack can claim a signer.

Keys and signatures of the real minisign 0.11 are in the first test; the test suite does not need the program.
"""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from atlas.cli import main
from atlas.core.errors import ConfigError, StoreError
from atlas.packs.documentation.pack import minisign
from atlas.packs.documentation.pack.signers import record_signer, signer_of, trusted_keys
from tests.surfaces.test_notes_cli import Done, Run

from .library import DOCUMENTATION, write_tree

OPTIONS = ("--version", "2.0", "--library", "widget", "--ecosystem", "python")

THEIR_KEY = """untrusted comment: minisign public key 8698DA5E9DF034E7
RWTnNPCdXtqYhllz0ntBfCiRL4G4/JfXRbxNTPSNOmQ9nCpyClI9xvIE
"""
THEIR_SIGNATURE = b"""untrusted comment: signature from minisign secret key
RUTnNPCdXtqYhgmw2FiNq2F0YayVk5vmCMs6Osh8BNJRAetF/KR4sI7kUuK/aG3lZiM3mgaBPUhAkkblz6EL+g1DEDEOvwYPnAU=
trusted comment: x y
jhd2UhIgrMZEbVLMRXnjrzTTm2MnMTBEnS6Gh41rT0cm70UDglCb0vmmyN3El6+YyCOND2SVgvv6QdtGiZinDg==
"""
"""Of the five bytes `hello`."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with documentation and a pack that was built here, outside of the installed ones."""
    folder = tmp_path_factory.mktemp("signing")
    write_tree(folder / "docs", DOCUMENTATION)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("sys.argv", ["atlas", "pack", "build", "widget", "--from", "docs", *OPTIONS, "-o", "built"])
        assert main._run() == 0  # type: ignore[reportPrivateUsage]
    return folder


@pytest.fixture
def run(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `atlas pack` in this process as a user without keys and packs."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("ATLAS_PACKS", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Done:
        monkeypatch.setattr("sys.argv", ["atlas", "pack", *arguments])
        code = main._run()  # type: ignore[reportPrivateUsage]
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        return Done(code, shown.out, shown.err)

    return run


@pytest.fixture
def signed(run: Run, place: Path, tmp_path: Path) -> Path:
    """An archive with a signature of the user's own key."""
    assert run("key", "create", "--no-password").code == 0
    assert run("export", str(place / "built"), "-o", "w.tar.zst", "--sign").code == 0
    return tmp_path / "w.tar.zst"


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    return tmp_path / "data" / "code-atlas" / "packs"


def beside(archive: Path) -> Path:
    return archive.with_name(archive.name + ".minisig")


def assert_refused(done: Done, words: str, packs: Path) -> None:
    assert done.code == StoreError.exit_code, done
    assert words in done.err
    assert not [one for one in packs.rglob("*") if one.is_file()]


def test_what_minisign_has_signed_is_checked() -> None:
    key, signature = minisign.read_key(THEIR_KEY), minisign.read_signature(THEIR_SIGNATURE)
    digest = minisign.digest_of(io.BytesIO(b"hello"))
    assert minisign.is_valid(signature, key, digest)
    assert minisign.key_id(key.number) == "8698DA5E9DF034E7"
    assert key.file == THEIR_KEY
    assert not minisign.is_valid(signature, key, minisign.digest_of(io.BytesIO(b"hallo")))
    for number in range(4):
        lines = THEIR_SIGNATURE.splitlines(keepends=True)
        changed = minisign.read_signature(b"".join(lines).replace(b"x y", b"x z")) if number == 2 else None
        assert changed is None or not minisign.is_valid(changed, key, digest)
        with pytest.raises(StoreError):
            minisign.read_signature(b"".join(lines[:number] + lines[number + 1 :]))


def test_every_changed_bit_of_a_signature_is_assert_refused() -> None:
    secret = minisign.new_secret()
    text = minisign.sign(secret, b"d" * 64, "comment")
    for line in (1, 3):
        lines = text.split("\n")
        data = base64.b64decode(lines[line])
        for bit in range(0, len(data) * 8, 7):
            bad = bytearray(data)
            bad[bit // 8] ^= 1 << bit % 8
            lines[line] = base64.b64encode(bytes(bad)).decode()
            try:
                assert not minisign.is_valid(
                    minisign.read_signature("\n".join(lines).encode()), secret.public, b"d" * 64
                )
            except StoreError:
                assert bit < 16, "only another algorithm is no signature"


@pytest.mark.parametrize("password", ["", "geheim ä"])
def test_a_secret_key_is_read_again_with_its_password_only(password: str) -> None:
    secret = minisign.new_secret()
    text = minisign.secret_file(secret, password)
    assert minisign.is_encrypted(text) == bool(password)
    assert minisign.read_secret(text, password) == secret
    assert secret.seed not in base64.b64decode(text.splitlines()[1]) or not password
    if password:
        with pytest.raises(ConfigError, match="password is wrong"):
            minisign.read_secret(text, "other")
    greedy = bytearray(base64.b64decode(minisign.secret_file(secret, "x").splitlines()[1]))
    greedy[38:54] = b"\xff" * 16
    with pytest.raises(ConfigError, match="too much memory"):
        minisign.read_secret("untrusted comment: x\n" + base64.b64encode(bytes(greedy)).decode(), "x")


def test_the_signer_is_shown_when_a_pack_is_installed_and_later(run: Run, signed: Path, packs: Path) -> None:
    shown = run("install", str(signed), "--dry-run")
    assert "signed by own (key ID " in shown.out and not packs.exists()
    installed = run("install", str(signed), "--json").json["signer"]
    assert (installed["state"], installed["name"]) == ("known", "own")
    assert "pack:widget\tversion:2.0" in installed["comment"]
    assert run("info", "widget", "--json").json["signer"] == installed
    assert "signed by own" in run("info", "widget").out
    assert run("list", "--json").json["packs"][0]["signer"]["name"] == "own"
    (key,) = run("key", "list", "--json").json["keys"]
    assert run("key", "remove", "own").code == 0
    assert "not among the trusted keys" in run("info", "widget").out, "trust is looked up when it is shown"
    assert run("key", "trust", "me", key["key"]).code == 0
    assert "signed by me" in run("info", "widget").out


def test_without_a_signature_a_pack_is_installed_and_called_unsigned(run: Run, signed: Path, packs: Path) -> None:
    assert run("install", str(signed)).code == 0
    beside(signed).unlink()
    done = run("install", str(signed), "--replace")
    assert (done.code, "not signed" in done.out) == (0, True)
    assert run("info", "widget", "--json").json["signer"]["state"] == "unsigned"
    assert run("remove", "widget").code == 0
    assert_refused(run("install", str(signed), "--signer", "own"), "it is not signed", packs)


def test_a_key_that_is_not_trusted_is_named_and_checks_nothing(run: Run, signed: Path, packs: Path) -> None:
    (key,) = run("key", "list", "--json").json["keys"]
    assert run("key", "remove", "own").code == 0
    done = run("install", str(signed))
    assert f"not checked: signed by the unknown key ID {key['key_id']}" in done.out
    assert run("info", "widget", "--json").json["signer"]["state"] == "unknown"
    assert run("remove", "widget").code == 0
    Path("me.pub").write_text(f"untrusted comment: x\n{key['key']}\n")
    for named in (key["key"], "me.pub"):
        given = run("install", str(signed), "--replace", "--signer", named, "--json").json["signer"]
        assert (given["state"], given["key"]) == ("given", key["key"])
    assert run("install", str(signed), "--signer", "nobody").code == ConfigError.exit_code


def test_another_key_than_the_one_that_is_demanded_is_assert_refused(run: Run, signed: Path, packs: Path) -> None:
    other = minisign.new_secret()
    assert run("key", "trust", "other", other.public.text).code == 0
    assert_refused(run("install", str(signed), "--signer", "other"), "instead of", packs)
    # a key with the same number as a trusted one, which its owner can choose, is not that key
    own = trusted_keys()["own"]
    twin = minisign.MinisignSecret(minisign.MinisignKey(own.number, other.public.point), other.seed)
    digest = minisign.digest_of(io.BytesIO(signed.read_bytes()))
    beside(signed).write_text(minisign.sign(twin, digest, "pack:widget"))
    assert_refused(run("install", str(signed)), "signature by the key ID", packs)
    assert run("key", "trust", "own", other.public.text).code == ConfigError.exit_code, "a name keeps its key"
    for name in ("../x", "a/b", "", ".x"):
        assert run("key", "trust", "--", name, other.public.text).code == ConfigError.exit_code
        assert run("key", "remove", "--", name).code != 0


def test_a_changed_archive_or_comment_is_refused_before_it_is_unpacked(run: Run, signed: Path, packs: Path) -> None:
    archive, signature = signed.read_bytes(), beside(signed).read_text()
    for data in (
        archive + b"\0",
        archive[:-1],
        archive[:50] + bytes([archive[50] ^ 1]) + archive[51:],
        b"",
        b"no archive",
    ):
        signed.write_bytes(data)
        assert_refused(run("install", str(signed)), "signature by the key ID", packs)
        assert str(signed) in run("install", str(signed)).err, "the archive is named, not its copy"
    signed.write_bytes(archive)
    for old, new in (
        ("widget", "gadget"),
        ("version:2.0", "version:9.0"),
        ("trusted comment: t", "trusted comment: T"),
    ):
        beside(signed).write_text(signature.replace(old, new))
        assert_refused(run("install", str(signed)), "signature by the key ID", packs)
    beside(signed).write_text(signature.replace("untrusted comment: signature", "untrusted comment: trusted"))
    assert run("install", str(signed)).code == 0, "only what is signed is compared"


def test_a_signature_of_another_pack_is_assert_refused(run: Run, signed: Path, place: Path, packs: Path) -> None:
    write_tree(Path("docs"), {"a.md": "# Gadget\n\nIt stands.\n"})
    assert run("build", "gadget", "--from", "docs", "-o", "gadget").code == 0
    assert run("export", "./gadget", "-o", "g.tar.zst", "--sign").code == 0
    shutil.copy("g.tar.zst.minisig", beside(signed))
    assert_refused(run("install", str(signed)), "signature by the key ID", packs)
    # the signer took one file for another
    secret = minisign.read_secret(Path("data/code-atlas/signing/secret.key").read_text(), "")
    digest = minisign.digest_of(io.BytesIO(signed.read_bytes()))
    beside(signed).write_text(minisign.sign(secret, digest, "pack:gadget\tversion:2.0"))
    assert_refused(run("install", str(signed)), "its signature is for the pack gadget", packs)
    beside(signed).write_text(minisign.sign(secret, digest, "a comment of minisign -t"))
    assert run("install", str(signed)).code == 0


def make_link(path: Path) -> None:
    path.with_name("elsewhere").write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to("elsewhere")


def make_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def make_huge(path: Path) -> None:
    with path.open("ab") as file:
        file.truncate(1 << 30)


def make_text(path: Path) -> None:
    path.write_text("not a signature\n" * 4)


def make_legacy(path: Path) -> None:
    lines = path.read_text().split("\n")
    lines[1] = base64.b64encode(b"Ed" + base64.b64decode(lines[1])[2:]).decode()
    path.write_text("\n".join(lines))


@pytest.mark.parametrize("make", [make_link, make_fifo, make_folder, make_huge, make_text, make_legacy])
def test_what_is_no_signature_is_refused_at_once(
    run: Run, signed: Path, packs: Path, make: Callable[[Path], None]
) -> None:
    make(beside(signed))
    assert_refused(run("install", str(signed)), "signature", packs)
    assert_refused(run("install", str(signed), "--signature", str(beside(signed))), "signature", packs)


def test_a_folder_that_is_a_link_is_the_users_own(run: Run, signed: Path) -> None:
    Path("downloads").symlink_to(signed.parent)
    assert "signed by own" in run("install", "downloads/w.tar.zst").out
    Path("latest.tar.zst").symlink_to(signed)
    Path("latest.tar.zst.minisig").write_bytes(beside(signed).read_bytes())
    assert "signed by own" in run("install", "latest.tar.zst", "--replace").out


@pytest.mark.parametrize("make", [make_fifo, make_folder])
def test_an_archive_is_a_plain_file(run: Run, signed: Path, packs: Path, make: Callable[[Path], None]) -> None:
    make(signed)
    assert_refused(run("install", str(signed)), "no plain file" if make is make_fifo else "w.tar.zst", packs)


def test_an_archive_comes_from_standard_input(run: Run, signed: Path, packs: Path) -> None:
    def install(data: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "atlas", "pack", "install", "-", *options]
        return subprocess.run(command, input=data, capture_output=True, timeout=120, check=False)

    archive, signature = signed.read_bytes(), str(beside(signed))
    done = install(archive[:-4], "--signature", signature)
    assert (done.returncode, b"the archive on standard input is refused" in done.stderr) == (StoreError.exit_code, True)
    assert install(archive, "--signer", "own").returncode == StoreError.exit_code
    assert not packs.exists()
    assert b"signed by own" in install(archive, "--signature", signature, "--signer", "own").stdout
    assert b"not signed" in install(archive, "--replace").stdout


def test_no_pack_can_claim_a_signer(run: Run, signed: Path, place: Path, packs: Path) -> None:
    assert run("install", str(signed)).code == 0
    folder = packs / "widget" / "2.0"
    known = signer_of(folder)
    # another pack in the same place, with whatever files it brings
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"signer": "own", "description": "other"}))
    (folder / "signer.json").write_text(json.dumps({"name": "own", "state": "known"}))
    assert signer_of(folder).state == "unsigned"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    record_signer(folder, known)
    # built again: the user's own work, which nobody has signed
    built = run("build", "widget", "--from", str(place / "docs"), *OPTIONS, "--replace", "--description", "new")
    assert built.code == 0, built
    assert run("info", "widget", "--json").json["signer"]["state"] == "unsigned"


def test_keys_are_private_and_are_not_replaced(run: Run, tmp_path: Path, place: Path) -> None:
    assert run("key", "create", "--no-password").code == 0
    folder = tmp_path / "data" / "code-atlas" / "signing"
    secret = folder / "secret.key"
    assert [secret.stat().st_mode & 0o777, folder.stat().st_mode & 0o777] == [0o600, 0o700]
    again = run("key", "create", "--no-password")
    assert (again.code, "Move it away" in again.err) == (ConfigError.exit_code, True)
    secret.chmod(0o644)
    open_to_all = run("export", str(place / "built"), "-o", "w.tar.zst", "--sign")
    assert (open_to_all.code, "other users can read" in open_to_all.err) == (ConfigError.exit_code, True)
    assert not Path("w.tar.zst").exists()
    secret.unlink()
    missing = run("export", str(place / "built"), "-o", "w.tar.zst", "--sign")
    assert (missing.code, "atlas pack key create" in missing.err) == (ConfigError.exit_code, True)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    def typed(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))

    yield typed


def test_a_key_with_a_password_signs_with_it(run: Run, place: Path, typed: Callable[[str], None]) -> None:
    typed("")
    assert run("key", "create").code == ConfigError.exit_code, "the end of the input is no password"
    typed("geheim\n")
    assert run("key", "create").code == 0
    typed("falsch\n")
    wrong = run("export", str(place / "built"), "-o", "w.tar.zst", "--sign")
    assert (wrong.code, "password is wrong" in wrong.err) == (ConfigError.exit_code, True)
    typed("geheim\n")
    assert run("export", str(place / "built"), "-o", "w.tar.zst", "--sign").code == 0
    assert "signed by own" in run("install", "w.tar.zst").out


def test_equal_packs_get_equal_signatures(run: Run, place: Path, signed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    for name in ("a.tar.zst", "b.tar.zst"):
        assert run("export", str(place / "built"), "-o", name, "--sign").code == 0
    assert Path("a.tar.zst").read_bytes() == Path("b.tar.zst").read_bytes()
    assert Path("a.tar.zst.minisig").read_text() == Path("b.tar.zst.minisig").read_text()
    assert {one.name for one in Path().iterdir() if one.is_file()} == {
        f"{name}.tar.zst{ending}" for name in "abw" for ending in ("", ".minisig")
    }


def test_texts_that_are_no_keys_are_errors_with_a_message(run: Run, signed: Path, packs: Path) -> None:
    Path("loop").symlink_to("loop")
    assert_refused(run("install", str(signed), "--signature", "loop/x"), "cannot be read", packs)
    for text in (
        "x" * 5000,
        "RW",
        "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO",
        "\u202eRW\u00e4",
        "/dev/zero",
        ".",
    ):
        done = run("key", "trust", "name", text)
        assert done.code == ConfigError.exit_code, done
    with pytest.raises(ConfigError):
        minisign.read_secret("untrusted comment: x\n" + "A" * 212, "")
