"""What tests look for in reports is found: an expression that matches nothing would pass for ever."""

import pytest

from ipclab.stats.quantity import Quantity, measured
from tests.support.divided import divides, undivided
from tests.support.reading import empty_columns, undefined, wrong


@pytest.mark.parametrize(
    ("lang", "text", "count"),
    [
        ("ko", "15.0×에 해당한다", 1),
        ("ko", "파일 수 × 파일 크기", 0),
        ("ko", "1,024(으)로 나누면", 1),
        ("ko", "10.3–16.5", 1),
        ("zh", "共享内存,管道", 1),
        ("zh", "共享内存，管道", 0),
        ("zh", "原文写道“共享内存,管道”。", 0),
        ("zh", "10.3~16.5倍", 1),
        ("en", "arm=read-many", 1),
        ("en", "nan ns", 1),
        ("en", "it takes {gain:x}", 1),
        ("en", "351 ms [3.0–3.0]", 1),
        ("en", "10.3–16.5", 0),
    ],
)
def test_what_a_reader_stumbles_over_is_found(lang: str, text: str, count: int) -> None:
    assert len(wrong(text, lang)) == count


def test_a_column_without_anything_is_found() -> None:
    columns = [{"label": "a"}, {"label": "b"}]
    shown = {"name": "t", "caption": "", "columns": columns, "rows": [["1", "–"], ["2", ""]]}
    assert empty_columns(shown) == ["t: 'b' is empty"]
    assert empty_columns({**shown, "rows": [["1", "–"], ["2", "0"]]}) == []


def test_a_mechanism_that_no_table_of_terms_has_is_found() -> None:
    def cell(text: str) -> dict[str, object]:
        output = {"output_type": "display_data", "data": {"text/markdown": text}, "metadata": {}}
        return {"cell_type": "code", "outputs": [output]}

    terms = cell("| Term |\n|---|\n| posix-shm |\n\n: t {#definitions}")
    assert undefined([terms]) == set()
    assert undefined([terms, cell("posix-shm, zmq-ipc")]) == {"zmq-ipc"}


def test_a_quotient_is_told_from_what_is_none() -> None:
    def value(name: str, *launches: float) -> Quantity:
        mean = sum(launches) / len(launches)
        by_heat = dict(enumerate(launches, 1))
        return measured(Quantity(mean, "ns", mean / 2, mean * 2), by_heat, name)

    assert divides(13.7, 6.85, 2.0) and not divides(13.7, 6.85, 2.05)
    over, under = value("over", 20.0, 20.0), value("under", 10.0, 10.0)
    assert [*undivided([over, under, over / under])] == []
    wrong_one = over / under
    object.__setattr__(wrong_one, "value", 2.2)
    assert len([*undivided([over, under, wrong_one])]) == 1
    assert [*undivided([over, wrong_one])] == []  # of one value nothing can be said
    longer = value("under", 10.0, 10.0, 40.0)  # a launch that the other has not
    assert [*undivided([over, longer, over / longer])] == []
