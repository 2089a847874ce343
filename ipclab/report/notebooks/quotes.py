"""What a notebook quotes of another: figures, tables and kept values, once executed."""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from ipclab.errors import LabError, UsageError
from ipclab.lab.figure import FIGURE_MIME, PNG, Figure
from ipclab.paths import Paths
from ipclab.plugins import chosen
from ipclab.report.notebooks.formdata import Data as ProductData
from ipclab.report.notebooks.formdata import as_data, of_data
from ipclab.report.notebooks.parameters import read_notebook
from ipclab.stats.product import Run
from ipclab.stats.quantity import Quantity, with_product
from ipclab.store.files import sha256
from ipclab.store.run import RunFolder
from ipclab.tables import table
from ipclab.words.ours import LOCALE, control_file, packages

PRODUCT = "product"  # of a kept quantity: what it is made of
MIME = "application/vnd.ipclab.values+json"
TIMEOUT_S = 300.0
# what an executed notebook is made with
CODE = ".py", ".toml", ".csv", ".html", ".json", ".mplstyle"


@dataclass(frozen=True)
class Kept:
    """Values that a notebook keeps under their names; displayed as data that no page shows."""

    values: Mapping[str, Quantity | str]

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value in self.values.items():
            values[name] = value
            if isinstance(value, Quantity):
                made = as_data(value.product) if value.low is not None else None
                values[name] = {**asdict(value), PRODUCT: made}
        return {MIME: values}


class Quoted:
    """What an executed notebook made: figures, tables by name; kept values as attributes."""

    def __init__(
        self,
        name: str,
        outputs: list[tuple[Any, Any]],
        run: Run | None = None,
    ) -> None:
        self._name = name
        self._values: dict[str, Quantity | str] = {}
        self._tables: dict[str, table.Table] = {}
        self._figures: dict[str, Figure] = {}
        for data, metadata in outputs:
            for kept, value in data.get(MIME, {}).items():
                self._values[kept] = _quantity(value, run) if isinstance(value, dict) else value
            if table.MIME in data:
                made = msgspec.convert(data[table.MIME], table.Table)
                self._tables[made.name or made.caption] = made
            if FIGURE_MIME in data:
                words = metadata[FIGURE_MIME]
                self._figures[words["name"]] = Figure(
                    data[FIGURE_MIME], **words, png=data.get(PNG, "")
                )

    def figure(self, name: str) -> Figure:
        """Return the figure `name`; `UsageError` with the nearest name when there is none."""
        return chosen(f"figure of {self._name}", name, self._figures)

    def table(self, name: str) -> table.Table:
        """Return the table `name`, as `figure` does."""
        return chosen(f"table of {self._name}", name, self._tables)

    def __getattr__(self, name: str) -> Quantity | str:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(
                f"{self._name} keeps no {name!r}; it keeps {', '.join(self._values)}"
            )
        return self._values[name]


def _quantity(told: dict[str, Any], run: Run | None) -> Quantity:
    """Return a kept quantity, made of what it was made of; its parts are of `run`.

    JSON has made words of infinite ends and of the heats' numbers.
    """
    quantity = msgspec.convert(told, Quantity, strict=False)
    if told.get(PRODUCT) is None:
        return quantity
    made = of_data(msgspec.convert(told[PRODUCT], ProductData, strict=False), run)
    return with_product(quantity, made)


def notebooks(paths: Paths) -> dict[str, Path]:
    """Return notebooks by name, a person's own last; `UsageError` for two of one name."""
    by_name = {file.stem: file for file in sorted(paths.notebooks.glob("*.ipynb"))}
    for file in sorted(paths.own.glob("*.ipynb")):
        if file.stem in by_name:
            raise UsageError(f"{file} has the name of another notebook", "", "rename it")
        by_name[file.stem] = file
    return by_name


def code(paths: Paths, suffixes: Collection[str]) -> Iterator[Path]:
    """Yield the files with one of `suffixes` that our packages consist of, in a fixed order."""
    for package in packages():
        yield from sorted(file for file in package.rglob("*") if file.suffix in suffixes)


def executed(paths: Paths, run: RunFolder, lang: str, notebook: str) -> Path:
    """Return where the executed `notebook` about `run` lies; its name tells its sources."""
    source = chosen("notebook", notebook, notebooks(paths))
    inputs = [
        source,
        *code(paths, CODE),
        *sorted(LOCALE.glob(f"{lang}/*/*.po")),
        *sorted(paths.published.iterdir()),
        *filter(Path.is_file, [control_file(paths)]),
        *sorted(source.parent.glob("*.toml")),  # the claims of a person's own notebook
    ]
    stamp = hashlib.sha256("".join(map(sha256, inputs)).encode())
    stamp.update(repr(sorted(run.about["files"].items())).encode())
    return paths.data / "executed" / run.id / lang / f"{notebook}-{stamp.hexdigest()[:12]}.ipynb"


def executed_notebook(paths: Paths, run: RunFolder, lang: str, notebook: str) -> Path:
    """Return where the executed `notebook` lies, and execute it when that was not done yet."""
    file = executed(paths, run, lang, notebook)
    if not file.is_file():
        from ipclab.report.notebooks.execute import execute  # papermill takes half a second

        given = {"run": str(run.path), "lang": lang}
        execute(notebooks(paths)[notebook], given, file, timeout_s=TIMEOUT_S)
    return file


def read_quoted(file: Path, notebook: str, run: Run | None = None) -> Quoted:
    """Return what the executed `notebook` about `run` holds; `LabError` when it shows nothing."""
    cells = read_notebook(file)["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", []) if "data" in output]
    if not outputs:
        raise LabError(f"{notebook} shows nothing", "it has no outputs", "execute it again")
    shown = [(output["data"], output.get("metadata", {})) for output in outputs]
    return Quoted(notebook, shown, run)
