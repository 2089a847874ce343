"""Renew what the repository shows of the committed reference run: the pictures of the READMEs, and
the outputs of the notebooks of the five texts.
"""

import base64
import hashlib
import io
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from PIL import Image

PICTURES = (
    "payload-then-now.en",
    "payload-then-now.ko",
    "payload-then-now.zh",
    "round-trip-ranking.en",
    "stream-throughput.en",
)
SHOWN = "0[1-5]_*.ipynb"  # whose outputs are kept
KEPT = "text/markdown", "text/html", "text/plain"  # beside pictures
PNG = "image/png"
DIGEST = "outputs_of"  # in the metadata of a notebook: of which sources its outputs are
COLOURS, PIXELS = 64, 1000  # of a picture
ROOT = Path(__file__).parents[1]


def main() -> None:
    """Render the reference run, and write each picture and each notebook's outputs."""
    with tempfile.TemporaryDirectory() as out:
        run = ROOT / "data/reference.ipclab"
        report = ["report", "--run", str(run), "--format", "ipynb", "--out", out]
        subprocess.run([sys.executable, "-m", "ipclab", *report], check=True)
        for name in PICTURES:
            drawn = (Path(out) / "figures" / f"{name}.png").read_bytes()
            (ROOT / f"docs/pictures/{name}.png").write_bytes(shrunk(drawn))
        for path in sorted((ROOT / "notebooks").glob(SHOWN)):
            show(path, Path(out) / "notebooks" / path.name)


def shrunk(png: bytes) -> bytes:
    """Return the PNG of a figure as a picture of few colours that is a page wide."""
    with Image.open(io.BytesIO(png)) as drawn:
        shown = drawn.convert("RGB")
    shown.thumbnail((PIXELS, 4 * PIXELS), Image.Resampling.LANCZOS)
    made = io.BytesIO()
    shown.quantize(COLOURS, dither=Image.Dither.NONE).save(made, "PNG", optimize=True)
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
    kept = {kind: data[kind] for kind in KEPT if kind in data}
    if PNG in data:
        made = base64.b64encode(shrunk(base64.b64decode(data[PNG]))).decode()
        kept = {PNG: made, "text/plain": data.get("text/plain", "")}
    if not kept:
        return None
    width = {PNG: output.metadata[PNG]} if PNG in kept and PNG in output.metadata else {}
    return nbformat.v4.new_output("display_data", kept, metadata=width)


if __name__ == "__main__":
    main()
