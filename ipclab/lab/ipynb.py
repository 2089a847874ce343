"""Notebook files as plain data: nbformat takes two seconds to import, which only execution needs."""

import json
from pathlib import Path
from typing import Any

from ipclab.errors import UsageError


def read(path: Path) -> dict[str, Any]:
    """Return a notebook of format 4 with its split texts joined. Raises UsageError when it is none."""
    try:
        notebook = json.loads(path.read_text("utf-8"))
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])
            for output in cell.get("outputs", []):
                output["data"] = {kind: _joined(data) for kind, data in output.get("data", {}).items()}
    except OSError as error:
        raise UsageError(f"cannot read notebook {path}", error.strerror or str(error)) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path.name} is no notebook", "it is not JSON with cells") from error
    return dict(notebook)


def _joined(data: Any) -> Any:
    return "".join(data) if isinstance(data, list) and all(isinstance(line, str) for line in data) else data
