"""What a person is told when it is wanted: the end of measuring, help, progress, a second session."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from ipclab.commands.bundles import pack, unpack
from ipclab.commands.measure import measure
from ipclab.commands.report import added
from ipclab.commands.told_run import COLUMNS, MOST_ROWS, _beside, median_lines
from ipclab.console import aligned, say_wrong
from ipclab.errors import LabError, UsageError
from ipclab.lab.runs import run_named
from ipclab.paths import Paths
from ipclab.report.pages import report as reports
from ipclab.session import alone as session_alone
from ipclab.session.alone import BESIDE, alone
from ipclab.session.progress import Progress
from ipclab.session.request import told_of_tails
from ipclab.store.questions import ALWAYS
from ipclab.studies.installed import studies
from tests.support.bundled import make_run, too_fast
from tests.support.commands import Run


def test_measuring_ends_with_a_table_of_what_was_asked(paths: Paths) -> None:
    run = make_run(paths.runs)
    head, *rows, last = median_lines(paths, run, ["round_trip", "limits"])
    assert head.split() == [name for name in COLUMNS if name != "levels"]
    assert {row.split()[1] for row in rows} == {"unix", "tcp"}
    for row in rows:
        assert row.startswith("round_trip") and "µs [" in row and "100 B" in row
    assert sum("the least median of 2" in row for row in rows) == 1  # few launches show nothing
    assert last == f"as pages: ipclab report --run {run.id} --lang en"
    assert median_lines(paths, run, ["payload"]) == []


def test_the_fastest_is_called_so_where_all_others_are_shown_to_be_slower() -> None:
    head = {"point": "unix-cross", "op": "round-trip", "fastest": "unix"}
    for verdict, ratio, word in (
        ("slower", 1.2, "the fastest of 2"),
        ("not tested", 0.91, "the least median of 2"),
        ("undecided", 1.01, "the least median of 2"),
    ):
        rival = {**head, "other_point": "pipe-cross", "verdict": verdict, "ratio": ratio}
        said = _beside(pd.DataFrame([rival]))
        other = f"{verdict}, {ratio:.2f} x unix"
        assert said == {("unix-cross", "round-trip"): word, ("pipe-cross", "round-trip"): other}
    alone_in_it = {**head, "other_point": "", "verdict": "", "ratio": float("nan")}
    assert _beside(pd.DataFrame([alone_in_it])) == {}


def test_more_rows_than_a_person_reads_are_counted(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(paths.runs)
    monkeypatch.setattr("ipclab.commands.told_run.MOST_ROWS", 1)
    count, next_ = median_lines(paths, run, ["round_trip"])
    assert count == "2 medians: round_trip 2" and MOST_ROWS > 1
    assert next_.endswith(f"ipclab values {run.id} --study round_trip --metric p50 --format table")


def test_a_run_is_named_by_a_part_of_its_id(paths: Paths, tmp_path: Path) -> None:
    run = make_run(paths.runs)
    for name in (run.id, run.id[-6:], str(run.path)):
        assert run_named(paths, name).path == run.path.resolve()
    pack(make_run(tmp_path / "other", factor=2.0), tmp_path / "x.ipclab")
    brought = unpack(paths, tmp_path / "x.ipclab")
    assert run_named(paths, brought.id[-6:]).path == brought.path
    with pytest.raises(UsageError, match="'20261120T' is in the ids of 2 runs; give more of"):
        run_named(paths, "20261120T")
    with pytest.raises(UsageError, match="nothing-like-it is no run"):
        run_named(paths, "nothing-like-it")


def test_the_newest_run_is_the_newest_full_one_else_the_newest_complete(paths: Paths) -> None:
    with pytest.raises(UsageError, match="there is no complete run"):
        run_named(paths, "newest")
    of_one_study = make_run(paths.runs)
    assert run_named(paths, "newest").id == of_one_study.id
    run = make_run(paths.runs)
    run.about["parameters"]["studies"] = [*studies()]
    run.save()
    assert run_named(paths, "newest").id == run.id


def test_a_run_says_in_one_line_what_beat_its_limit(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = make_run(tmp_path)
    too_fast(run)
    with pytest.raises(LabError, match="physically impossible"):
        say_wrong(run)
    assert capsys.readouterr().out.count("\n") <= 1


def test_a_report_of_a_run_with_failures_says_so(
    ipclab: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path / "elsewhere")
    run.about["failures"] = {"pipe-100": "it was killed"}
    run.save()
    monkeypatch.setattr(reports, "render_run", lambda *_: [tmp_path / "index.html"])
    done = ipclab("report", "--run", str(run.path), "--lang", "en", "--out", str(tmp_path / "out"))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "1 points failed: pipe-100: it was killed" in done.stderr


@pytest.mark.parametrize(
    ("there", "asked", "measured"),
    [("", "", "quick"), ("", "smoke", "smoke"), ("standard", "", "standard")],
)
def test_a_report_measures_what_is_lacking_under_the_profile_that_is_meant(
    ipclab: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    there: str,
    asked: str,
    measured: str,
) -> None:
    """A run of which points failed is continued under its own profile."""
    if there:
        run = make_run(tmp_path / "data/runs")
        run.about["parameters"] |= {"studies": [*studies()], "profile": there}
        run.about["failures"] = {"pipe-100": "it was killed"}
        run.save()
    profiles = list[str]()

    def measure_first(_: Paths, profile: str) -> None:
        profiles.append(profile)
        raise LabError("nothing is measured here")

    monkeypatch.setattr(reports, "measure_first", measure_first)
    words = ["report", "--measure", "--out", str(tmp_path / "out")]
    done = ipclab(*words, *(("--profile", asked) if asked else ()))
    assert (done.returncode, profiles) == (1, [measured]), done.stderr


def test_help_tells_whole_summaries_a_first_command_and_what_can_be_varied(ipclab: Run) -> None:
    told = " ".join(ipclab("--help").stdout.split())
    listed = told.partition("Commands:")[2]
    assert "..." not in listed.replace("RUN ...", "")
    assert "Begin with 'ipclab measure --study round_trip --size 100'" in told
    told = ipclab("measure", "--help").stdout
    for name, study in studies().items():
        if name not in ALWAYS:
            assert f"\n  {name} " in told
            assert all(f"{factor}=" in told for factor in study.factors)


def test_progress_counts_what_it_says_and_names_the_study(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = Progress(shown=True)
    progress.start("report", 2, "page")
    progress.step("payload")
    progress.bar.refresh()
    progress.end()
    told = capsys.readouterr().err
    assert "page" in told and "launch" not in told and "payload" in told


def test_launches_say_that_they_measure_tails() -> None:
    said = "10,000 samples, for its own p99.9, in turns of 250 ms instead of 2.0 ms"
    assert said in told_of_tails("quick")


def test_a_briefer_profile_names_what_standard_adds_and_how_long_it_takes() -> None:
    (line,) = added("quick")
    assert line.startswith("PROFILE=standard adds more launches, the studies stream, faults, ")
    assert line.endswith("it takes up to 52 minutes: make report PROFILE=standard")
    assert added("standard") == added("published") == []


def test_columns_of_lines_begin_below_each_other() -> None:
    assert [*aligned([["a", "bb"], ["ccc", "d"]])] == ["a    bb", "ccc  d"]


@pytest.fixture
def name(monkeypatch: pytest.MonkeyPatch) -> str:
    """A name of the test's own, by which sessions know that another one measures."""
    own = f"\0ipclab-test-{os.getpid()}"
    monkeypatch.setattr(session_alone, "NAME", own)
    monkeypatch.delenv(BESIDE, raising=False)
    return own


def started(code: str) -> "subprocess.Popen[str]":
    """Start another process that holds the name, or asks for it."""
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


SECOND = """
from ipclab.session import alone as a
a.NAME = {name!r}
with a.alone(lambda line: print(line, flush=True)):
    print("begun", flush=True)
"""


def test_a_second_session_says_so_and_waits_or_goes_on_when_told(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    with alone(said.append):
        second = started(SECOND.format(name=name))
        assert second.stdout is not None
        assert "another session is measuring on this machine" in second.stdout.readline()
        with alone(said.append, beside=True):
            monkeypatch.setenv(BESIDE, "1")
            with alone(said.append):
                assert second.poll() is None
    assert second.stdout.readline() == "begun\n" and second.wait(30) == 0 and said == []


@pytest.mark.usefixtures("name")
def test_what_is_wrong_is_refused_before_another_session_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_alone, "LONGEST", 0.0)
    words = ["--study", "round_trip", "--backend", "unics"]
    with alone(lambda line: None), pytest.raises(UsageError, match="no backend 'unics'"):
        measure.main(words, standalone_mode=False)


STRANGER = """
import os, socket, time
os.setuid(64123)
held = socket.socket(socket.AF_UNIX)
held.bind({name!r})
held.listen()
print("bound", flush=True)
time.sleep(60)
"""


@contextmanager
def held_by(code: str) -> Iterator[None]:
    """Have another process hold the name, which is killed at the end."""
    holder = started(code)
    try:
        assert holder.stdout is not None and holder.stdout.readline()
        yield
    finally:
        holder.kill()
        holder.wait()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_strangers_word_makes_nobody_wait(name: str) -> None:
    said: list[str] = []
    with held_by(STRANGER.format(name=name)), alone(said.append):
        assert said == [session_alone.STRANGER]


def test_a_session_that_was_killed_is_not_waited_for(name: str) -> None:
    with held_by(STRANGER.format(name=name).replace("os.setuid(64123)\n", "")):
        pass
    said: list[str] = []
    with alone(said.append):
        assert said == []
