"""A run whose limits a result beat says so: on the first page of every report, and in the last
lines of commands.
"""

import json
from pathlib import Path

import pandas as pd
import pytest

from ipclab.bounds import suspects
from ipclab.paths import Paths
from ipclab.report.appendix import limits
from ipclab.report.lab import lab_of
from ipclab.report.pages.front import FRONT
from ipclab.store.run import RunFolder
from tests.frames.test_limits_again import made


@pytest.fixture
def beaten(tmp_path: Path) -> RunFolder:
    """A run in which a pipe's round trips take 58 ns where its limit is 715 ns."""
    return made(tmp_path, pipe=[715, 720, 1_387], unix=[40, 41], asked=[57, 58, 70])


def test_the_notice_names_what_beat_its_limit_in_every_language(
    beaten: RunFolder, paths: Paths
) -> None:
    told = {lang: limits.notice(lab_of(beaten, paths, lang)).data for lang in ("en", "ko", "zh")}
    assert all("8.06%" in text and text.startswith("**") for text in told.values())
    assert all(
        lab_of(beaten, paths, lang).level("backend", "pipe") in text for lang, text in told.items()
    )
    assert "57\xa0ns to 70\xa0ns, the limit 715\xa0ns to 1.39\xa0µs" in told["en"]
    ratios, which = limits.notice(lab_of(beaten, paths, "en"), study="round_trip").data.split(
        "\n\n"
    )
    assert ratios.startswith("A ratio of medians measured side by side is the geometric mean")
    assert which == told["en"]
    # its page shows none of them
    assert limits.notice(lab_of(beaten, paths, "en"), study="stream").data == ratios


def test_the_notice_names_three_and_counts_the_rest(
    beaten: RunFolder, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    five = pd.concat([limits.beaten(lab_of(beaten, paths, "ko"))] * 5)
    five["size_bytes"] = range(1, 6)
    for rows, names, rest in ((five, 3, "외 2건"), (five[:3], 3, ""), (five[:4], 3, "외 1건")):
        monkeypatch.setattr(limits, "beaten", lambda lab, rows=rows: rows)
        told = limits.notice(lab_of(beaten, paths, "ko")).data
        assert (told.count("8.06%"), "외" in told) == (names, bool(rest)) and rest in told


def test_results_that_would_be_called_the_same_are_named_once(
    beaten: RunFolder, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    walls = pd.concat([limits.beaten(lab_of(beaten, paths, "ko"))] * 3)
    monkeypatch.setattr(limits, "beaten", lambda lab: walls.assign(lowest=[0.3, 0.1, 0.2]))
    told = limits.notice(lab_of(beaten, paths, "ko")).data
    assert told.count("%") == 1 and "10.0%" in told and "외 2건" in told


def test_a_run_whose_limits_hold_says_nothing(tmp_path: Path, paths: Paths) -> None:
    run = made(tmp_path, pipe=[53, 54], unix=[40, 41], asked=[57, 58, 70])
    assert limits.notice(lab_of(run, paths, "en")) is None


def test_commands_print_a_line_for_each(beaten: RunFolder) -> None:
    head, line = suspects.checked(beaten)
    assert head.startswith(f"{beaten.id}: 1 results take less time than their limit")
    assert line.startswith("x 0.08 of its limit: round_trip round-trip pipe-")


def test_the_table_shows_the_median_launch_and_both_ends(beaten: RunFolder, paths: Paths) -> None:
    table = limits.about_limits(lab_of(beaten, paths, "en"))
    cell = table.loc[next(row for row in table.index if "pipe" in row), "cross"]
    assert (cell.value, cell.low, cell.high, cell.n) == (720, 715, 1387, "3")


def test_every_report_gives_the_notice_on_its_first_page(paths: Paths) -> None:
    for file in sorted(paths.notebooks.glob("*.ipynb")):
        cells = json.loads(file.read_text())["cells"]
        if any("".join(cell["source"]).startswith("## ") for cell in cells):
            notices = [cell for cell in cells if "notice(lab" in "".join(cell["source"])]
            assert [FRONT in cell["metadata"]["tags"] for cell in notices] == [True], file.name
