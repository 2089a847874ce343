"""Formulas as MathJax sets them: what one cell defines or numbers holds in those after it."""

import re
from collections.abc import Iterable, Iterator

from ipclab.report.pages.pandoc import Tree, tree_nodes

_BRACED = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"  # three deep
_DEFINED = re.compile(
    rf"\\(?:(?:re)?newcommand|DeclareMathOperator)\*?\s*(?:\{{\s*\\[A-Za-z]+\s*\}}|\\[A-Za-z]+)"
    rf"(?:\[[^\]]*\])*\s*{_BRACED}|\\def\s*\\[A-Za-z]+(?:#\d)*\s*{_BRACED}"
)
_DEF = re.compile(rf"\\def\s*(\\[A-Za-z]+)((?:#\d)*)\s*({_BRACED})")
_NAME = re.compile(r"\\(?:(?:re)?newcommand|DeclareMathOperator)\*?\s*\{?\s*\\([A-Za-z]+)")
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_TAG = re.compile(r"\\tag\*?\s*\{([^{}]*)\}")
_REFERENCE = re.compile(r"\\(eq)?ref\s*\{([^{}]*)\}")


def settle(trees: Iterable[Tree]) -> None:
    """Give each formula the definitions before it that it needs, and references their numbers."""
    formulas = [node for tree in trees for node in tree_nodes(tree) if node["t"] == "Math"]
    numbers: dict[str, str] = {}
    known: dict[str, str] = {}
    for node in formulas:
        tag = _TAG.search(node["c"][1])
        numbers |= dict.fromkeys(_LABEL.findall(node["c"][1]), tag[1] if tag else "")
    for node in formulas:
        tex = node["c"][1]
        known |= {_NAME.match(each)[1]: each for each in _definitions(tex)}  # type: ignore[index]
        rest = _numbered(_DEFINED.sub("", tex), numbers)
        node["c"][1] = "".join([*_needed(rest, known), rest])
        if not rest.strip():  # it only defined something
            node |= {"t": "Str", "c": ""}


def _definitions(tex: str) -> Iterator[str]:
    for match in _DEFINED.finditer(tex):
        said = match[0]
        if simple := _DEF.fullmatch(said):
            name, taken, body = simple.groups()
            count = taken.count("#")
            said = rf"\newcommand{{{name}}}{f'[{count}]' if count else ''}{body}"
        yield said.replace(r"\renewcommand", r"\newcommand")


def _needed(tex: str, known: dict[str, str]) -> list[str]:
    """Return the definitions of what stands in `tex`, and of what stands in these."""
    needed: dict[str, str] = {}
    open_texts = [tex]
    while open_texts:
        for name in re.findall(r"\\([A-Za-z]+)", open_texts.pop()):
            if name in known and name not in needed:
                needed[name] = known[name]
                open_texts.append(known[name])
    return [said for name, said in known.items() if name in needed]


def _numbered(tex: str, numbers: dict[str, str]) -> str:
    """Return a formula with its number behind it, and those that it refers to."""

    def referred(match: re.Match[str]) -> str:
        number = numbers.get(match[2]) or "???"
        return rf"\text{{({number})}}" if match[1] else rf"\text{{{number}}}"

    tex = _LABEL.sub("", _REFERENCE.sub(referred, tex))
    return _TAG.sub(r"\\qquad\\text{(\1)}", tex)
