"""Renew what the repository shows of the committed reference run: the pictures of the READMEs, and
the outputs of the notebooks of the five texts.
"""

import base64
import hashlib
import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from PIL import Image

from ipclab.lab.figure import Figure
from ipclab.report.notebooks.quotes import MIME as VALUES
from ipclab.report.pages import order
from ipclab.report.pages.document import read_document

GALLERY = {  # the notebook of each text, and the figure of it that READMEs show
    "01_payload": "payload-then-now",
    "02_shared_dict": "shared-dict-write",
    "03_multiplexer": "multiplexer-ends",
    "04_round_trip": "round-trip-ranking",
    "05_file_io": "file-io-maps",
}
READMES = {"en": "README.md", "ko": "README.ko.md", "zh": "README.zh.md"}
BLOCK = re.compile(r"(<!-- pictures -->\n).*(<!-- end of pictures -->\n)", re.DOTALL)
SHOWN = "0[1-5]_*.ipynb"  # notebooks whose outputs are kept
KEPT = "text/markdown", "text/html", "text/plain"  # beside pictures
PNG = "image/png"
DIGEST = "outputs_of"  # in the metadata of a notebook: of which sources its outputs are
COLOURS, PIXELS = 64, 1000  # of a picture
SMALL, LONGEST = 760, 12_000  # pixels of a picture in a notebook, and characters of a table there
ROOT = Path(__file__).parents[1]


def main() -> None:
    """Render the reference run, and write each picture and each notebook's outputs."""
    with tempfile.TemporaryDirectory() as out:
        run = ROOT / "data/reference.ipclab"
        report = ["report", "--run", str(run), "--format", "ipynb", "--out", out]
        subprocess.run([sys.executable, "-m", "ipclab", *report], check=True)
        for lang, readme in READMES.items():
            write_gallery(ROOT / readme, lang, Path(out))
        for path in sorted((ROOT / "notebooks").glob(SHOWN)):
            show(path, Path(out) / "en" / path.name)


def write_gallery(readme: Path, lang: str, out: Path) -> None:
    """Write a picture of each text with its finding into a README, and what it was read against."""
    shown = []
    for notebook, name in GALLERY.items():
        picture = f"docs/pictures/{name}.{lang}.png"
        drawn = (out / "figures" / f"{name}.{lang}.png").read_bytes()
        (ROOT / picture).write_bytes(shrunk(drawn))
        title, told = caption(out / lang / f"{notebook}.ipynb", name)
        shown.append(f"![{title}]({picture})\n\n*{told}*\n")
    text = BLOCK.sub(lambda block: block[1] + "\n".join(shown) + block[2], readme.read_text())
    source = hashlib.sha256((ROOT / READMES["en"]).read_bytes()).hexdigest()
    readme.write_text(re.sub(r"(README\.md sha256 )[0-9a-f]{64}", rf"\g<1>{source}", text))


def caption(executed: Path, name: str) -> tuple[str, str]:
    """Return the title of a figure's notebook, and what it shows: what was found, and its caption."""
    document = read_document(nbformat.read(executed, as_version=4), executed.parent)
    (figure,) = (
        block for block in document.blocks if isinstance(block, Figure) and block.name == name
    )
    told = figure.caption.removeprefix(document.labels[name]).lstrip(".： ")
    found = order.cited(node for tree in document.prose for node in tree).get(name)
    if found is None:
        return document.title, told
    return document.title, f"{found}{'' if found.endswith('。') else ' '}{told}"


def shrunk(png: bytes, pixels: int = PIXELS) -> bytes:
    """Return the PNG of a figure as a picture of few colours, as wide as that."""
    with Image.open(io.BytesIO(png)) as drawn:
        shown = drawn.convert("RGB")
    shown.thumbnail((pixels, 4 * pixels), Image.Resampling.LANCZOS)
    made = io.BytesIO()
    # the median cut, which is usual, gives lines of rare colours one that they share
    few = shown.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(made, "PNG", optimize=True)
    return made.getvalue()


def show(source: Path, executed: Path) -> None:
    """Write the outputs of an executed notebook into its source, and the digest of the sources."""
    notebook = nbformat.read(source, as_version=4)
    outputs = {cell.id: cell.get("outputs", []) for cell in nbformat.read(executed, 4).cells}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            every = [_kept(output) for output in outputs.get(cell.id, [])]
            cell.outputs = [output for output in every if output]
    notebook.metadata[DIGEST] = digest(notebook)
    nbformat.write(notebook, source)


def digest(notebook: Any) -> str:
    """Return the digest of the sources of a notebook's cells."""
    sources = "\0".join(cell.source for cell in notebook.cells)
    return hashlib.sha256(sources.encode()).hexdigest()[:16]


def _kept(output: Any) -> Any:
    """Return of an output what a page of a repository shows, or None."""
    data = output.get("data", {})
    if VALUES in data:  # kept for other notebooks
        return None
    kept = {kind: data[kind] for kind in KEPT if kind in data and len(data[kind]) < LONGEST}
    if PNG in data:
        made = base64.b64encode(shrunk(base64.b64decode(data[PNG]), SMALL)).decode()
        kept = {PNG: made, "text/plain": data.get("text/plain", "")}
    if not kept:
        return None
    width = {PNG: output.metadata[PNG]} if PNG in kept and PNG in output.metadata else {}
    return nbformat.v4.new_output("display_data", kept, metadata=width)


if __name__ == "__main__":
    main()
