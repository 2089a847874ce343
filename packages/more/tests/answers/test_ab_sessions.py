"""Several sessions of `ipclab ab`: slower is what each of them shows; a saved answer is read or
refused with a line.
"""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from ipclab.errors import UsageError
from ipclab_more.ab.report import TrialReport
from ipclab_more.ab.sessions import combined, save
from ipclab_more.ab.trial import AGAIN, EXIT, A, B
from tests.answers.test_ab import World

LABELS = {A: "base", B: "head", AGAIN: "base"}


def saved(folder: Path, seed: int, slower: float, **labels: str) -> Path:
    """Return the file of the answer of a simulated session."""
    file = folder / f"{seed}.json"
    save(TrialReport(World(seed, slower).trial(), LABELS | labels, "ns"), file)
    return file


def test_a_planted_slow_down_is_confirmed_and_nothing_is_called_slower_ten_times(
    tmp_path: Path,
) -> None:
    for first in range(0, 20, 2):
        planted = [saved(tmp_path, first + each, 0.2) for each in (0, 1)]
        assert combined(planted).verdict == "slower"
        alike = [saved(tmp_path, 100 + first + each, 0.0) for each in (0, 1)]
        assert combined(alike).verdict != "slower"


def test_what_one_session_alone_shows_is_undecided(tmp_path: Path) -> None:
    together = combined([saved(tmp_path, 1, 0.5), saved(tmp_path, 2, 0.0)])
    assert (together.verdict, EXIT[together.verdict]) == ("undecided", 3)
    assert together.line().startswith(
        "undecided: sessions, 2 sessions: time of head over base: slower 1."
    )
    mixed = combined([saved(tmp_path, 3, -0.5), saved(tmp_path, 4, 0.5)])
    assert mixed.verdict == "undecided"


def test_from_three_sessions_on_the_ratio_has_an_interval_between_them(tmp_path: Path) -> None:
    files = [saved(tmp_path, seed, 0.5) for seed in range(3)]
    for file, ratio in zip(files, (1.2, 1.25, 1.3), strict=True):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"ratio": ratio}))
    assert combined(files[:2]).between is None
    together = combined(files)
    # logs 0.1823, 0.2231, 0.2624: mean 0.2226, deviation 0.0400; Student's t of 2 is 4.303
    assert "time of head over base: 1.249 (1.131 to 1.380); slower" in together.line()


def test_answers_that_are_none_or_of_other_questions_are_refused(tmp_path: Path) -> None:
    whole = saved(tmp_path, 1, 0.5)
    with pytest.raises(UsageError, match="1 answers are given"):
        combined([whole])
    with pytest.raises(UsageError, match="confirms itself"):
        combined([whole, whole])
    with pytest.raises(UsageError, match="different questions"):
        combined([whole, saved(tmp_path, 2, 0.5, **{B: "other"})])
    about = json.loads(whole.read_text())
    for number, changed in enumerate(
        ({"verdict": "fine"}, {"ratio": -1}, {"format": 2}, {"more": 1})
    ):
        file = tmp_path / f"changed-{number}.json"
        file.write_text(json.dumps(about | changed))
        with pytest.raises(UsageError, match="is no saved answer"):
            combined([whole, file])
    with pytest.raises(UsageError, match="is no saved answer"):
        combined([whole, tmp_path / "absent.json"])


def test_the_command_ends_with_the_code_of_all(
    ipclab: Callable[..., "CompletedProcess[str]"], tmp_path: Path
) -> None:
    slower = [str(saved(tmp_path, seed, 0.5)) for seed in (1, 2)]
    done = ipclab("ab", "combine", *slower)
    assert done.returncode == 1 and done.stdout.startswith("slower, 2 sessions: ")
    done = ipclab("ab", "combine", slower[0], str(saved(tmp_path, 3, 0.0)))
    assert done.returncode == 3 and done.stdout.startswith("undecided: sessions")
    done = ipclab("ab", "combine", slower[0])
    assert done.returncode == 2 and "--save" in done.stderr
