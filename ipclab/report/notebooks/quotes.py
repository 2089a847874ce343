"""What a notebook quotes of another: figures, tables and kept values, once executed."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from ipclab.errors import LabError
from ipclab.frames.ratios import Ratios
from ipclab.lab import shell
from ipclab.lab.data import Data
from ipclab.lab.figure import Figure
from ipclab.lab.finding import Finding
from ipclab.lab.parameters import read_notebook
from ipclab.paths import Paths
from ipclab.plugins import chosen, code_files
from ipclab.stats.product import Ends, Part, Product, Run
from ipclab.stats.quantity import Quantity, with_product
from ipclab.store.files import sha256
from ipclab.store.run import RunFolder
from ipclab.tables.table import Table
from ipclab.words import output
from ipclab.words.catalogue import LOCALE, SOURCE
from ipclab.words.filling import variable_named
from ipclab.words.numbers import plain_value
from ipclab.words.sentences import sentence
from ipclab.words.words import Words

PRODUCT = "product"  # of a kept quantity: what it is made of
MIME = "application/vnd.ipclab.values+json"
# A number and its parts with their powers: name, whether it is of a run, value and interval,
# launches, time, logs, power
ToldProduct = tuple[float, list[tuple[str, bool, Ends, dict[int, float], int, bool, int]]]
TIMEOUT_S = 300.0
# what an executed notebook is made with
CODE = ".py", ".toml", ".csv", ".html", ".json", ".mplstyle"


@dataclass(frozen=True, repr=False)
class Kept:
    """Values that a notebook keeps under their names; displayed as data that no page shows."""

    values: Mapping[str, Quantity | str]
    words: Words = field(default_factory=partial(Words, SOURCE))

    def __repr__(self) -> str:
        return f"kept for other notebooks: {', '.join(self.values)}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value in self.values.items():
            if isinstance(value, Quantity):
                made = _parts(value.product) if value.low is not None else None
                values[name] = _plain({**asdict(value), PRODUCT: made})
            else:
                others = {other.lang: other.again(value) for other in self.words.others}
                values[name] = {output.SAID: {self.words.lang: value, **others}}
        return {MIME: values}


def _parts(product: Product) -> list[Any]:
    """Return what a product is made of, as `ToldProduct`; the same product is the same text."""
    factors = sorted(product.factors, key=lambda each: (each[0].name, each[1]))
    return [
        product.number,
        [
            [part.name, part.run is not None, part.ends, part.launches, part.time, part.logs, power]
            for part, power in factors
        ],
    ]


def _plain(data: Any) -> Any:
    """Return data that JSON can hold: numbers without end are words, which `_quantity` reads."""
    if isinstance(data, Mapping):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    return str(data) if isinstance(data, float) and not isfinite(data) else data


def keep(lab: Data, *names: str, **values: Any) -> Kept:
    """Keep the notebook's variables, other values and findings' texts for other notebooks.

    Nothing is shown.

    >>> ipclab.keep(lab, "past", "now", gain=past / now)
    """
    variables = {name: variable_named(name, shell.namespace()) for name in names}
    kept: dict[str, Quantity | str] = {}
    for name, value in {**variables, **values}.items():
        if isinstance(value, Finding):
            kept[name] = _noted(lab.words, partial(sentence, asdict(value)))
        else:
            kept[name] = plain_value(value)
    return Kept(kept, lab.words)


def _noted(words: Words, say: Callable[[Words], str]) -> str:
    """Return a text for a reader, and note what others are told."""
    return words.note(say(words), say)


def _said(kept: Mapping[str, Any], words: Words) -> str:
    return str(output.said(kept, words.lang))


class Quoted:
    """What an executed notebook made: figures, tables by name; kept values as attributes."""

    def __init__(
        self, name: str, outputs: list[Any], words: Words | None = None, run: Run | None = None
    ) -> None:
        self._name = name
        self._values: dict[str, Quantity | str] = {}
        self._tables: dict[str, Table] = {}
        self._figures: dict[str, Figure] = {}
        reader = words or Words(SOURCE)
        for data in outputs:
            for kept, value in data.get(MIME, {}).items():
                if output.SAID in value:
                    self._values[kept] = _noted(reader, partial(_said, value))
                else:
                    self._values[kept] = _quantity(value, run)
            shown = data.get(output.MIME)
            match output.kind_of(shown) if shown else "":
                case output.TABLE:
                    made = Table.of(shown, reader.lang)
                    self._tables[made.name or made.caption] = made
                case output.FIGURE:
                    self._figures[shown["name"]] = Figure.of(shown, reader.lang)

    def figure(self, name: str) -> Figure:
        """Return the figure `name`; `UsageError` with the nearest name when there is none."""
        return chosen(f"figure of {self._name}", name, self._figures)

    def table(self, name: str) -> Table:
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
    number, factors = msgspec.convert(told[PRODUCT], ToldProduct, strict=False)
    parts = set()
    for name, of_run, ends, launches, time, logs, power in factors:
        parts.add((Part(name, run if of_run else None, ends, launches, time, logs), power))
    return with_product(quantity, Product(number, frozenset(parts)))


def notebooks(paths: Paths) -> dict[str, Path]:
    """Return notebooks by name, a person's own last; one that has the name of ours is none."""
    files = [*sorted(paths.notebooks.glob("*.ipynb")), *sorted(paths.own.glob("*.ipynb"))]
    by_name: dict[str, Path] = {}
    for file in files:
        by_name.setdefault(file.stem, file)
    return by_name


def twins(paths: Paths) -> list[LabError]:
    """Return what is wrong with a person's own notebooks that have the name of another."""
    own = {*paths.own.glob("*.ipynb")} - {*notebooks(paths).values()}
    return [
        LabError(f"{file} has the name of another notebook", "", "rename it")
        for file in sorted(own)
    ]


def executed(paths: Paths, run: RunFolder, langs: Sequence[str], notebook: str) -> Path:
    """Return where the `notebook` about `run`, executed for readers of `langs`, lies.

    Its name tells its sources.
    """
    source = chosen("notebook", notebook, notebooks(paths))
    inputs = [
        source,
        *(file for files in code_files(CODE).values() for file in files),
        *(file for lang in langs for file in sorted(LOCALE.glob(f"{lang}/*/*.po"))),
        *sorted(paths.published.iterdir()),
        *filter(Path.is_file, [paths.control]),
        *sorted(source.parent.glob("*.toml")),  # the claims of a person's own notebook
    ]
    stamp = hashlib.sha256("".join(map(sha256, inputs)).encode())
    stamp.update(repr(sorted(run.about["files"].items())).encode())
    folder = paths.data / "executed" / run.id / "-".join(langs) / notebook
    return folder / f"{stamp.hexdigest()[:12]}.ipynb"


def quoted(lab: Data, notebook: str) -> Quoted:
    """Return what another notebook made of this run: figures, tables, and kept values.

    It is executed when that was not done yet; raises `LabError` when it fails.

    >>> payload = ipclab.quoted(lab, "01_payload")
    >>> payload.figure("payload-bandwidth")  # and payload.gain is a value
    """
    file = executed(lab.paths, lab.run, lab.words.langs, notebook)
    if not file.is_file():
        from ipclab.report.notebooks.execute import execute  # papermill takes half a second

        given = {"run": str(lab.run.path), "lang": ",".join(lab.words.langs)}
        execute(notebooks(lab.paths)[notebook], given, file, timeout_s=TIMEOUT_S)
    return read_quoted(file, notebook, lab.words, Ratios(lab.run))


def read_quoted(
    file: Path, notebook: str, words: Words | None = None, run: Run | None = None
) -> Quoted:
    """Return what the executed `notebook` about `run` holds; `LabError` when it shows nothing."""
    cells = read_notebook(file)["cells"]
    shown = [each["data"] for cell in cells for each in cell.get("outputs", []) if "data" in each]
    if not shown:
        raise LabError(f"{notebook} shows nothing", "it has no outputs", "execute it again")
    return Quoted(notebook, shown, words, run)
