"""SVG made fit to stand inside a page: no scripts, nothing from outside, ids of its own."""

import re
from xml.etree import ElementTree

from ipclab.errors import LabError

_SVG = "http://www.w3.org/2000/svg"
ElementTree.register_namespace("", _SVG)
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
_DROPPED = {f"{{{_SVG}}}{name}" for name in ("script", "foreignObject", "metadata", "style")}
_POINTS = {"pt": 1.0, "px": 0.75, "": 0.75, "in": 72.0, "mm": 72 / 25.4, "cm": 72 / 2.54}
# What matplotlib says in the style element that would otherwise reach all drawings of a page.
_STROKES = "stroke-linejoin:round;stroke-linecap:butt"


def inline(svg: str, prefix: str, title: str) -> str:
    """Return the drawing as a titled HTML fragment, whose ids begin with `prefix`."""
    root = _parse(svg)
    for parent in root.iter():
        for child in list(parent):
            if child.tag in _DROPPED:
                parent.remove(child)
        parent.attrib = {
            name: _renamed(name, value, prefix)
            for name, value in parent.attrib.items()
            if _is_harmless(name, value)
        }
    width = width_pt(svg)
    if "viewBox" not in root.attrib:
        root.set("viewBox", f"0 0 {width:g} {_points(root.get('height', '')):g}")
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    named = f"{prefix}title"
    root.attrib |= {"style": f"{_STROKES};max-width:{width:g}pt", "role": "img"}
    root.set("aria-labelledby", named)
    words = ElementTree.Element(f"{{{_SVG}}}title", {"id": named})
    words.text = title
    root.insert(0, words)
    return ElementTree.tostring(root, encoding="unicode")


def width_pt(svg: str) -> float:
    """Return the natural width in points: its `width`, or that of its view box in px."""
    root = _parse(svg)
    box = root.get("viewBox", "0 0 0 0").replace(",", " ").split()
    return _points(root.get("width", "")) or float(box[2]) * _POINTS[""]


def _parse(svg: str) -> ElementTree.Element:
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        raise LabError("a figure is no SVG", str(error)) from error
    if root.tag != f"{{{_SVG}}}svg":
        raise LabError("a figure is no SVG", f"its root is {root.tag}")
    return root


def _points(length: str) -> float:
    parts = re.fullmatch(r"([\d.]+)([a-z]*)", length)
    return float(parts[1]) * _POINTS[parts[2]] if parts and parts[2] in _POINTS else 0.0


def _is_harmless(key: str, value: str) -> bool:
    name = key.rpartition("}")[2].lower()
    if name in ("href", "src"):
        return value.startswith(("#", "data:image/png;"))
    return not name.startswith("on") and not re.search(r"url\(\s*['\"]?(?!#|['\"]|\s)", value)


def _renamed(key: str, value: str, prefix: str) -> str:
    if key == "id":
        return prefix + value
    if key == "style":
        value = re.sub(r"font-family:[^;]+", "font-family: inherit", value)  # the page's own
    if key.rpartition("}")[2] == "href" and value.startswith("#"):
        return f"#{prefix}{value[1:]}"
    return re.sub(r"url\(\s*['\"]?#([^)'\"]+)['\"]?\s*\)", rf"url(#{prefix}\1)", value)
