"""What tests/reading.py finds in a report, and what it lets pass."""

import pytest

from tests.reading import empty_columns, wrong


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
    shown = {"name": "t", "caption": "", "columns": [{"label": "a"}, {"label": "b"}], "rows": [["1", "–"], ["2", ""]]}
    assert empty_columns(shown) == ["t: 'b' is empty"]
    assert empty_columns({**shown, "rows": [["1", "–"], ["2", "0"]]}) == []
