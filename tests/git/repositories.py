"""Real repositories for tests, written by dulwich: no git program is needed."""

from __future__ import annotations

import os
import struct
import zlib
from hashlib import sha1
from pathlib import Path

from dulwich import porcelain
from dulwich.objects import Blob, Commit, Tree
from dulwich.repo import Repo

PERSON = b"Ada Lovelace <ada@example.org>"
START = 1_700_000_000
HOUR = 3_600


class GitRepository:
    """A repository whose commits are an hour apart."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root
        self.repo = Repo.init(str(root), default_branch=b"main")
        self.time = START

    def write(self, **files: str | None) -> None:
        """Write files; `__` in a name is a slash, `_py` at its end the extension; None removes a file."""
        self.put({name.replace("__", "/").replace("_py", ".py"): text for name, text in files.items()})

    def put(self, files: dict[str, str | None]) -> None:
        for path, text in files.items():
            file = self.root / path
            if text is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def commit(
        self, message: str, files: dict[str, str | None] | None = None, author: bytes = PERSON, zone: int = 0
    ) -> str:
        """Write, stage and commit files, in a time zone so many seconds east; return the commit's id."""
        self.put(files or {})
        self.stage(*(files or {}))
        self.time += HOUR
        made = self.repo.get_worktree().commit(
            message=message.encode(), author=author, committer=author, commit_timestamp=self.time, commit_timezone=0,
            author_timestamp=self.time, author_timezone=zone,
        )  # fmt: skip
        return made.decode()

    def stage(self, *paths: str) -> None:
        self.repo.get_worktree().stage(list(paths))

    def branch(self, name: str) -> None:
        """Make a branch at HEAD and check it out."""
        porcelain.branch_create(self.repo, name)
        self.repo.refs.set_symbolic_ref(b"HEAD", b"refs/heads/" + name.encode())

    def merge(self, made: str, into: str, message: str) -> None:
        """Check out a branch without touching files, and commit them as the merge of a commit into it."""
        self.repo.refs.set_symbolic_ref(b"HEAD", b"refs/heads/" + into.encode())
        self.time += HOUR
        self.repo.get_worktree().commit(
            message=message.encode(), author=PERSON, committer=PERSON, commit_timestamp=self.time,
            merge_heads=[made.encode()],
        )  # fmt: skip

    def tag(self, name: str) -> None:
        porcelain.tag_create(self.repo, name, annotated=True, author=PERSON, message=b"a tag", tag_time=self.time)

    def pack(self) -> None:
        """Put all objects in one pack and all references in `packed-refs`."""
        porcelain.repack(self.repo)
        porcelain.pack_refs(self.repo, all=True)

    def close(self) -> None:
        self.repo.close()


def loose_object(git: Path, kind: bytes, size: int, content: bytes) -> str:
    """Write a loose object that claims a size; return its name."""
    name = sha1(content).hexdigest()
    file = git / "objects" / name[:2] / name[2:]
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(zlib.compress(b"%s %d\0" % (kind, size) + content))
    return name


def pack_of(git: Path, entries: list[tuple[str, bytes]]) -> None:
    """Write a pack and its index of raw entries: (name, bytes from the entry's header on)."""
    folder = git / "objects" / "pack"
    folder.mkdir(parents=True, exist_ok=True)
    body = b"PACK" + struct.pack(">LL", 2, len(entries))
    offsets: dict[bytes, int] = {}
    for name, raw in entries:
        offsets[bytes.fromhex(name)] = len(body)
        body += raw
    body += sha1(body).digest()
    names = sorted(offsets)
    fan = [sum(name[0] <= first for name in names) for first in range(256)]
    index = b"\xfftOc" + struct.pack(">L", 2) + struct.pack(">256L", *fan) + b"".join(names)
    index += b"\0\0\0\0" * len(names) + b"".join(struct.pack(">L", offsets[name]) for name in names)
    index += body[-20:]
    (folder / f"pack-{'a' * 40}.pack").write_bytes(body)
    (folder / f"pack-{'a' * 40}.idx").write_bytes(index + sha1(index).digest())


def entry(kind: int, size: int, content: bytes, base: bytes = b"") -> bytes:
    """Return an entry of a pack: header, base of a delta, packed content."""
    head = [(kind << 4) | (size & 15)]
    size >>= 4
    while size:
        head[-1] |= 128
        head.append(size & 127)
        size >>= 7
    return bytes(head) + base + zlib.compress(content)


def chain_of_commits(repository: GitRepository, count: int, path: str) -> None:
    """Add commits that change one file, without touching the disk: fast."""
    store, refs = repository.repo.object_store, repository.repo.refs
    parent = refs[b"HEAD"]
    for number in range(count):
        blob = Blob.from_string(b"%d\n" % number)
        tree = Tree()
        tree.add(path.encode(), 0o100644, blob.id)
        commit = Commit()
        commit.tree, commit.parents = tree.id, [parent]
        commit.author = commit.committer = PERSON
        repository.time += HOUR
        commit.commit_time = commit.author_time = repository.time
        commit.commit_timezone = commit.author_timezone = 0
        commit.message = b"change %d" % number
        for made in (blob, tree, commit):
            store.add_object(made)
        parent = commit.id
    refs[b"HEAD"] = parent


def without(variable: str) -> dict[str, str]:
    """Return this process's environment without a variable."""
    return {name: value for name, value in os.environ.items() if name != variable}
