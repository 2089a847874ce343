"""A run whose limits a result beat says so: on the first page of every report, and in the last
lines of commands.
"""

import json
from pathlib import Path

import pandas as pd
import pytest

from ipclab.bounds import suspects
from ipclab.lab.lab import Lab
from ipclab.paths import Paths
from ipclab.report.appendix import limits
from ipclab.report.pages.order import FRONT
from ipclab.store.run import RunFolder
from tests.frames.test_limits_again import made


@pytest.fixture
def beaten(tmp_path: Path) -> RunFolder:
    """A run in which a pipe's round trips take 58 ns where its limit is 715 ns."""
    return made(tmp_path, pipe=[715, 720, 1_387], unix=[40, 41], asked=[57, 58, 70])


def test_the_notice_names_what_beat_its_limit_with_the_states_of_both(
    beaten: RunFolder, paths: Paths
) -> None:
    for lang in ("en", "ko", "zh"):
        lab = Lab.of(beaten, paths, lang)
        table = limits.notice(lab)
        assert table
        (row,) = table.rows
        assert {lab.level("backend", "pipe"), "8.53%", "57\xa0ns", "70\xa0ns"} <= {*row}
        assert {"715\xa0ns", "1.39\xa0µs"} <= {*row}
        # a page of another study shows none of them
        assert limits.notice(lab, study="stream") is None


def test_all_are_shown_the_worst_first_and_those_called_the_same_once(
    beaten: RunFolder,
    paths: Paths,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lab = Lab.of(beaten, paths, "ko")
    found = limits.beaten(lab)
    many = pd.concat([found] * 9).assign(size_bytes=range(1, 10))
    same = pd.concat([found] * 3).assign(lowest=[0.3, 0.1, 0.2])
    for rows, shown in ((many, 9), (same, 1)):
        monkeypatch.setattr(limits, "beaten", lambda lab, rows=rows: rows)
        table = limits.notice(lab)
        assert table and len(table.rows) == shown
        assert f" {len(rows.drop_duplicates(limits.NAMING))}개" in capsys.readouterr().out
        worst = table.rows[0]
    assert "10.0%" in worst


def test_a_run_whose_limits_hold_says_nothing(tmp_path: Path, paths: Paths) -> None:
    run = made(tmp_path, pipe=[53, 54], unix=[40, 41], asked=[57, 58, 70])
    assert limits.notice(Lab.of(run, paths, "en")) is None


@pytest.mark.parametrize(("limit", "named"), [(1_000, ["99.0%"]), (993, [])])
def test_a_quotient_is_named_as_it_is_printed_whatever_its_interval(
    tmp_path: Path, paths: Paths, limit: int, named: list[str]
) -> None:
    """Round trips of 990 ns whose interval reaches from 0.5 to 2 times that."""
    run = made(tmp_path, pipe=[limit - 1, limit, limit + 1], unix=[40], asked=[500, 990, 1_960])
    lab = Lab.of(run, paths, "en")
    table = limits.notice(lab)
    assert [cell for row in (table.rows if table else ()) for cell in row if "%" in cell] == named
    (row,) = lab.points("round_trip", metric="p50").itertuples()
    assert (row.why == "limit") == bool(named)


def test_commands_print_a_line_for_each(beaten: RunFolder) -> None:
    head, line = suspects.checked(beaten)
    assert head.startswith(f"{beaten.id}: one result takes less time than the limit")
    assert line.startswith("x 0.09 of its limit: round_trip round-trip pipe-")


def test_the_table_shows_the_median_launch_and_both_ends(beaten: RunFolder, paths: Paths) -> None:
    table = limits.about_limits(Lab.of(beaten, paths, "en"))
    cell = table.loc[next(row for row in table.index if "pipe" in row), "cross"]
    assert (cell.value, cell.low, cell.high, cell.n) == (720, 715, 1387, "3")


def test_every_report_gives_the_notice_on_its_first_page(paths: Paths) -> None:
    for file in sorted(paths.notebooks.glob("*.ipynb")):
        cells = json.loads(file.read_text())["cells"]
        if any("".join(cell["source"]).startswith("## ") for cell in cells):
            notices = [cell for cell in cells if "notice(lab" in "".join(cell["source"])]
            assert [FRONT in cell["metadata"]["tags"] for cell in notices] == [True], file.name


def test_the_first_page_says_how_far_the_text_was_run(
    beaten: RunFolder, paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    for lang, start in (
        ("en", "Against the experiments of the text"),
        ("ko", "원문 실험과의 비교"),
        ("zh", "与原文实验的对照"),
    ):
        limits.notice(Lab.of(beaten, paths, lang), study="round_trip")
        line, *_ = capsys.readouterr().err.splitlines()
        assert line.startswith(start)
        limits.notice(Lab.of(beaten, paths, lang), study="stream")
        assert capsys.readouterr().err == ""  # which has no text
