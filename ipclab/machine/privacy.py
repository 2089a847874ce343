"""Hide what names the host, its owner or its network in text that will be stored and published."""

import re

_DROPPED_LINE = re.compile(r"^\s*(serial|uuid|machine.?id|hostname)\b[^\n]*(\n|$)", re.IGNORECASE | re.MULTILINE)
_NAMES = (
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "<uuid>"),
    (re.compile(r"(?<![\w:])(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?![\w:])", re.IGNORECASE), "<mac>"),
    # Not followed by "-", or the kernel release "a.b.c.d-flavour" would be taken for an address.
    (re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w.-])"), "<ip>"),
)


def scrub(text: str, host: str) -> str:
    """Return `text` without serial numbers, UUIDs, MAC and IPv4 addresses and the host's (short) name."""
    text = _DROPPED_LINE.sub("", text)
    for pattern, mark in _NAMES:
        text = pattern.sub(mark, text)
    for name in filter(None, (host, host.partition(".")[0])):  # the long one first, or its domain would stay
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", "<host>", text)
    return text
