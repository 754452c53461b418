"""Keys and signatures as minisign writes them: Ed25519 over the BLAKE2b digest of a file, and over a trusted comment.

Input and output are texts of files and the digest of what is signed; this module opens no file. `minisign -V` checks
what is signed here, and what minisign signs is checked here. Signatures over a whole file in memory (minisign before
0.11 without -H) are refused: a file of unknown size is read piece by piece.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from dataclasses import dataclass
from typing import IO

from atlas.core.errors import ConfigError, StoreError

SUFFIX = ".minisig"
MAX_FILE = 16 << 10
"""Bytes of a file with a key or a signature."""
_UNTRUSTED, _TRUSTED = "untrusted comment: ", "trusted comment: "
_PLAIN, _HASHED, _SCRYPT, _NO_KDF, _BLAKE2B = b"Ed", b"ED", b"Sc", b"\0\0", b"B2"
_OPERATIONS, _MEMORY = 1 << 22, 1 << 28
"""Limits that minisign turns into scrypt's N = 2^17, r = 8, p = 1: 128 MiB."""
_MAX_SCRYPT = 20
"""Largest log2 N: that of minisign's own keys, 1 GiB."""
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class MinisignKey:
    """A public key: 8 random bytes that name it, and 32 bytes of Ed25519."""

    number: bytes
    point: bytes

    @property
    def text(self) -> str:
        """The key as one line."""
        return base64.b64encode(_PLAIN + self.number + self.point).decode()

    @property
    def file(self) -> str:
        """The key as a file."""
        return f"{_UNTRUSTED}minisign public key {key_id(self.number)}\n{self.text}\n"


@dataclass(frozen=True, slots=True, repr=False)
class MinisignSecret:
    """A secret key: its public half and Ed25519's 32 bytes of seed."""

    public: MinisignKey
    seed: bytes


@dataclass(frozen=True, slots=True)
class MinisignSignature:
    """A signature that nobody has checked yet; `comment` is to be trusted only afterwards."""

    number: bytes
    signature: bytes
    comment: str
    of_comment: bytes


def key_id(number: bytes) -> str:
    """Return the name of a key as minisign shows it: 16 hexadecimal digits."""
    return number[::-1].hex().upper()


def digest_of(file: IO[bytes]) -> bytes:
    """Return the digest of a file that is signed: BLAKE2b, 512 bits."""
    digest = hashlib.blake2b()
    while chunk := file.read(_BLOCK):
        digest.update(chunk)
    return digest.digest()


def new_secret() -> MinisignSecret:
    """Return a new key from the random numbers of the operating system."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    made = Ed25519PrivateKey.generate()
    public = MinisignKey(secrets.token_bytes(8), made.public_key().public_bytes_raw())
    return MinisignSecret(public, made.private_bytes_raw())


def read_key(text: str) -> MinisignKey:
    """Return the public key of a file, or of its last line alone. Raises ConfigError."""
    lines = text.strip().splitlines()
    data = _decode(lines[-1]) if len(lines) in (1, 2) else b""
    if len(data) != 42 or data[:2] != _PLAIN:
        raise ConfigError("this is no public key of minisign", "it is a line of 56 characters that begins with RW")
    return MinisignKey(data[2:10], data[10:])


def read_signature(data: bytes) -> MinisignSignature:
    """Return what a signature's file says. Raises StoreError for anything else, also for an older kind."""
    lines = data.decode("utf8", "replace").replace("\r\n", "\n").removesuffix("\n").split("\n")
    if len(lines) != 4 or not lines[0].startswith(_UNTRUSTED) or not lines[2].startswith(_TRUSTED):
        raise StoreError("its signature is not one of minisign")
    first, second = _decode(lines[1]), _decode(lines[3])
    if first[:2] == _PLAIN:
        raise StoreError("its signature is of the legacy kind", "sign again with minisign 0.11 or newer, or with -H")
    if len(first) != 74 or len(second) != 64 or first[:2] != _HASHED:
        raise StoreError("its signature is not one of minisign")
    return MinisignSignature(first[2:10], first[10:], lines[2].removeprefix(_TRUSTED), second)


def is_valid(signature: MinisignSignature, key: MinisignKey, digest: bytes) -> bool:
    """Return whether this key has signed both the digest and the comment."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if signature.number != key.number:
        return False
    try:
        point = Ed25519PublicKey.from_public_bytes(key.point)
        point.verify(signature.signature, digest)
        point.verify(signature.of_comment, signature.signature + signature.comment.encode())
    except InvalidSignature:
        return False
    return True


def sign(secret: MinisignSecret, digest: bytes, comment: str) -> str:
    """Return the signature of a digest as a file; `comment` is one line that is signed, too."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not all(" " <= character <= "~" or character == "\t" for character in comment):
        raise ValueError("the comment is not one line of ASCII")
    private = Ed25519PrivateKey.from_private_bytes(secret.seed)
    signature = private.sign(digest)
    first = base64.b64encode(_HASHED + secret.public.number + signature).decode()
    second = base64.b64encode(private.sign(signature + comment.encode())).decode()
    return f"{_UNTRUSTED}signature from minisign secret key\n{first}\n{_TRUSTED}{comment}\n{second}\n"


def secret_file(secret: MinisignSecret, password: str) -> str:
    """Return a secret key as a file, encrypted unless the password is empty."""
    body = secret.public.number + secret.seed + secret.public.point
    body += hashlib.blake2b(_PLAIN + body, digest_size=32).digest()
    salt, limits, kind = bytes(32), bytes(16), _NO_KDF
    if password:
        salt, kind = secrets.token_bytes(32), _SCRYPT
        limits = _OPERATIONS.to_bytes(8, "little") + _MEMORY.to_bytes(8, "little")
        body = _crypt(body, password, salt, limits)
    line = base64.b64encode(_PLAIN + kind + _BLAKE2B + salt + limits + body).decode()
    return f"{_UNTRUSTED}minisign {'encrypted ' if password else ''}secret key\n{line}\n"


def is_encrypted(text: str) -> bool:
    """Return whether a secret key needs a password. Raises ConfigError for anything but a secret key."""
    return _secret_bytes(text)[2:4] == _SCRYPT


def read_secret(text: str, password: str) -> MinisignSecret:
    """Return the secret key of a file. Raises ConfigError, also for a wrong password."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    data = _secret_bytes(text)
    body = data[54:]
    if data[2:4] == _SCRYPT:
        body = _crypt(body, password, data[6:38], data[38:54])
    number, seed, point = body[:8], body[8:40], body[40:72]
    # minisign writes no checksum of a key without a password
    if Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw() != point:
        raise ConfigError("the password is wrong" if data[2:4] == _SCRYPT else "the secret key is damaged")
    return MinisignSecret(MinisignKey(number, point), seed)


def _secret_bytes(text: str) -> bytes:
    lines = text.strip().splitlines()
    data = _decode(lines[-1]) if len(lines) == 2 else b""
    if len(data) != 158 or data[:2] != _PLAIN or data[2:4] not in (_SCRYPT, _NO_KDF) or data[4:6] != _BLAKE2B:
        raise ConfigError("this is no secret key of minisign", "make one: atlas pack key create")
    return data


def _crypt(body: bytes, password: str, salt: bytes, limits: bytes) -> bytes:
    """Encrypt or decrypt the body of a secret key; the parameters of scrypt follow from libsodium's two limits."""
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    operations, memory = int.from_bytes(limits[:8], "little"), int.from_bytes(limits[8:], "little")
    operations = max(operations, 1 << 15)
    by_time = operations < memory // 32
    most = operations // 32 if by_time else memory // 1024
    power = max(1, (most // 2).bit_length())
    parallel = 1 if by_time else min(0x3FFFFFFF, operations // 4 >> power) // 8
    if power > _MAX_SCRYPT or not 1 <= parallel <= 4:
        raise ConfigError("the secret key asks for too much memory or time")
    stream = Scrypt(salt, len(body), 1 << power, 8, parallel).derive(password.encode())
    return bytes(a ^ b for a, b in zip(body, stream, strict=True))


def _decode(line: str) -> bytes:
    """Return the bytes of a line of base64, none for another one."""
    try:
        return base64.b64decode(line, validate=True)
    except (binascii.Error, ValueError):
        return b""
