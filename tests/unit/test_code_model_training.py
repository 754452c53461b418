"""What the training of the code model reads: licences, packages, sentences, and pairs of any language."""

import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from atlas.parsing import load_languages
from training.code_model.licences import LICENCE_FILE, Licences, licence_of_text, licences_of, permissive
from training.code_model.mine import HELD_OUT, NOTHING, mine_package, pairs_of
from training.code_model.packages import Package, identify, read_files
from training.code_model.sentences import usable_sentences

SOURCES = {
    "a/server.go": "package a\n\n// Serve answers all requests of a client.\nfunc (s *Server) Serve() error {\n\treturn nil\n}\n",
    "file.rs": "impl File {\n    /// Reads all the bytes into memory.\n    pub fn read(&self) -> u8 {\n        1\n    }\n}\n",
    "Channel.kt": "class Channel {\n    /** Closes the channel and waits. */\n    fun close(): Int {\n        return 1\n    }\n}\n",
    "book.rb": "class Book\n  # Opens the given book and reads it.\n  def open(x)\n    x\n  end\nend\n",
    "make.ts": "/** Makes a new thing from others. */\nexport const make = (x: number) => {\n  return x;\n};\n",
}


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("MIT", "MIT"),
        ("Apache License 2.0", "Apache-2.0"),
        ("GPL-2.0 OR MIT", "MIT"),
        ("GPL-2.0 AND MIT", ""),
        ("MIT AND BSD-3-Clause", "MIT AND BSD-3-Clause"),
        ("(MIT OR GPL-3.0) AND LGPL-2.1", ""),
        ("LGPLv3", ""),
        ("MPL-2.0", ""),
        ("", ""),
    ],
)
def test_only_permissive_licences_are_used(expression: str, found: str) -> None:
    assert permissive(expression) == found


def test_files_are_judged_by_their_stanza_and_their_head() -> None:
    text = "Files: *\nLicense: Expat\n\nFiles: lib/gpl/*\nLicense: GPL-2+\n\nFiles: debian/*\nLicense: GPL-3\n"
    licences = licences_of("anything", {"debian/copyright": text})
    assert licences.package == "MIT"
    assert licences.allow("x-1.0/src/a.c", "int a;")
    assert not licences.allow("lib/gpl/a.c", "int a;")
    assert not licences.allow("src/a.c", "/* GNU General Public License */")
    assert not Licences("").allow("a.c", "")


def test_a_licence_that_is_not_established_is_none() -> None:
    assert not licences_of("anything", {}).package
    assert not licence_of_text("All rights reserved")
    assert not licences_of("x", {"LICENSE": "Permission is hereby granted, free of charge", "COPYING": "GNU"}).package


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("Some_Name-1.2.3-py3-none-any.whl", Package("pypi", "some-name", "1.2.3")),
        ("babel-core-7.29.13.tgz", Package("npm", "babel-core", "7.29.13")),
        ("okio-jvm-3.9.0-sources.jar", Package("maven", "okio-jvm", "3.9.0")),
        ("librust-nix-dev_0.26.1-3_amd64.deb", Package("debian", "librust-nix-dev", "0.26.1-3")),
    ],
)
def test_a_package_is_identified_by_its_file(name: str, package: Package) -> None:
    found = identify(Path(name))
    assert (found.ecosystem, found.name) == (package.ecosystem, package.name)
    assert found.version.startswith(package.version)


def test_sentences_are_cleaned_and_boilerplate_is_none() -> None:
    text = (
        "Serve answers <b>all</b> requests of a :class:`Client`. It closes them afterwards, too.\n\n:param x: a number"
    )
    assert usable_sentences(text, "Serve") == [
        "answers all requests of a Client",
        "It closes them afterwards, too",
    ]
    assert usable_sentences("Deprecated since 2.0, use the other function instead.", "f") == []
    assert usable_sentences("Too short.", "f") == []


@pytest.mark.parametrize("path", SOURCES)
def test_every_language_gives_pairs_without_documentation(path: str) -> None:
    pair = next(each for each in pairs_of(path, SOURCES[path].encode(), load_languages()) if each["kind"] == "function")
    assert pair["docs"]
    assert pair["docs"][0] not in pair["code"]
    assert pair["cls"] == {"make.ts": "", "a/server.go": "Server", "book.rb": "Book"}.get(path, Path(path).stem.title())


def test_a_package_is_mined_unless_it_is_held_out(tmp_path: Path) -> None:
    source = b'def read_all(path):\n    """Read the whole file at once."""\n    return open(path).read()\n'
    wheel = tmp_path / "some_name-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("some_name-1.0.dist-info/METADATA", "Name: x\nLicense-Expression: MIT\n\n")
        archive.writestr("some_name/a.py", source)
        archive.writestr("some_name/tests/b.py", source)
        archive.writestr("some_name/c.js", "// Reads the whole file at once\nfunction f() {\n  return 1;\n}\n")
    _, licence, pairs = mine_package(wheel)
    assert licence == "MIT"
    assert [(pair["pkg"], pair["name"], pair["docs"]) for pair in pairs] == [
        ("pypi:some-name", "read_all", ["Read the whole file at once"])
    ]
    assert "django*" in HELD_OUT.read_text().split()


def test_licence_files_are_read_where_sources_are_skipped(tmp_path: Path) -> None:
    archive_path = tmp_path / "x-1.0.tgz"
    with tarfile.open(archive_path, "w:gz") as archive:
        info = tarfile.TarInfo("./usr/share/doc/x/copyright")
        archive.addfile(info, io.BytesIO())
    assert not list(read_files(archive_path, LICENCE_FILE))
    assert [name for name, _ in read_files(archive_path, LICENCE_FILE, NOTHING)] == ["usr/share/doc/x/copyright"]


def test_neighbours_are_the_nearest_other_words(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    from training.code_model.neighbours import centred, nearest, write

    vectors = numpy.array([[1, 0, 0], [0.8, 0.6, 0], [0.6, 0.8, 0], [0, 0, 1]], numpy.float32)
    rows, shares = nearest(vectors, count=2, least=0.5)
    assert rows[0].tolist() == [1, 2]
    assert shares[0] == pytest.approx([0.8 / 1.4, 0.6 / 1.4])
    assert shares[3].tolist() == [0, 0]
    common = centred(vectors + numpy.array([5, 5, 5], numpy.float32), dropped=1)
    assert numpy.linalg.norm(common, axis=1) == pytest.approx([1] * 4, abs=1e-5)
    (tmp_path / "model.json").write_text('{"sha256": {}}')
    write(tmp_path, rows, shares)
    assert numpy.load(tmp_path / "shares.npy")[0].tolist() == [146, 109]
    assert set(json.loads((tmp_path / "model.json").read_text())["sha256"]) == {"neighbours.npy", "shares.npy"}
