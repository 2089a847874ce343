"""What a wheel holds beside the packages, which a checkout has at its root, lies below
`ipclab/shipped`.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIPPED = (
    "notebooks/*.ipynb",
    "data/published",
    "data/reference.ipclab",
    "data/compared.ipclab",
    "report.toml",
    "requirements.lock",
)


class Shipped(BuildHookInterface):  # type: ignore[misc]  # hatchling has no types
    """Adds these files to a wheel; an editable one finds them in its checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name them, before the wheel of that `version` ("standard" or "editable") is made."""
        if version == "standard":
            files = [
                path.relative_to(self.root)
                for shipped in SHIPPED
                for path in Path(self.root).glob(shipped)
            ]
            build_data["force_include"] |= {str(file): f"ipclab/shipped/{file}" for file in files}
