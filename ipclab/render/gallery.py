"""The gallery: what the committed reference run gives, for readers who have not run anything yet.

`python -m ipclab.render.gallery` (`make gallery`) renders the reference run and writes
`docs/gallery`: the appendix as PDF in each language and as one page of HTML, its first pages and
some figures as small pictures, a page that shows them, and what it was made from. The pictures of
the READMEs are renewed with it.
"""

import hashlib
import io
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment

from ipclab.errors import LabError
from ipclab.lab.canvas import MIME
from ipclab.lab.catalogue import LANGUAGES
from ipclab.lab.parameters import read_notebook
from ipclab.paths import Paths, checkout
from ipclab.render import document
from ipclab.render.exporters import ReportHTMLExporter
from ipclab.render.report import TONGUES, report
from ipclab.render.staleness import MANIFEST, digests, inputs, read_manifest
from ipclab.render.typeset import compiled
from ipclab.spawn.ledger import private
from ipclab.store.bundle import opened
from ipclab.store.files import dump_json, sha256, write_whole

APPENDIX, PAGE = "00_appendix", "README.md"
FIGURES = (
    "payload-then-now",
    "payload-write-time",
    "payload-bandwidth",
    "shared-dict-write",
    "shared-dict-stream",
    "multiplexer-sides",
    "round-trip-latency",
    "round-trip-ranking",
    "file-io-states",
    "file-io-timeline",
    "stream-throughput",
    "stream-cost",
    "claims-glance",
)
ON_README = "payload-then-now"  # in each language, as SVG
COLOURS, PIXELS = 64, 900  # of a picture
PAGE_PPI = 80


class _Manifest(msgspec.Struct):
    inputs: dict[str, str]  # digests by kind
    made: dict[str, str]  # digests by name


def make(paths: Paths, progress: Any) -> list[Path]:
    """Render the reference run and write the gallery; return its files. Raises as `report`."""
    run = opened(paths, paths.reference)
    folder = folder_of(paths)
    with private(paths.ledger) as out:
        report(paths, run, [*LANGUAGES], ("pdf", "ipynb"), out, progress)
        files: dict[str, bytes] = {}
        for lang in LANGUAGES:
            files[f"appendix.{lang}.pdf"] = (out / lang / f"{APPENDIX}.pdf").read_bytes()
            appendix = out / lang / f"{APPENDIX}.ipynb"
            read = document.read(read_notebook(appendix), appendix.parent)
            read.links = ()  # the gallery has no pages beside it
            pages = compiled(read, format="png", ppi=PAGE_PPI)
            files[f"appendix.{lang}.png"] = small(pages if isinstance(pages, bytes) else pages[0])
            if lang == "en":
                files["appendix.en.html"] = ReportHTMLExporter().convert(read).encode()  # type: ignore[no-untyped-call]
            picture = out / "figures" / f"{ON_README}.{lang}.svg"
            write_whole(paths.root / "docs" / picture.name, picture.read_bytes())
        drawn: dict[str, Any] = {}
        for notebook in sorted((out / "en").glob("*.ipynb")):
            drawn.update(_figures(notebook))
        kept = {name: drawn[name] for name in FIGURES if name in drawn}
        for name in kept:
            files[f"{name}.png"] = small((out / "figures" / f"{name}.en.png").read_bytes())
    files[PAGE] = page(run.id, kept).encode()
    for name, content in files.items():
        write_whole(folder / name, content)
    for file in folder.iterdir():
        if file.name not in (*files, MANIFEST):
            file.unlink()
    made = [folder / name for name in files]
    about = {"inputs": sources(paths), "made": digests(folder, made)}
    write_whole(folder / MANIFEST, dump_json(about))
    return [*made, folder / MANIFEST]


def folder_of(paths: Paths) -> Path:
    """Return where the gallery lies."""
    return paths.root / "docs" / "gallery"


def sources(paths: Paths) -> dict[str, str]:
    """Return one digest for each kind of source: data, code, words, lock, claims."""
    by_kind = inputs(paths, [])
    by_kind["data"]["reference"] = sha256(paths.reference)
    return {kind: hashlib.sha256(dump_json(of)).hexdigest() for kind, of in by_kind.items()}


def stale(paths: Paths) -> list[str]:
    """Return one line for each cause why the gallery is not what the reference run gives today."""
    if paths.user:
        return []  # only a checkout has one
    file = folder_of(paths) / MANIFEST
    about = read_manifest(file, _Manifest)
    if about is None:
        cause = f"{file} cannot be read" if file.is_file() else "it was not made"
        return [f"gallery: {cause}: make gallery"]
    changed = sources(paths).items() - about.inputs.items()
    causes = [f"{kind} changed since it was made" for kind, _ in sorted(changed)]
    present = digests(file.parent, [file.parent / name for name in about.made])
    lost = about.made.items() - present.items()
    causes += [f"{name} is not what was made" for name, _ in sorted(lost)]
    return [f"gallery: {cause}: make gallery" for cause in causes]


def page(run: str, figures: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the gallery's page in Markdown; `figures` holds the words of each by name."""
    template = files("ipclab.render").joinpath("templates/gallery.md").read_text("utf-8")
    environment = Environment(autoescape=False, trim_blocks=True, keep_trailing_newline=True)
    return environment.from_string(template).render(
        run=run, figures=figures, languages=TONGUES.items()
    )


def small(png: bytes) -> bytes:
    """Return a picture with few colours, no wider than the page of a README."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as picture:
        image = picture.convert("RGB")
    image.thumbnail((PIXELS, 4 * PIXELS), Image.Resampling.LANCZOS)
    content = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(content, "PNG", optimize=True)
    return content.getvalue()


def _figures(notebook: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and words of each figure that an executed notebook draws."""
    for cell in read_notebook(notebook)["cells"]:
        for output in cell.get("outputs", []):
            if (words := output.get("metadata", {}).get(MIME, {})).get("drawn"):
                yield words["name"], words


if __name__ == "__main__":
    from ipclab.measure.progress import Progress

    try:
        for made in make(checkout(), Progress(shown=True)):
            sys.stdout.write(f"{made.relative_to(checkout().root)} {made.stat().st_size:,} B\n")
    except LabError as error:
        raise SystemExit(f"ipclab: {error}") from error
