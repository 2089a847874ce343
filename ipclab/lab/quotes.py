"""What one notebook quotes of another: its figures, tables and kept values, out of the executed
notebook.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ipclab.errors import LabError, UsageError
from ipclab.lab import canvas, table
from ipclab.lab.data import Data
from ipclab.lab.parameters import read_notebook
from ipclab.paths import Paths
from ipclab.plugins import chosen
from ipclab.stats.quantity import Quantity
from ipclab.store.files import sha256
from ipclab.store.run import RunFolder

MIME = "application/vnd.ipclab.values+json"
TIMEOUT_S = 300.0
# what an executed notebook is made with
CODE = ".py", ".toml", ".csv", ".html", ".mplstyle"


@dataclass(frozen=True)
class Kept:
    """Values that a notebook keeps under their names; displayed as data that no page shows."""

    values: Mapping[str, Quantity | str]

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        told = {
            name: asdict(each) if isinstance(each, Quantity) else each
            for name, each in self.values.items()
        }
        return {MIME: told}


def _quantity(kept: Mapping[str, Any]) -> Quantity:
    """Return a quantity from what JSON made of it: an end that is infinite is a word there, a
    heat's number too.
    """
    ends = {name: None if kept[name] is None else float(kept[name]) for name in ("low", "high")}
    launches = {int(heat): value for heat, value in kept["launches"].items()}
    quotient = tuple(kept["quotient"]) if kept["quotient"] else None
    sources = tuple(kept["sources"])
    more = {"launches": launches, "quotient": quotient, "sources": sources}
    return Quantity(**{**kept, **ends, **more})


class Quoted:
    """What an executed notebook made: its figures and tables by name, and the values that it kept
    as attributes.
    """

    def __init__(
        self, name: str, outputs: list[tuple[Any, Any]], say: Callable[[str], str] = str
    ) -> None:
        kept = [each for data, _ in outputs for each in data.get(MIME, {}).items()]
        tables = [
            table.Table.from_json(data[table.MIME]) for data, _ in outputs if table.MIME in data
        ]
        drawn = [
            (data[canvas.MIME], more[canvas.MIME]) for data, more in outputs if canvas.MIME in data
        ]
        self._name, self._say = name, say
        self._values = {
            name: _quantity(each) if isinstance(each, dict) else each for name, each in kept
        }
        self._tables = {made.name or made.caption: made for made in tables}
        self._figures = {words["name"]: canvas.Figure(svg, **words) for svg, words in drawn}

    def figure(self, name: str, caption: str = "") -> canvas.Figure:
        """Return the figure `name`, with another `caption` (a msgid) if one is given.

        Raises `UsageError` with the nearest name when there is none.
        """
        found = chosen(f"figure of {self._name}", name, self._figures)
        return replace(found, caption=self._say(caption) if caption else found.caption)

    def table(self, name: str, caption: str = "") -> table.Table:
        """Return the table `name`, as `figure` does."""
        found = chosen(f"table of {self._name}", name, self._tables)
        return replace(found, caption=self._say(caption) if caption else found.caption)

    def __getattr__(self, name: str) -> Quantity | str:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(
                f"{self._name} keeps no {name!r}; it keeps {', '.join(self._values)}"
            )
        return self._values[name]


def notebooks(paths: Paths) -> dict[str, Path]:
    """Return the notebooks by name, a person's own last; raises `UsageError` for two of one name."""
    found = {file.stem: file for file in sorted(paths.notebooks.glob("*.ipynb"))}
    for file in sorted(paths.own.glob("*.ipynb")):
        if file.stem in found:
            raise UsageError(f"{file} has the name of another notebook", "", "rename it")
        found[file.stem] = file
    return found


def executed(paths: Paths, run: RunFolder, lang: str, notebook: str) -> Path:
    """Return where the executed `notebook` about `run` lies, in the language; the name tells what
    it was made from.
    """
    source = chosen("notebook", notebook, notebooks(paths))
    code = sorted(file for file in paths.package.rglob("*") if file.suffix in CODE)
    inputs = [
        source,
        *code,
        *sorted(paths.locale.glob(f"{lang}/*/*.po")),
        *sorted(paths.published.iterdir()),
    ]
    inputs += [paths.control] if paths.control.is_file() else []
    inputs += sorted(source.parent.glob("*.toml"))  # the claims of a person's own notebook
    stamp = hashlib.sha256("".join(map(sha256, inputs)).encode())
    stamp.update(repr(sorted(run.about["files"].items())).encode())
    return paths.data / "executed" / run.id / lang / f"{notebook}-{stamp.hexdigest()[:12]}.ipynb"


def quoted(lab: Data, notebook: str) -> Quoted:
    """Return what another notebook made of this run: figures and tables by name, and the values
    that it kept.

    It is executed when that was not done yet; raises `LabError` when it fails.

    >>> payload = lab.quoted("01_payload")
    >>> payload.figure("payload-bandwidth")       # and {payload.gain:x,interval} in prose
    """
    file = executed(lab.paths, lab.run, lab.words.lang, notebook)
    if not file.is_file():
        from ipclab.lab.execute import execute

        given = {"run": str(lab.run.path), "lang": lab.words.lang}
        execute(notebooks(lab.paths)[notebook], given, file, timeout_s=TIMEOUT_S)
    return read(file, notebook, lab.say)


def read(file: Path, notebook: str, say: Callable[[str], str] = str) -> Quoted:
    """Return what the executed `notebook` in a file holds; raises `LabError` when it shows nothing."""
    cells = read_notebook(file)["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", []) if "data" in output]
    if not outputs:
        raise LabError(f"{notebook} shows nothing", "it has no outputs", "execute it again")
    shown = [(output["data"], output.get("metadata", {})) for output in outputs]
    return Quoted(notebook, shown, say)
