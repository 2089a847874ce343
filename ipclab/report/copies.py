"""Working copies of the notebooks, with what they show of the newest complete run, for JupyterLab.

What a reader changes while exploring never becomes part of the reports. A copy is a reader's own
when its cells are not those that it was made with: JupyterLab saves what is merely opened, and
running cells changes what they show.
"""

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ipclab.errors import LabError, UsageError
from ipclab.lab.runs import choose
from ipclab.paths import Paths, checkout
from ipclab.plugins import chosen
from ipclab.prose.prose import translated
from ipclab.report.notebooks.parameters import KEEP_IN_LAB, TAG, fault, read_notebook
from ipclab.report.notebooks.quotes import executed_notebook
from ipclab.report.pages.report import render_run
from ipclab.session.progress import Progress
from ipclab.store.files import dump_json, write_whole
from ipclab.words.catalogue import LANGUAGES, SOURCE, Catalogue

NOTED = ".cells.json"  # in the folder of the copies: of each, the digest of its cells as made
KERNEL = "python3"
INDEX = "index"  # the notebook that says which one answers what; no page of a report
DEFAULT = 'lang: str = "{}"'  # among the parameters of each notebook
INJECTED = "injected-parameters"  # papermill's own cell


def refresh(paths: Paths, executed: dict[str, Path], lang: str = SOURCE) -> list[str]:
    """Copy every notebook into `notebooks/work`; return the names of those that are kept.

    Copies whose cells a reader changed are left as they are. A copy has its narrative and its parameter `lang`
    in the reader's language, and the outputs of the `executed` notebook of its name, where there is
    one. Raises UsageError for an unknown language.
    """
    words = Catalogue.load(lang)
    folder = paths.home / "notebooks/work"
    file = folder / NOTED
    noted = json.loads(file.read_text()) if file.is_file() else {}
    kept = []
    for source in sorted(paths.notebooks.glob("*.ipynb")):
        if fault(source):
            continue  # a stray one, which a report names
        copy = folder / source.name
        made = _made(source, executed.get(source.stem), words)
        asis = noted.get(source.name), _digest(made)
        if not copy.is_file() or _digest_of(copy) in asis:
            _write(copy, made)
            noted[source.name] = _digest(made)
        else:
            kept.append(source.name)
    write_whole(file, dump_json(noted))
    return kept


def _digest_of(copy: Path) -> str:
    """Return the digest of a copy's cells; "" where it is no notebook."""
    try:
        return _digest(read_notebook(copy))
    except UsageError:
        return ""


def _digest(notebook: Mapping[str, Any]) -> str:
    """Return the digest of what a reader can change: the kinds and the texts of the cells."""
    cells = [(cell["cell_type"], cell["source"]) for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def _made(source: Path, executed: Path | None, words: Catalogue) -> Any:
    """Return a notebook for readers of `words`, with the executed outputs.

    Its metadata are those that JupyterLab writes when it is opened.
    """
    from ipykernel.ipkernel import IPythonKernel
    from jupyter_client.kernelspec import get_kernel_spec

    from ipclab.report.notebooks.nb import nbformat

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
    spec = get_kernel_spec(KERNEL)
    called = {"display_name": spec.display_name, "language": spec.language, "name": KERNEL}
    notebook.metadata.update(kernelspec=called, language_info=IPythonKernel.language_info)
    return notebook


def _write(copy: Path, notebook: Any) -> None:
    """Write a copy, which JupyterLab trusts: we made it and what it shows."""
    from nbformat.sign import NotebookNotary

    from ipclab.report.notebooks.nb import nbformat

    write_whole(copy, nbformat.writes(notebook).encode())  # type: ignore[no-untyped-call]
    NotebookNotary().sign(notebook)  # type: ignore[no-untyped-call]


def shown_copies(paths: Paths, lang: str = SOURCE) -> dict[str, Path]:
    """Return the notebooks executed on the newest complete run, by name; current ones as is.

    Empty where there is no run, or it cannot be shown: a reader can explore all the same.
    """
    try:
        run = choose(paths)
        progress = Progress(shown=True)
        progress.say(f"what the notebooks show of {run.id} is prepared; the next time it is there")
        files = render_run(paths, run, [lang], ["ipynb"], paths.data / "shown", progress)
        index = executed_notebook(paths, run, lang, INDEX)
    except LabError as error:
        print(f"ipclab: the notebooks open without results: {error}", file=sys.stderr)
        return {}
    return {file.stem: file for file in files if file.suffix == ".ipynb"} | {INDEX: index}


def main(lang: str = SOURCE) -> None:
    """Prepare the copies for readers of `lang`, and name those that are kept."""
    chosen("language", lang, LANGUAGES)
    for name in refresh(checkout(), shown_copies(checkout(), lang), lang):
        why = f"notebooks/work/{name} is kept with its results and language: its cells are yours"
        print(f"ipclab: {why}; remove it to get the new one", file=sys.stderr)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:2])
    except LabError as error:
        print(f"ipclab: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from error
