"""Messages that both ends of a test know: random bytes by a seed and a number."""

import numpy as np


def payload(seed: int, sequence: int, size: int) -> bytes:
    """Return message number `sequence` of `size` bytes; above 8 bytes no two are the same."""
    words = np.random.PCG64([seed, sequence]).random_raw(size // 8 + 1)
    return words.tobytes()[:size]
