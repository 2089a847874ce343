"""Payloads whose every byte is known from a seed and a sequence number, to be checked."""

import hashlib
from collections.abc import Sequence

import numpy as np

from ipclab.errors import LabError


class PayloadError(LabError):
    """Data were lost, torn, repeated or reordered on the way."""


def payload(seed: int, sequence: int, size: int) -> bytes:
    """Return message number `sequence` of `size` bytes; above 8 bytes no two are the same."""
    words = np.random.PCG64([seed, sequence]).random_raw(size // 8 + 1)
    return words.tobytes()[:size]


def digest(data: bytes | bytearray | memoryview) -> str:
    """Return the digest of every byte of `data` (BLAKE2b, 16 bytes, hex)."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def check(seed: int, size: int, seen: Sequence[str], count: int) -> None:
    """Compare the digests `seen` at the far end with messages 0 to `count` - 1.

    Raises `PayloadError` that names the first message which differs and, where it can be told, how.
    """
    expected = [digest(payload(seed, sequence, size)) for sequence in range(count)]
    if len(seen) != count:
        raise PayloadError(
            f"{len(seen)} of {count} messages arrived", "messages were lost or repeated"
        )
    for sequence, (want, got) in enumerate(zip(expected, seen, strict=True)):
        if want != got:
            how = (
                f"it is message {expected.index(got)}"
                if got in expected
                else "its bytes are torn or altered"
            )
            raise PayloadError(f"message {sequence} of {count} arrived wrong", how)
