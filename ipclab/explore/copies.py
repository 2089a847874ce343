"""Working copies of the notebooks, with what they show of the newest complete run, for JupyterLab.

What a reader changes while exploring never becomes part of the reports.
"""

import json
import sys
from pathlib import Path
from typing import Any

from ipclab.errors import LabError
from ipclab.lab.catalogue import LANGUAGES, SOURCE, Catalogue
from ipclab.lab.parameters import KEEP_IN_LAB, TAG, read_notebook
from ipclab.lab.prose import translated
from ipclab.lab.quotes import made
from ipclab.lab.runs import choose
from ipclab.measure.progress import Progress
from ipclab.paths import Paths, checkout
from ipclab.plugins import chosen
from ipclab.render.report import report
from ipclab.store.files import dump_json, sha256, write_whole

NOTED = (  # in the folder of the copies: of each, the digests of its source and of the copy as made
    ".sources.json"
)
INDEX = "index"  # the notebook that says which one answers what; no page of a report
DEFAULT = 'lang: str = "{}"'  # among the parameters of each notebook
INJECTED = "injected-parameters"  # papermill's own cell


def refresh(paths: Paths, executed: dict[str, Path], lang: str = SOURCE) -> list[str]:
    """Copy every notebook into `notebooks/work`; return the names of those that are behind.

    Copies that were changed are left as they are. A copy has its narrative and its parameter `lang`
    in the reader's language, and the outputs of the `executed` notebook of its name, where there is
    one. Raises UsageError for an unknown language.
    """
    words = Catalogue.load(lang)
    folder = paths.work
    file = folder / NOTED
    noted = json.loads(file.read_text()) if file.is_file() else {}
    behind = []
    for source in sorted(paths.notebooks.glob("*.ipynb")):
        copy = folder / source.name
        digest = sha256(source)
        was_source, was_copy = noted.get(source.name, ("", ""))
        if not copy.is_file() or sha256(copy) == was_copy:
            _write(copy, source, executed.get(source.stem), words)
            noted[source.name] = [digest, sha256(copy)]
        elif was_source != digest:
            behind.append(source.name)
    write_whole(file, dump_json(noted))
    return behind


def _write(copy: Path, source: Path, executed: Path | None, words: Catalogue) -> None:
    """Write a copy with the executed outputs, which JupyterLab trusts: we made both."""
    from nbformat.sign import NotebookNotary

    from ipclab.lab.nb import nbformat

    notebook: Any = nbformat.read(source, as_version=4)  # type: ignore[no-untyped-call]
    if executed:
        cells = read_notebook(executed)["cells"]
        own = [cell for cell in cells if INJECTED not in cell["metadata"].get("tags", [])]
        for cell, shown in zip(notebook.cells, own, strict=True):
            if cell.cell_type == "code":
                cell.outputs = nbformat.from_dict(shown["outputs"])  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if TAG in tags:
            cell.source = cell.source.replace(DEFAULT.format(SOURCE), DEFAULT.format(words.lang))
        elif cell.cell_type == "markdown" and KEEP_IN_LAB not in tags:
            cell.source = translated(cell.source, words.translate)
    write_whole(copy, nbformat.writes(notebook).encode())  # type: ignore[no-untyped-call]
    NotebookNotary().sign(notebook)  # type: ignore[no-untyped-call]


def shown(paths: Paths, lang: str = SOURCE) -> dict[str, Path]:
    """Return the notebooks executed on the newest complete run, by name; current ones as is.

    Empty where there is no run, or it cannot be shown: a reader can explore all the same.
    """
    try:
        run = choose(paths)
        progress = Progress(shown=True)
        progress.say(f"what the notebooks show of {run.id} is prepared; the next time it is there")
        files = report(paths, run, [lang], ["ipynb"], paths.data / "shown", progress)
        index = made(paths, run, lang, INDEX)
    except LabError as error:
        print(f"ipclab: the notebooks open without results: {error}", file=sys.stderr)
        return {}
    return {file.stem: file for file in files if file.suffix == ".ipynb"} | {INDEX: index}


def main(lang: str = SOURCE) -> None:
    """Prepare the copies for readers of `lang`, and name those that are behind."""
    chosen("language", lang, LANGUAGES)
    for name in refresh(checkout(), shown(checkout(), lang), lang):
        why = f"notebooks/work/{name} is yours and older than its source"
        print(f"ipclab: {why}; remove it to get the new one", file=sys.stderr)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:2])
    except LabError as error:
        print(f"ipclab: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from error
