"""What the frames of a run follow from: its samples, what it asks, and the code that derives them."""

import hashlib
from functools import cache
from pathlib import Path

import pandas as pd
import pyarrow as pa

from ipclab.store.files import sha256
from ipclab.store.run import RunFolder

# What values are told with
TOLD = "begun", "finished", "parameters", "machine", "sessions", "thinned"
# What frames depend on beside the samples.
CODE = "frames", "stats", "store"


def frames_digest(run: RunFolder, study: str) -> str:
    """Return a digest of what the frames of `study` follow from: samples, contests and code."""
    digests = run.about["files"]
    samples = sorted(f"{name} {digests[name]}" for name in run.points(study))
    questions = run.questions
    told = [run.about.get(name) for name in TOLD]
    asked = f"{study} {questions.same} {questions.of(study).races} {told}"
    return hashlib.sha256("\n".join([_code(), asked, *samples]).encode()).hexdigest()


@cache
def _code() -> str:
    package = Path(__file__).parents[1]
    files = {file for name in CODE for file in (package / name).rglob("*")}
    kept = sorted(file for file in files if file.suffix in (".py", ".toml"))
    writers = f"{pd.__version__} {pa.__version__}"
    return hashlib.sha256("".join([writers, *map(sha256, kept)]).encode()).hexdigest()
