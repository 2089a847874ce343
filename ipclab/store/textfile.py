"""The text of a small file that a person writes."""

from pathlib import Path

MOST_TEXT = 1 << 20  # bytes of a file that a person writes


def file_text(file: Path) -> str:
    """Return the text of a small file.

    Raises `OSError`, and `ValueError` for one that is large or no text.
    """
    with file.open("rb") as opened:
        content = opened.read(MOST_TEXT + 1)
    if len(content) > MOST_TEXT:
        raise ValueError(f"it has more than {MOST_TEXT:,} bytes")
    return content.decode()
