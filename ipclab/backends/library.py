"""What a mechanism rests on that need not be installed."""

import importlib
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, ClassVar

from ipclab.paths import typed


class Library:
    """The module of a package that need not be installed, imported when it is first used.

    A process that only asks which mechanisms there are has none of its threads and memory.
    """

    known: ClassVar[list["Library"]] = []

    def __init__(self, package: str, module: str) -> None:
        self._package, self._module = package, module
        self.known.append(self)

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self._module), name)
        setattr(self, name, value)  # found at once from now on: timed loops ask, too
        return value

    def missing(self) -> str | None:
        """Return why a mechanism that rests on it cannot be used here, a backend's `missing`."""
        if find_spec(self._module):
            return None
        return f"the package {self._package} is not installed: {typed('setup')}"

    def load(self) -> None:
        """Import it, if that can be done: processes that are forked afterwards have it."""
        with suppress(ImportError):
            importlib.import_module(self._module)
