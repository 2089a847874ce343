"""The run described as an RO-Crate, so that an archive can index it; `crate.jinja` says what stands in it.

Made here: it is one JSON file, and `rocrate` stamps times and random names into what must be the same bytes.
"""

import datetime as dt
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment

from ipclab.store.bundle.contents import Entry
from ipclab.store.files import dump_json

SHOWN = ("cpu_model", "cores", "threads", "memory_installed", "kernel_release", "architecture", "virtualisation")


def crate(run: str, about: Mapping[str, Any], files: Iterable[Entry]) -> bytes:
    """Return `ro-crate-metadata.json` of the run called `run`; the same bytes for the same run."""
    text = Path(__file__).with_suffix(".jinja").read_text(encoding="utf-8")
    facts, begun = about["machine"]["facts"], dt.datetime.fromisoformat(about["begun"])
    shown = [(name, facts[name]) for name in SHOWN if facts.get(name) is not None]
    template = Environment(autoescape=False).from_string(text)
    entries = sorted(files, key=lambda entry: entry.name)
    return dump_json(json.loads(template.render(run=run, about=about, begun=begun, files=entries, shown=shown)))
