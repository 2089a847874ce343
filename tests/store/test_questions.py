"""A run carries its questions: it is read without studies and mechanisms, and refuses wrong words."""

import json
import sys
from itertools import product
from pathlib import Path

import pytest

from ipclab.bounds.floors import bound_of
from ipclab.errors import LabError
from ipclab.store import run as folder
from ipclab.store.files import dump_json
from ipclab.store.questions import Bound, Mechanism, Question, Questions
from ipclab.store.record import Record, sealed
from ipclab.studies.installed import studies
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES
from ipclab.studies.questions import question, questions_of, renewed
from tests.support.commands import environment, ran

ALONE = """
import sys
from importlib import metadata

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("ipclab_more"):
            raise ModuleNotFoundError(f"{name} is refused", name=name)

usual = metadata.entry_points
metadata.entry_points = lambda **wanted: metadata.EntryPoints(
    entry for entry in usual(**wanted) if not entry.value.startswith("ipclab_more")
)
sys.meta_path.insert(0, Refused())
import ipclab

lab = ipclab.open("round_trip", run=sys.argv[1])
trips = lab.points(op="round-trip", metric="p50")
print(len(trips), len(lab.contests()), len(lab.launches(metric="p50")), len(lab.samples()) > 0)
"""


def test_a_run_is_read_without_the_plug_in(elsewhere: Record, tmp_path: Path) -> None:
    command = [sys.executable, "-c", ALONE, str(elsewhere.path)]
    done = ran(command, 120, env=environment(tmp_path), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 2 12 True" in done.stdout.splitlines()


def test_a_run_tells_its_questions_and_they_stay_when_the_code_asks_others(run: Record) -> None:
    told = json.loads((run.path / "run.json").read_text())["questions"]
    (racing,) = (each for each in told["studies"] if each["name"] == "round_trip")
    assert racing["races"][0]["op"] == "round-trip"
    assert folder.read_run(run.path).questions == questions_of(PROFILES["quick"])
    racing["races"] = []
    run.about["questions"] = told
    run.save()
    assert folder.read_run(run.path).questions.of("round_trip").races == ()
    assert question("round_trip").races != ()


@pytest.mark.parametrize("wrong", [{"same": "x"}, {"studies": [{}]}, {"more": 1}])
def test_questions_of_another_kind_are_refused(wrong: dict[str, object], run: Record) -> None:
    about = {**run.about, "questions": {**run.about["questions"], **wrong}}
    (run.path / "run.json").write_bytes(sealed(json.loads(dump_json(about))))
    with pytest.raises(LabError, match=r"run.json cannot be read"):
        folder.read_run(run.path)


def test_a_continued_run_asks_as_of_today_and_keeps_backends_that_are_gone() -> None:
    own = Questions(0.2, mechanisms={"their-pipe": Mechanism("pipe")})
    found = renewed(own, PROFILES["standard"])
    today = questions_of(PROFILES["standard"])
    assert (found.same, found.studies) == (0.05, today.studies)
    assert found.mechanisms == {**today.mechanisms, "their-pipe": Mechanism("pipe")}
    assert renewed(found, PROFILES["standard"]) == found


def test_a_full_run_has_the_words_of_every_briefer_one() -> None:
    of_brief = questions_of(PROFILES["smoke"]).studies
    known = {question.name: question.levels for question in of_brief}
    lacking = set()
    for (name, study), profile in product(studies().items(), PROFILES.values()):
        for point in study.points(profile, Sweep()):
            words = {factor: word for factor, word in point.key().items() if isinstance(word, str)}
            lacking |= {(name, *own) for own in words.items() if own[1] not in known[name][own[0]]}
    assert lacking == set()


def test_the_first_bound_that_fits_holds() -> None:
    bounds = (
        Bound("read", when={"keeps": "no", "arm": "again"}),
        Bound("read", "map-{mapping}", copies=1, least_bytes=100),
        Bound("read", {"main": "echo-{mechanism}"}, copies=2),
    )
    asked_of = Questions(
        studies=(Question("theirs", bounds=bounds),),
        mechanisms={"queue": Mechanism("mq", keeps="no"), "state": Mechanism("shm", keeps="yes")},
        limits={},
    )

    def copies(backend: str, size: int, arm: str) -> int | None:
        levels = {"backend": backend, "size_bytes": size, "placement": "same", "arm": arm}
        bound = bound_of(asked_of, "theirs", "read", levels)
        return bound.copies if bound else None

    assert [copies("queue", 200, "again"), copies("state", 200, "again")] == [0, 1]
    assert [copies("queue", 50, "main"), copies("nobody", 200, "again")] == [2, 1]
    levels = {"backend": "queue", "size_bytes": 1, "placement": "same"}
    assert bound_of(asked_of, "theirs", "write", levels) is None
    assert bound_of(asked_of, "another", "read", levels) is None
