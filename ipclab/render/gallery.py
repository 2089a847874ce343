"""The gallery: what the committed reference run gives, for readers who have not run anything yet.

`python -m ipclab.render.gallery` (`make gallery`) renders the reference run and writes `docs/gallery`: the appendix as
PDF in each language and as one page of HTML, its first pages and some figures as small pictures, a page that shows
them, and what it was made from. The pictures of the READMEs are renewed with it.
"""

import io
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from ipclab.errors import LabError
from ipclab.lab.canvas import MIME
from ipclab.lab.catalogue import LANGUAGES
from ipclab.paths import Paths, checkout
from ipclab.render import document, typst
from ipclab.render.exporters import ReportHTMLExporter
from ipclab.render.report import report
from ipclab.render.staleness import MANIFEST, inputs
from ipclab.store.bundle import opened
from ipclab.store.files import dump_json, sha256, write_whole

APPENDIX, PAGE = "00_appendix", "README.md"
FIGURES = {  # by the notebook that draws them
    "01_payload": ("payload-then-now", "payload-write-time", "payload-bandwidth"),
    "02_shared_dict": ("shared-dict-write", "shared-dict-shares"),
    "03_multiplexer": ("multiplexer-sides",),
    "04_round_trip": ("round-trip-latency", "round-trip-ranking"),
    "05_file_io": ("file-io-states", "file-io-timeline"),
    "06_stream": ("stream-throughput", "stream-cost"),
    "claims": ("claims-glance",),
}
ON_README = "payload-then-now"  # in each language, as SVG
COLOURS, PIXELS = 64, 900  # of a picture
PAGE_PPI = 80


def make(paths: Paths, progress: Any) -> list[Path]:
    """Render the reference run and write the gallery; return its files. Raises what `report` raises."""
    run, folder = opened(paths, paths.reference), folder_of(paths)
    with TemporaryDirectory(prefix="ipclab-gallery-") as place:
        out = Path(place)
        report(paths, run, LANGUAGES, ("pdf", "ipynb"), out, progress)
        found: dict[str, bytes] = {}
        for lang in LANGUAGES:
            found[f"appendix.{lang}.pdf"] = (out / lang / f"{APPENDIX}.pdf").read_bytes()
            told = _read(out / lang / f"{APPENDIX}.ipynb")
            found[f"appendix.{lang}.png"] = small(typst.first_page(told, PAGE_PPI))
            if lang == "en":
                found["appendix.en.html"] = ReportHTMLExporter().convert(told).encode()  # type: ignore[no-untyped-call]
            drawn = out / "figures" / f"{ON_README}.{lang}.svg"
            write_whole(paths.root / "docs" / drawn.name, drawn.read_bytes())
        books = filter(Path.is_file, (out / "en" / f"{book}.ipynb" for book in FIGURES))
        shown = {name: words for book in books for name, words in _figures(book).items()}
        kept = {name: shown[name] for names in FIGURES.values() for name in names if shown.get(name, {}).get("drawn")}
        for name in kept:
            found[f"{name}.png"] = small((out / "figures" / f"{name}.en.png").read_bytes())
    found[PAGE] = page(run.id, kept).encode()
    for name, content in found.items():
        write_whole(folder / name, content)
    for file in folder.iterdir():
        if file.name not in (*found, MANIFEST):
            file.unlink()
    digests = {name: sha256(folder / name) for name in found}
    write_whole(folder / MANIFEST, dump_json({"inputs": sources(paths), "made": digests}))
    return [folder / name for name in (*found, MANIFEST)]


def folder_of(paths: Paths) -> Path:
    """Return where the gallery lies."""
    return paths.root / "docs" / "gallery"


def sources(paths: Paths) -> dict[str, str]:
    """Return one digest for each kind of what the gallery follows from: data, code, words, lock, claims."""
    found = inputs(paths, [])
    found["data"]["reference"] = sha256(paths.reference)
    return {kind: _digest(known) for kind, known in found.items()}


def stale(paths: Paths) -> list[str]:
    """Return one line for each cause why the gallery is not what the reference run gives today."""
    file = folder_of(paths) / MANIFEST
    if not file.is_file():
        return ["gallery: it was not made: make gallery"]
    try:
        about = msgspec.json.decode(file.read_bytes(), type=dict[str, dict[str, str]])
        known, made = about["inputs"], about["made"]
    except (msgspec.DecodeError, KeyError):
        return [f"gallery: {file} cannot be read: make gallery"]
    now = sources(paths)
    changed = [kind for kind in now if known.get(kind) != now[kind]]
    lines = [f"gallery: {kind} changed since it was made: make gallery" for kind in changed]
    lost = [name for name in made if not (file.parent / name).is_file() or sha256(file.parent / name) != made[name]]
    return lines + [f"gallery: {name} is not what was made: make gallery" for name in lost]


def page(run: str, figures: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page that shows the gallery, in Markdown; `figures` holds the words of each by name."""
    links = "\n".join(
        f"| {name} | [PDF](appendix.{lang}.pdf){' · [HTML](appendix.en.html)' if lang == 'en' else ''} "
        f"| ![first page](appendix.{lang}.png) |"
        for lang, name in (("ko", "한국어"), ("zh", "中文"), ("en", "English"))
    )
    shown = "\n\n".join(f"![{words['alt']}]({name}.png)\n\n*{words['caption']}*" for name, words in figures.items())
    return (
        f"# Gallery\n\nWhat `make report` gives for the reference run `{run}`. Made by `make gallery`; "
        f"[how to read each figure](../figures.md).\n\n## The appendix\n\n"
        f"| | | First page |\n|---|---|---|\n{links}\n\n## Figures\n\n{shown}\n"
    )


def small(png: bytes) -> bytes:
    """Return a picture with few colours, no wider than the page of a README."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as read:
        image = read.convert("RGB")
    image.thumbnail((PIXELS, 4 * PIXELS), Image.Resampling.LANCZOS)
    content = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(content, "PNG", optimize=True)
    return content.getvalue()


def _read(notebook: Path) -> document.Document:
    """Return an executed report without its links to pages beside it, which the gallery has not."""
    import nbformat

    found = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    found.metadata.get("ipclab", {}).pop("links", None)
    return document.read(found, notebook.parent)


def _figures(notebook: Path) -> dict[str, dict[str, Any]]:
    """Return the words of each figure that an executed notebook shows, by name."""
    import nbformat

    cells = nbformat.read(notebook, as_version=4).cells  # type: ignore[no-untyped-call]
    outputs = [output.get("metadata", {}).get(MIME) for cell in cells for output in cell.get("outputs", [])]
    return {words["name"]: words for words in outputs if words}


def _digest(known: Mapping[str, str]) -> str:
    from hashlib import sha256 as hashed

    return hashed(dump_json(dict(sorted(known.items())))).hexdigest()


if __name__ == "__main__":
    from ipclab.measure.progress import Bar

    try:
        for made in make(checkout(), Bar()):
            sys.stdout.write(f"{made.relative_to(checkout().root)} {made.stat().st_size:,} B\n")
    except LabError as error:
        raise SystemExit(f"ipclab: {error}") from error
