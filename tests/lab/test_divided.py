"""What stands side by side can be divided: a ratio beside two values is their quotient, as printed."""

import pytest

from ipclab.frames import derived
from ipclab.paths import checkout
from ipclab.stats.quantity import Quantity, measured
from tests.support.divided import Shown, divides, undivided
from tests.support.few import some
from tests.support.told import reference

NAMES = sorted(file.stem for file in checkout().notebooks.glob("[0-9]*.ipynb"))
STUDIES = derived.studies_measured(reference())


def value(name: str, *launches: float) -> Quantity:
    by_heat = dict(enumerate(launches, 1))
    mean = sum(launches) / len(launches)
    return measured(Quantity(mean, "ns", mean / 2, mean * 2), by_heat, name)


def test_a_quotient_is_told_from_what_is_none() -> None:
    assert divides(13.7, 6.85, 2.0) and divides(1_234.0, 617.0, 2.0)
    assert not divides(13.7, 6.85, 2.05)
    over, under = value("over", 20.0, 20.0), value("under", 10.0, 10.0)
    assert [*undivided([over, under, over / under])] == []
    other = value("under", 10.0, 10.0) * 1
    wrong = over / under
    wrong.__dict__["product"] = (over / under).product
    object.__setattr__(wrong, "value", 2.2)
    assert len([*undivided([over, other, wrong])]) == 1
    assert [*undivided([over, wrong])] == []  # of one value nothing can be said


@pytest.mark.parametrize("study", STUDIES)
def test_a_contest_prints_the_quotient_of_its_two_values(study: str) -> None:
    contests = derived.read_frame(reference(), study, "contests")
    compared = contests[contests.ratio.notna()]
    rows = zip(compared.value, compared.best, compared.ratio, strict=True)
    assert [row for row in rows if row[2] != pytest.approx(row[0] / row[1])] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", some(NAMES, 4))
def test_a_page_prints_the_quotients_of_its_values(name: str) -> None:
    """Findings print one value beside a ratio, so that these are of its tables and texts."""
    shown = Shown(name).run()
    found = [line for part in shown.parts for line in undivided(part)]
    assert found == []
