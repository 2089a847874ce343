import pytest

from ipclab.errors import LabError
from ipclab.stats.quantity import Quantity
from ipclab.words.numbers import Formatter

_ = "\u00a0"


@pytest.mark.parametrize(
    ("value", "unit", "spec", "text"),
    [
        (713_200, "ns", "", f"713{_}µs"),
        (713_200, "ns", "ms", f"0.713{_}ms"),
        (713_200, "ns", "ms,interval", f"0.713{_}ms [0.700–0.731]"),
        (713_200, "ns", "ms,span", f"0.700 to 0.731{_}ms"),
        (713_200, "ns", "ns", f"713,200{_}ns"),
        (999.6, "ns", "", f"1.00{_}µs"),
        (5e9, "ns", "s,bare", "5.00"),
        (1_382_400, "B", "", f"1,382,400{_}B"),
        (1_382_400, "B", "scaled", f"1.38{_}MB"),
        (1_382_400, "B", "MiB", f"1.32{_}MiB"),
        (4.56e9, "B/s", "", f"4.56{_}GB/s"),
        (4.56e9, "B/s", "MB/s", f"4,560{_}MB/s"),
        (0.1234, "share", "", "12.3%"),
        (12_345, "count", "", "12,345"),
        (1.5, "faults/op", "", f"1.50{_}faults/op"),
        (None, "ns", "", "not measured"),
        ("holds", "text", "", "holds"),
    ],
)
def test_numbers_read_as_they_should(
    value: float | str | None, unit: str, spec: str, text: str
) -> None:
    found = Quantity(value, unit, 700_000, 731_000)
    ranges = {"ko": text.replace("–", "~")}
    for lang in ("ko", "zh", "en"):
        assert Formatter(lang).format(found, spec) == ranges.get(lang, text)


def test_what_differs_by_language() -> None:
    assert [Formatter(lang).format(Quantity(3.214, "1"), "x") for lang in ("ko", "zh", "en")] == [
        "3.21배",
        "3.21倍",
        "3.21×",
    ]
    day = Quantity("2026-11-21T02:03:04+00:00", "date")
    dates = [Formatter(lang).format(day) for lang in ("ko", "zh", "en")]
    assert dates == ["2026년 11월 21일", "2026年11月21日", "November 21, 2026"]
    past = Quantity(95e6, "B/s", kind="estimate")
    chinese = Formatter("zh", {"{text} (estimate)": "{text}（估计）"}.__getitem__)
    assert chinese.format(past, "marked") == f"95.0{_}MB/s（估计）"


def test_shares_differ_by_points() -> None:
    found = Quantity(-0.125, "points", -0.2, -0.1)
    said = [Formatter(lang).format(found, "interval") for lang in ("en", "ko", "zh")]
    assert said == [
        f"−12.5{_}pp [−20.0–−10.0]",
        "−12.5%p [−20.0~−10.0]",
        "−12.5个百分点 [−20.0–−10.0]",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Quantity(351e6, "ns", 350.9e6, 351.2e6), f"351{_}ms"),
        (Quantity(3.79, "1", 3.789, 3.791), "3.79×"),
        (Quantity(351e6, "ns", 340e6, 360e6), f"351{_}ms [340–360]"),
        (Quantity(351e6, "ns", 350e6, 351.2e6), f"351{_}ms [350–351]"),
    ],
)
def test_an_interval_that_cannot_be_told_from_its_value_is_not_printed(
    value: Quantity, text: str
) -> None:
    assert Formatter("en").format(value, "x,interval" if value.unit == "1" else "interval") == text


def test_a_unit_that_does_not_fit_is_refused() -> None:
    with pytest.raises(LabError, match="a quantity in ns: no format 'MB'"):
        Formatter("en").format(Quantity(1, "ns"), "MB")


def test_nothing_is_not_below_nothing() -> None:
    numbers = Formatter("en")
    assert numbers.number(-0.001, 0) == "0"
    assert numbers.number(-0.0) == "0"
    assert numbers.number(-1.5, 1) == "−1.5"


def test_an_interval_without_an_end_is_none() -> None:
    found = Quantity(2.0, "1", -float("inf"), float("inf"))
    assert Formatter("en").format(found, "x,interval") == "2.00× [no interval]"


def test_an_end_that_lies_far_out_has_digits_of_its_own() -> None:
    numbers = Formatter("en")
    assert numbers.format(Quantity(0.771, "1", 0.34, 17.345), "x,interval") == "0.771× [0.340–17.3]"
    shares = Quantity(-0.0322, "share", -0.2343, 6.9628)
    assert numbers.format(shares, "interval") == "−3.22% [−23.43–696]"


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (Quantity(0.96, "1", 0.922, 0.99962), "0.960× [0.922–0.9996]"),
        (Quantity(1.51, "1", 1.004, 2.28), "1.51× [1.004–2.28]"),
        (Quantity(1.51, "1", 0.998, 2.28), "1.51× [1.00–2.28]"),
        (Quantity(1.51, "1", 1.0, 2.28), "1.51× [1.00–2.28]"),
        (Quantity(1.003, "1", 0.998, 1.004), "1.00×"),
    ],
)
def test_an_end_of_what_leaves_one_out_is_not_rounded_to_one(ratio: Quantity, text: str) -> None:
    """A ratio whose interval leaves one out was printed as faster, "0.922 to 1.000"."""
    assert Formatter("en").format(ratio, "x,interval") == text


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        # 1 / 0.0643, as it would be printed, is 15.6
        (Quantity(0.06434, "1", 0.05, 0.08), "x,interval", "1/15.5 [1/20.0–1/12.5]"),
        (Quantity(0.06434, "1", 0.05, 0.08), "x", "1/15.5"),
        (Quantity(0.06434, "1", 0.05, 0.08), "x,bare", "0.0643"),
        (Quantity(0.06434, "1", 0.05, 1.8), "x,interval", "0.0643× [0.0500–1.80]"),
        (Quantity(0.06434, "1", 0.0, 0.08), "x,interval", "0.0643× [0.0000–0.0800]"),
        (Quantity(0.0, "1", 0.0, 0.0), "x,interval", "0×"),
        (Quantity(0.1, "1", 0.09, 0.2), "x,interval", "0.100× [0.090–0.200]"),
    ],
)
def test_a_ratio_far_below_one_is_a_fraction_of_the_value_and_not_of_its_digits(
    value: Quantity, spec: str, text: str
) -> None:
    assert Formatter("en").format(value, spec) == text
