"""A figure: a drawing with the words that stand for it where it cannot be seen."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ipclab.errors import LabError

MIME = "image/svg+xml"


@dataclass(frozen=True)
class Figure:
    """An SVG drawing, translated `alt` and `caption`, its file name without suffix, and its PNG if made."""

    svg: str
    png: Path | None
    alt: str
    caption: str
    name: str

    def __post_init__(self) -> None:
        """Raise LabError when there is no alt text."""
        if not self.alt.strip():
            raise LabError(f"figure {self.name!r}", "it has no alt text", "say in words what it shows")

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        words = {"alt": self.alt, "caption": self.caption, "name": self.name}
        return {MIME: self.svg, "text/plain": self.caption}, {MIME: words}
