"""Renew docs/pictures from the committed reference run: what READMEs and docs show of it."""

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

PICTURES = (
    "payload-then-now.en",
    "payload-then-now.ko",
    "payload-then-now.zh",
    "round-trip-ranking.en",
    "stream-throughput.en",
)
COLOURS, PIXELS = 64, 1000  # of a picture
ROOT = Path(__file__).parents[1]


def main() -> None:
    """Render the reference run, and write each picture."""
    with tempfile.TemporaryDirectory() as out:
        run = ROOT / "data/reference.ipclab"
        report = ["report", "--run", str(run), "--format", "ipynb", "--out", out]
        subprocess.run([sys.executable, "-m", "ipclab", *report], check=True)
        for name in PICTURES:
            shrink(Path(out) / "figures" / f"{name}.png", ROOT / f"docs/pictures/{name}.png")


def shrink(figure: Path, picture: Path) -> None:
    """Write the PNG of a figure as a picture of few colours that is a page wide."""
    with Image.open(figure) as drawn:
        shown = drawn.convert("RGB")
    shown.thumbnail((PIXELS, 4 * PIXELS), Image.Resampling.LANCZOS)
    shown.quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)


if __name__ == "__main__":
    main()
