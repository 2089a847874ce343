"""What tests/support/reading.py finds in a report, and what it lets pass."""

import json
from pathlib import Path

import pytest

from tests.support.reading import empty_columns, undefined, values_by_label, wrong


@pytest.mark.parametrize(
    ("lang", "text", "count"),
    [
        ("ko", "15.0×에 해당한다", 1),
        ("ko", "파일 수 × 파일 크기", 0),
        ("ko", "1,024(으)로 나누면", 1),
        ("ko", "10.3–16.5", 1),
        ("ko", "10.3~16.5배", 0),
        ("zh", "共享内存,管道", 1),
        ("zh", "共享内存, 管道", 1),
        ("zh", "共享内存，管道", 0),
        ("zh", "原文写道“共享内存,管道”。", 0),
        ("zh", "10.3~16.5倍", 1),
        ("zh", "每个条目: 1", 1),
        ("en", "arm=read-many", 1),
        ("en", "nan ns", 1),
        ("en", "it takes {gain:x}", 1),
        ("en", "`arm=read-many` is an address", 0),
        ("en", "10.3–16.5", 0),
    ],
)
def test_what_a_reader_stumbles_over_is_found(lang: str, text: str, count: int) -> None:
    assert len(wrong(text, lang)) == count


def test_a_column_without_anything_is_found() -> None:
    shown = {
        "name": "t",
        "caption": "",
        "columns": [{"label": "a"}, {"label": "b"}],
        "rows": [["1", "–"], ["2", ""]],
    }
    assert empty_columns(shown) == ["t: 'b' is empty"]
    assert empty_columns({**shown, "rows": [["1", "–"], ["2", "0"]]}) == []


def executed(folder: Path, text: str) -> Path:
    """Return an executed notebook that shows `text`."""
    output = {"output_type": "display_data", "data": {"text/markdown": text}, "metadata": {}}
    (folder / "n.ipynb").write_text(
        json.dumps({"cells": [{"cell_type": "code", "outputs": [output]}]})
    )
    return folder / "n.ipynb"


def test_two_values_under_one_label_are_seen(tmp_path: Path) -> None:
    lines = [
        "| a | b |",
        "|---|---|",
        "| Write | 0.7 ms | 0.9 ms \\[0.8–1.1\\] |",
        "| Write | 1.0 ms [0.8–1.1] |",
        "",
    ]
    told = "\n".join([*lines, ": t {#summary}"])
    found = values_by_label(executed(tmp_path, told), "summary", "values")
    assert found["Write"] == ["0.9 ms [0.8–1.1]", "1.0 ms [0.8–1.1]"]


def test_a_mechanism_that_no_table_of_terms_has_is_seen(tmp_path: Path) -> None:
    told = executed(tmp_path, "| Term |\n|---|\n| posix-shm |\n\n: t {#definitions}")
    assert undefined(told) == set()
    cells = json.loads(told.read_text())
    cells["cells"] += json.loads(executed(tmp_path, "posix-shm, zmq-ipc").read_text())["cells"]
    told.write_text(json.dumps(cells))
    assert undefined(told) == {"zmq-ipc"}
