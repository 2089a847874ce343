"""The index of a language: findings, first figures and links of all reports, in the order of their
names.
"""

import re
from pathlib import Path

import nbformat
from nbformat import v4

from ipclab.report.pages import index
from ipclab.report.pages.document import read_document
from ipclab.report.pages.exporters import ReportHTMLExporter
from tests.support.foreign import notebook

ABOUT = {
    "lang": "zh",
    "date": "2026-11-21",
    "run": "made",
    "links": [[["English", "../en/00.html"], ["中文", ""]], []],
}
ORIGIN = "**Not measured here.**"


def made(folder: Path, name: str, text: str) -> Path:
    """Write an executed notebook."""
    front = v4.new_markdown_cell(text, metadata={"tags": ["front"]})
    file = folder / f"{name}-0a1b.ipynb"
    about = {"lang": "zh", "date": "2026-11-21"}
    nbformat.write(notebook(ORIGIN, front, "Last.", ipclab=about), file)
    return file


def test_a_table_of_others_that_is_named_as_advice_is_no_advice() -> None:
    front = v4.new_markdown_cell(
        "1. One.\n\n| x |\n|---|\n| 1 |\n\n: C {#x-advice}", metadata={"tags": ["front"]}
    )
    document = read_document(notebook("# T", front, "Last."), Path())
    assert index.entry(document, "t.html").short == [("One.", "")]


def test_the_index_holds_every_finding_in_order(tmp_path: Path) -> None:
    table = "| For | Take |\n|---|---|\n| small | unix |\n\n: Caption {#payload-advice}"
    texts = {
        "00_appendix": "# Appendix\n\nFirst words.",
        "01_payload": f"# Two payloads\n\n1. One. [](#payload-advice)\n2. Two.\n\n{table}",
    }
    files = {name: made(tmp_path, name, text) for name, text in texts.items()}
    entries = [
        index.entry(read_document(nbformat.read(file, as_version=4), tmp_path), f"{name}.html")
        for name, file in files.items()
    ]
    html = index.write(entries, tmp_path, ABOUT).read_text("utf-8")
    assert html.count("Not measured here") == 1 and "Last." not in html
    assert (
        html.index("small：<strong>unix</strong>")
        < html.index("First words.")
        < html.index("Two payloads</a></h2>")
        < html.index("One.")
        < html.index("Two.")
    )
    links = re.findall(r'href="(?!#)([^"]*)"', html)
    assert links == [
        "../en/index.html",
        *("00_appendix.html", "01_payload.html") * 2,
        "01_payload.html#payload-advice",
    ]
    assert '<html lang="zh-Hans">' in html


def test_links_keep_the_order_of_the_reports_in_an_executed_notebook(tmp_path: Path) -> None:
    """Files of notebooks have their names sorted: links once followed their translated titles."""
    beside = [["Zero", "00.html"], ["One", ""], ["Also two", "02.html"]]
    about = {"lang": "en", "date": "2026-11-21", "links": [[], beside]}
    file = tmp_path / "one.ipynb"
    nbformat.write(notebook("# One", ipclab=about), file)
    html = ReportHTMLExporter().convert(read_document(nbformat.read(file, as_version=4), tmp_path))
    row = re.search(r'<p class="links">(.*?)</p>', html)
    assert row and re.findall(r">([^<>]+)</", row[1]) == ["Zero", "One", "Also two"]
