"""Pandoc: Markdown, HTML, LaTeX and reStructuredText as trees, and trees as HTML and as Typst.

A tree is the JSON of pandoc's blocks: a list of `{"t": kind, "c": content}`. One call takes many
texts, each read for itself: an unclosed fence ends with its text.
"""

import re
import secrets
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from ipclab.errors import LabError

Tree = list[dict[str, Any]]
TIMEOUT_S = 60
HTML = "html"
# As JupyterLab reads Markdown, and footnotes: a rule at the top of a cell opens no metadata.
MARKDOWN = "gfm-emoji-alerts-yaml_metadata_block-tex_math_gfm"
READERS = {
    "text/markdown": MARKDOWN,
    "text/html": HTML,
    "text/latex": "latex",
    "text/restructuredtext": "rst",
    "text/x-rst": "rst",
}
_API = {"pandoc-api-version": [1, 23, 1], "meta": {}}
_SAME = ("--wrap=none", "--columns=10000", "--syntax-highlighting=none")
_PART = f"ipclab-{secrets.token_hex(8)}"  # what no text can foresee
_BEGINS = {"t": "Para", "c": [{"t": "Str", "c": _PART}]}  # each of several texts
_UNTOLD = re.compile(r"Could not convert TeX math (.+), rendering as TeX")
_ENVIRONMENT = re.compile(
    r"(?P<kept>^(`{3,}|~{3,}).*?^\2|\$\$.*?\$\$)|^\\begin\{(\w+\*?)\}.*?\\end\{\3\}",
    re.MULTILINE | re.DOTALL,
)


def read_trees(reader: str, sources: Sequence[str]) -> list[Tree]:
    """Return the tree of each text; `LabError` when pandoc refuses."""
    if not sources:
        return []
    begin = f"<p>{_PART}</p>\n" if reader.startswith(HTML) else f"{_PART}\n\n"
    with TemporaryDirectory() as folder:
        for place, source in enumerate(sources):
            text = _with_math(source) if reader == MARKDOWN else source
            Path(folder, str(place)).write_text(begin + text, "utf-8")
        names = [str(place) for place in range(len(sources))]
        content, _ = _run(["-f", reader, "-t", "json", "--file-scope", *names], cwd=folder)
    blocks = _tree(content)
    begins = [place for place, block in enumerate(blocks) if block == _BEGINS]
    return [blocks[one + 1 : other] for one, other in pairwise([*begins, len(blocks)])]


def to_html(trees: Sequence[Tree], math: str = "--mathml") -> tuple[list[str], list[str]]:
    """Return the HTML of each tree, the notes of all as one more, and the math that was not read.

    Notes are numbered through.
    """
    return _written(trees, "html", f"<!--{_PART}-->", math)


def to_typst(trees: Sequence[Tree]) -> tuple[list[str], list[str]]:
    """Return the Typst markup of each tree, an empty one more, and the math that was not read."""
    return _written(trees, "typst", f"// {_PART}")


def _written(
    trees: Sequence[Tree], form: str, mark: str, *words: str
) -> tuple[list[str], list[str]]:
    """Return what pandoc writes of each tree and then of all, which marks part, and lost math."""
    joined = [block for tree in trees for block in [*tree, raw(form, mark)]]
    document = msgspec.json.encode({**_API, "blocks": joined})
    content, said = _run(["-f", "json", "-t", form, *words, *_SAME], document)
    return content.split(mark), _UNTOLD.findall(said)


def raw(form: str, text: str) -> dict[str, Any]:
    """Return a block of text that is already in a format."""
    return {"t": "RawBlock", "c": [form, text]}


def typst(text: str) -> dict[str, Any]:
    """Return markup of Typst within a line."""
    return {"t": "RawInline", "c": ["typst", text]}


def changed(node: Any, change: Callable[[Tree], Tree]) -> Any:
    """Return a tree whose lists of nodes are what `change` makes of them, the innermost first."""
    if isinstance(node, dict):
        return {key: changed(value, change) for key, value in node.items()}
    if not isinstance(node, list):
        return node
    inner = [changed(each, change) for each in node]
    if inner and all(isinstance(each, dict) and "t" in each for each in inner):
        return change(inner)
    return inner


def replaced(tree: Tree, made_of: Callable[[dict[str, Any]], Tree]) -> Tree:
    """Return a tree with what `made_of` makes of each node in its place, the innermost first."""
    made: Tree = changed(tree, lambda nodes: [new for node in nodes for new in made_of(node)])
    return made


def text_of(node: Any) -> str:
    """Return the text of a tree, or of a part of one, without markup, math and notes."""
    match node:
        case {"t": "Str" | "CodeBlock" | "Code" | "Math", "c": str(text) | [_, str(text)]}:
            return text
        case {"t": "Space" | "SoftBreak" | "LineBreak"}:
            return " "
        case {"t": "Note" | "RawInline" | "RawBlock"}:
            return ""
        case {"c": inner}:
            return text_of(inner)
        case list():
            return "".join(text_of(each) for each in node)
    return ""


def tree_nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield every node of a tree, the outermost first."""
    if isinstance(tree, list):
        for each in tree:
            yield from tree_nodes(each)
    elif isinstance(tree, dict) and "t" in tree:
        yield tree
        yield from tree_nodes(tree.get("c"))


def has_html(tree: Tree) -> bool:
    """Tell whether HTML stands in a tree as it was written."""
    return any(node["t"] in ("RawBlock", "RawInline") for node in tree_nodes(tree))


def _with_math(source: str) -> str:
    """Put a LaTeX environment that stands alone, as Jupyter shows it, between dollar signs."""
    return _ENVIRONMENT.sub(lambda match: match["kept"] or f"$${match[0]}$$", source)


def _tree(content: str) -> Tree:
    """Return the blocks of pandoc's JSON, with ids and links as they were written.

    Before the ids of each of several texts pandoc puts its number.
    """
    blocks: Tree = msgspec.json.decode(content)["blocks"]
    for node in tree_nodes(blocks):
        match node:
            case {"t": "Link" | "Image", "c": [_, _, [str(url), _] as target]}:
                target[0] = re.sub(r"^#\d+__", "#", url)
            case {"t": "Header", "c": [_, [str(name), *_] as about, _]}:
                about[0] = re.sub(r"^\d+__", "", name)
    return blocks


@cache
def _program() -> str:
    import pypandoc

    return str(pypandoc.get_pandoc_path())


def _run(words: Sequence[str], content: bytes = b"", cwd: str | None = None) -> tuple[str, str]:
    """Return what pandoc writes to stdout and to stderr; `LabError` when it refuses or hangs."""
    try:
        done = subprocess.run(
            [_program(), "--sandbox", *words],  # nothing is read that is not named here
            input=content,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            cwd=cwd,
        )
    except subprocess.TimeoutExpired as error:
        why = f"it was given {TIMEOUT_S} s"
        raise LabError("pandoc did not end", why, "shorten the text that it reads") from error
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        raise LabError("pandoc refuses", said.strip().split("\n")[0], "")
    return done.stdout.decode("utf-8"), said
