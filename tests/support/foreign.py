"""Notebooks as other people write them: each shows something of a kind, as JupyterLab would."""

from typing import Any

from nbformat import v4

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
GIF = "R0lGODlhAQABAIAAAP8AAP///ywAAAAAAQABAAACAkQBADs="
JPEG = (
    "/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIs"
    "IxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAA"
    "AAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q=="
)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><circle cx="9" cy="9" r="5"/></svg>'
STYLED = """<style type="text/css">#T_1 { color: red; }</style>
<table id="T_1"><thead><tr><th>&nbsp;</th><th>alpha</th></tr></thead>
<tbody><tr><th>row</th><td id="T_1_r">12.5</td></tr></tbody></table>"""
FRAME = """<div><style scoped>.dataframe tbody tr th { vertical-align: top; }</style>
<table border="1" class="dataframe"><thead><tr style="text-align: right;"><th></th><th>size</th></tr></thead>
<tbody><tr><th>0</th><td>84 &lt; 90</td></tr></tbody></table></div>"""


def displayed(data: dict[str, Any], **metadata: Any) -> Any:
    """Return a code cell that displays MIME types."""
    output = v4.new_output("display_data", data=data, metadata=metadata)
    return v4.new_code_cell("show()", outputs=[output])


def printed(*texts: str, name: str = "stdout") -> Any:
    """Return a code cell that prints texts one after the other."""
    outputs = [v4.new_output("stream", name=name, text=text) for text in texts]
    return v4.new_code_cell("print()", outputs=outputs)


def notebook(*cells: Any, **metadata: Any) -> Any:
    """Return a notebook of cells; text is Markdown."""
    made = [v4.new_markdown_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    about = {"ipclab": {"lang": "en", "date": "2026-11-21"}} | metadata
    return v4.new_notebook(cells=made, metadata=about)


ERROR = v4.new_output(
    "error",
    ename="ValueError",
    evalue="too small",
    traceback=["\x1b[31mValueError\x1b[0m: too small"],
)
ATTACHED = v4.new_markdown_cell("See ![a dot](attachment:dot.png) here.")
ATTACHED["attachments"] = {"dot.png": {"image/png": PIXEL}}

# By name: the cells, the words that JupyterLab shows of them, and the number of pictures.
KINDS: dict[str, tuple[list[Any], str, int]] = {
    "stream": (
        [printed("median 12.5 us\n"), printed("careful\n")],
        "median 12.5 us careful",
        0,
    ),
    "progress": ([printed("10%\r", "100%\n")], "100%", 0),
    "colours": (
        [displayed({"text/plain": "\x1b[1;31mred\x1b[0m \x1b[38;5;33mdone\x1b[0m"})],
        "red done",
        0,
    ),
    "frame": ([displayed({"text/html": FRAME, "text/plain": "x"})], "size 0 84 < 90", 0),
    "styler": ([displayed({"text/html": STYLED, "text/plain": "<Styler>"})], "alpha row 12.5", 0),
    "html": (
        [displayed({"text/html": "<b>bold</b> and <ul><li>one</li></ul>"})],
        "bold and one",
        0,
    ),
    "png": ([displayed({"image/png": PIXEL, "text/plain": "<Figure size 640x480>"})], "", 1),
    "retina": (
        [displayed({"image/png": PIXEL}, **{"image/png": {"width": 1, "height": 1}})],
        "",
        1,
    ),
    "jpeg": ([displayed({"image/jpeg": JPEG})], "", 1),
    "gif": ([displayed({"image/gif": GIF})], "", 1),
    "svg": ([displayed({"image/svg+xml": SVG, "text/plain": "<SVG>"})], "", 1),
    "latex": (
        [displayed({"text/latex": "$\\displaystyle x + y$", "text/plain": "x+y"})],
        "x + y",
        0,
    ),
    "markdown": (
        [displayed({"text/markdown": "**fat** `code`", "text/plain": "<Markdown>"})],
        "fat code",
        0,
    ),
    "json": (
        [displayed({"application/json": {"key": 1}, "text/plain": "<JSON>"})],
        '{ "key": 1 }',
        0,
    ),
    "error": ([v4.new_code_cell("f()", outputs=[ERROR])], "ValueError: too small", 0),
    "raw": (
        [
            v4.new_raw_cell("Approved by: <nobody>"),
            v4.new_raw_cell("<i>leaning</i>", metadata={"raw_mimetype": "text/html"}),
            v4.new_raw_cell("*light*", metadata={"format": "text/markdown"}),
            v4.new_raw_cell("\\textbf{dark}", metadata={"raw_mimetype": "text/latex"}),
            v4.new_raw_cell("fine", metadata={"raw_mimetype": "text/x-python"}),
        ],
        "Approved by: <nobody> leaning light dark fine",
        0,
    ),
    "narrative": (
        [
            "# A *title*\n\n~~gone~~ H<sub>2</sub>O<br>next\n\n- [x] done\n- [ ] open\n\n"
            "<div align='center'><b>Boxed</b></div>\n\n<table><tr><th>A</th><td>1</td></tr></table>",
            "```\nunclosed **fence**",
            '## After it\n\nto [there](#After-it) and https://example.org/a_b, $5 and 6 #x @y "q" -- ...',
        ],
        "gone H2O next done open Boxed A 1 unclosed **fence** After it to there and https://example.org/a_b, "
        '$5 and 6 #x @y "q" -- ...',
        0,
    ),
    "math": (
        ["The rate $q$ is\n\n$$z = w$$\n\n\\begin{equation}u * v = t\\end{equation}"],
        "The rate q is z = w u ∗ v = t",
        0,
    ),
    "attachment": ([ATTACHED], "See here.", 1),
    "letters": (["smile 😀 ก ★ and العربية"], "smile 😀 ก ★ and العربية", 0),
}
