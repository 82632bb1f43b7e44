"""Texts as the built catalogue holds them, and the numbers by which it finds them."""

from __future__ import annotations

import hashlib


def clean(text: str) -> str:
    """Text that SQLite can hold: it refuses lone surrogates, which a Python literal may hold, and its functions end at a NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def text_key(text: str) -> int:
    """A number for a text, as SQLite holds it: 64 bits, signed."""
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), signed=True)
