"""Charts of Vega and Vega-Lite, as Altair leaves them in an output, drawn by Altair's own renderer.

`vl-convert-python` comes with `altair[save]` and needs no browser. Where it is not installed, a chart
is named as lost.
"""

import importlib
import importlib.util
import re
from collections.abc import Mapping
from typing import Any

RENDERER = "vl_convert"
MIME = re.compile(r"application/vnd\.vega(?P<lite>lite)?\.v(?P<major>\d+)(\.\d+)?\+json")
SCALE = 2  # pixels of the picture for each of the chart's


def chart(data: Mapping[str, Any]) -> tuple[bytes, float] | None:
    """Return the chart among the forms of an output as a PNG, and how wide it is shown (pixels).

    None without one, or if it cannot be drawn.

    Data that a chart would fetch is not fetched.
    """
    found = next(filter(None, map(MIME.fullmatch, data)), None)
    if found is None or importlib.util.find_spec(RENDERER) is None:
        return None
    renderer = importlib.import_module(RENDERER)
    spec = data[found.string]
    options: dict[str, Any] = {"scale": SCALE, "allowed_base_urls": []}
    draw = renderer.vegalite_to_png if found["lite"] else renderer.vega_to_png
    if found["lite"]:
        every = renderer.get_vegalite_versions()
        same = [each for each in every if each.split(".")[0] == found["major"]]
        options["vl_version"] = same[-1] if same else None
    try:
        png = draw(spec, **options)
    except ValueError:  # as it says of a chart that it cannot read
        return None
    return png, int.from_bytes(png[16:20], "big") / SCALE
