"""Derive the committed runs' facts and tables again, and draw the picture of each README from the reference.

To be run when the code that derives them has changed; a test fails until then.
"""

from ipclab.facts.derive import write_derived
from ipclab.figures.registry import draw
from ipclab.notebook import Lab
from ipclab.paths import checkout
from ipclab.lab.catalogue import LANGUAGES
from ipclab.store.run import read

PICTURE = "payload-then-now"


def main() -> None:
    """Rewrite what is derived, nothing that was measured."""
    paths = checkout()
    for index in sorted([*paths.compared.glob("*/run.json"), *paths.reference.glob("*/run.json")]):
        run = read(index.parent)
        write_derived(run, paths)
        run.save()
    reference = next(iter(sorted(paths.reference.glob("*/run.json")))).parent
    for lang in LANGUAGES:
        figure = draw(Lab.open(str(reference), lang).view, PICTURE, None)
        (paths.root / f"docs/{PICTURE}.{lang}.svg").write_text(figure.svg, encoding="utf-8")


if __name__ == "__main__":
    main()
