"""The answer to a need as a document: `notebooks/choose.ipynb` in each language and format."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ipclab.choose.need import Need
from ipclab.measure.progress import Progress
from ipclab.paths import Paths
from ipclab.render.report import Job, Target, check_names, check_out, check_words, run_jobs
from ipclab.store.run import RunFolder

FOLDER = "choose"  # below the reports


def report(
    paths: Paths, run: RunFolder, need: Need, langs: Sequence[str], formats: Sequence[str], out: Path | None,
    progress: Progress,
) -> list[Path]:  # fmt: skip
    """Render what `run` says of `need` below `out`/<lang>, return the files.

    Raises `UsageError` for an unknown language or format and `LabError` when the notebook fails.
    """
    target = (out or paths.reports / FOLDER).resolve()
    check_names(langs, formats)
    check_out(target)
    check_words(langs)
    run.checked()
    notebook, told = paths.notebooks / "choose.ipynb", {"run": str(run.path), "need": json.dumps(need.told())}
    about: dict[str, Any] = {"date": run.about["begun"], "run": run.id}
    folder, in_lang = paths.data / "executed" / FOLDER, [(lang, {"lang": lang}) for lang in langs]
    jobs = [Job(notebook, lang, folder / lang / notebook.name, told | name, about | name) for lang, name in in_lang]
    return run_jobs([jobs], Target(tuple(formats), target, target / "figures"), progress)
