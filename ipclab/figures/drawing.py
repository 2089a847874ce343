"""A figure as the registries hold it."""

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.figure import Figure as Canvas

from ipclab.view import View


@dataclass(frozen=True)
class Drawing:
    """One figure; `caption` and `alt` are msgids, `width` and `height` inches."""

    draw: Callable[[View, Canvas], None]
    width: float
    height: float
    caption: str
    alt: str
