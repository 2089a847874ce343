"""`ipclab ab`: what its trial decides, that it leaves nothing, and its answers read by other programs' parsers."""

import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from math import exp
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner
from junitparser import JUnitXml
from markdown_it import MarkdownIt

from ipclab.ab.arms import ARM, Arm, Asked, Program
from ipclab.ab.command import ab
from ipclab.ab.point import Wanted
from ipclab.ab.told import WRITERS, Told
from ipclab.ab.trial import AGAIN, LIMITS, A, Answer, B, Taken, judged, trial
from ipclab.cli import commands
from ipclab.errors import LabError, UsageError
from ipclab.measure.progress import Progress
from ipclab.spawn.launcher import Launcher, Role
from ipclab.spawn.worker import Outcome
from ipclab.stats.compare import FASTER, SAME, SLOWER, UNDECIDED
from tests.commands import ROOT, environment, eventually, processes_of

SCATTER = 0.05  # of launches, as one CPU has it
TRIALS = 200


class World:
    """A made-up machine: arms with true times, launches with scatter, a clock that each launch moves by a second."""

    def __init__(self, seed: int, slower: float = 0.0, again: float = 0.0, step: float = 0.0, after: int = 0) -> None:
        self.random, self.now, self.launched = random.Random(seed), 0.0, count()
        self.times = {A: 1.0, AGAIN: 1 + again, B: 1 + slower}
        self.step, self.after = step, after  # from which launch on everything is slower by how much

    def took(self, true: float) -> float:
        disturbed = 1 + self.step if next(self.launched) >= self.after else 1.0
        return true * disturbed * exp(self.random.gauss(0, SCATTER))

    def launch(self, arm: str) -> float:
        self.now += 1
        return self.took(self.times[arm])

    def trial(self, seconds: float = 1_000, limit: bool = True, begin: Callable[[], None] = lambda: None) -> Answer:
        told = (lambda: self.took(1.0)) if limit else None
        clock = lambda: self.now  # noqa: E731
        options = {"seconds": seconds, "bound": 0.05, "seed": 1, "progress": Progress()}
        return trial(self.launch, told, begin, clock, **options)  # type: ignore[arg-type]


def answered(slower: float = 0.1, **world: float) -> Answer:
    return World(1, slower, **world).trial()  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(("slower", "wrong"), [(0.0, {FASTER, SLOWER}), (0.10, {FASTER, SAME, UNDECIDED})])
def test_of_simulated_trials_at_most_one_in_twenty_is_wrong_or_misses_a_tenth(slower, wrong):
    verdicts = [World(seed, slower).trial().verdict for seed in range(TRIALS)]
    assert sum(verdict in wrong for verdict in verdicts) <= TRIALS / 20


@pytest.mark.slow
def test_identical_arms_are_mostly_shown_to_be_the_same():
    verdicts = [World(seed).trial().verdict for seed in range(40)]
    assert verdicts.count(SAME) >= 36


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [24, 1_000])
@pytest.mark.parametrize("slower", [0.0, 0.10])
def test_a_machine_that_changes_in_the_middle_gives_no_wrong_answer(slower, seconds):
    wrong = {FASTER, SLOWER} if slower == 0 else {FASTER, SAME}
    found = [World(seed, slower, step=1.0, after=24).trial(seconds) for seed in range(40)]
    assert not [answer for answer in found if answer.verdict in wrong]
    assert seconds > 100 or all("limits" in answer.reason for answer in found)


def test_a_difference_of_a_against_itself_leaves_all_undecided():
    answer = answered(again=0.5)
    assert (answer.verdict, answer.exit_code) == (UNDECIDED, 3)
    assert answer.reason.startswith("A again differs from A")


def test_limits_that_differ_leave_all_undecided():
    taken = Taken({A: [1, 1.1] * 4, AGAIN: [1.05, 1.02] * 4, B: [2, 2.1] * 4}, [1, 1.01] * 6 + [3, 3.01] * 6)
    answer = judged(taken, 0.05)
    assert answer.verdict == UNDECIDED
    assert "limits differ" in answer.reason
    assert judged(Taken(taken.values, [1, 1.01, 1.02] * 8), 0.05).verdict == SLOWER


@pytest.mark.parametrize(("slower", "verdict", "code"), [(0.5, SLOWER, 1), (-0.5, FASTER, 0), (0.0, SAME, 0)])
def test_exit_codes_follow_the_verdict(slower, verdict, code):
    answer = answered(slower)
    assert (answer.verdict, answer.exit_code, answer.reason) == (verdict, code, "")


def test_a_trial_ends_as_soon_as_a_look_decides():
    assert answered(0.5).taken.rounds == 8


def test_each_round_launches_every_arm_once_after_a_limit():
    answer = answered(0.5)
    assert {len(values) for values in answer.taken.values.values()} == {8}
    assert len(answer.taken.limits) == 24


def test_no_round_begins_after_the_time():
    answer = World(1).trial(seconds=10)
    assert answer.taken.rounds == 4
    assert answer.verdict == UNDECIDED


def test_a_trial_without_native_limits_still_controls_a_against_itself():
    answer = World(1, 0.5).trial(limit=False)
    assert answer.verdict == SLOWER
    assert set(answer.controls) == {AGAIN}


def test_a_launch_that_fails_leaves_all_undecided_with_its_reason():
    rounds = count()

    def begin() -> None:
        if next(rounds) == 20:
            raise LabError("the disk is full")

    answer = World(1, 0.02).trial(begin=begin)
    assert (answer.verdict, answer.reason, answer.taken.rounds) == (UNDECIDED, "the disk is full", 20)


def test_numbers_without_scatter_are_not_judged():
    answer = judged(Taken({A: [5.0] * 8, AGAIN: [5.0] * 8, B: [6.0] * 8}), 0.05)
    assert answer.verdict == UNDECIDED
    assert "same number" in answer.reason


class Fake(Launcher):
    """A launcher that notes what it is asked to launch, and fails or is interrupted at an arm."""

    def __init__(self, said: str = "", error: BaseException | None = None) -> None:
        self.names: list[str] = []
        self.said, self.error = said, error

    def launch(self, roles: Sequence[Role], seconds: float) -> dict[str, Outcome]:
        self.names += [role.name for role in roles]
        if self.error and roles[0].name == ARM:
            raise self.error
        return {roles[0].name: Outcome(facts={"said": self.said})}


def program(arm: Arm) -> Program:
    assert isinstance(arm.launched, Program)
    return arm.launched


def asked(**given: object) -> Asked:
    return Asked(Wanted("round_trip", ""), frozenset({0}), **given)  # type: ignore[arg-type]


def test_a_command_is_timed_as_a_whole_in_ns():
    ticks = iter([3.0, 3.5])
    arm = replace(program(asked().arms(["true 1"])[0]), clock=lambda: next(ticks))
    assert arm(Fake(), 1) == 0.5e9


@pytest.mark.parametrize(("more", "value"), [(False, 12.5), (True, 0.08)])
def test_the_last_line_that_is_a_number_is_what_a_command_prints(more, value):
    (arm,) = asked(printed=True, more=more).arms(["true"])
    assert arm.launch(Fake("7\nround trip:\n12.5\nthank you\n"), 1) == value


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("said", ["", "done\n", "7\n0\n", "0\n", "-3\n", "nan\n", "inf\n"])
def test_what_prints_no_number_above_0_has_failed(said, more):
    with pytest.raises(LabError, match="number"):
        asked(printed=True, more=more).arms(["true"])[0].launch(Fake(said), 1)


@pytest.mark.parametrize("error", [None, LabError("no"), KeyboardInterrupt()])
def test_a_setting_is_undone_after_each_launch_however_it_ends(error):
    whole = asked()
    arm, fake = whole.with_setting(whole.arms(["true"])[0], "true on", "true off"), Fake(error=error)
    try:
        arm.launch(fake, 1)
    except (LabError, KeyboardInterrupt) as raised:
        assert raised is error
    assert fake.names == ["before", ARM, "undo"]


def test_a_setting_that_stays_is_told_beside_what_failed_before():
    class Stuck(Fake):
        def launch(self, roles, seconds):
            if roles[0].name == "undo":
                raise LabError("stuck")
            return super().launch(roles, seconds)

    whole = asked()
    arm = whole.with_setting(whole.arms(["true"])[0], "true on", "true off")
    with pytest.raises(LabError, match="after true on was not undone: stuck; before that: no; take"):
        arm.launch(Stuck(error=LabError("no")), 1)


def test_ctrl_c_waits_for_the_undo():
    class Interrupted(Fake):
        def launch(self, roles, seconds):
            if roles[0].name == "undo":
                os.kill(os.getpid(), signal.SIGINT)
            return super().launch(roles, seconds)

    whole, fake = asked(), Interrupted("1")
    with pytest.raises(KeyboardInterrupt):
        whole.with_setting(whole.arms(["true"])[0], "true on", "true off").launch(fake, 1)
    assert fake.names == ["before", ARM, "undo"]


def test_two_mechanisms_are_two_points_of_a_study():
    first, second = Asked(Wanted("round_trip", "", 100), frozenset({0})).arms(["unix", "tcp"])
    assert (first.label, second.label) == ("unix", "tcp")
    assert not isinstance(first.launched, Program)


def test_two_checkouts_measure_the_same_point_each_with_its_own_package(tmp_path):
    for name in ("base", "head"):
        (tmp_path / name / "ipclab").mkdir(parents=True)
        (tmp_path / name / "ipclab" / "__init__.py").touch()
    arms = asked().arms([str(tmp_path / "base"), str(tmp_path / "head")])
    roles = [program(arm).role for arm in arms]
    assert [role.env["PYTHONPATH"] for role in roles] == [str(tmp_path / "base"), str(tmp_path / "head")]
    assert roles[0].command == roles[1].command


def test_a_command_takes_the_arm_in_its_place():
    (arm,) = asked(command="true --file {} --fast").arms(["a b"])
    assert program(arm).role.command[1:] == ("--file", "a b", "--fast")
    assert arm.label == "a b"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["true"], "give A and B"),
        (["true", "false", "true"], "3 arms"),
        (["true", "zmq-ipcc"], "'zmq-ipc'"),
        (["true", "'open"], "close its quotes"),
        (["true", ""], "no such program"),
        (["true", "false"], "false cannot be launched"),
        (["true", "true", "--printed"], "no number"),
        (["true", "--before", "true"], "--undo"),
        (["true", "true", "--before", "true", "--undo", "true"], "A alone"),
        (["true", "true", "--bound", "5"], "no share"),
        (["true", "true", "--bound", "x"], "no share"),
        (["true", "true", "--seconds", "nan"], "nan"),
        (["true", "true", "--more-is-better"], "--printed"),
        (["unix", "tcp", "--printed"], "--printed is of commands"),
        (["true", "true", "--placement", "nowhere"], "unknown placement"),
        (["true", "true", "--level", "wait"], "wait"),
        (["true", "true", "--format", "junit", "--format", "bmf"], "2 formats"),
        (["true", "true", "--format", "junit", "--output", "/proc/none/ab.xml"], "cannot write"),
        (["unix", "tcp", "--size", "100", "--level", "wait=never"], "no such point"),
        (["unix", "tcp", "--study", "payloads"], "payload"),
        (["echo-1", "echo-2", "--study", "calibration", "--size", "7"], "no such point"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(given, said, tmp_path):
    done = run(tmp_path, *given)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert done.stdout == ""


def run(folder: Path, *given: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "ipclab", "ab", *given]
    return subprocess.run(
        command, env=environment(folder), cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


def test_runs_are_sent_to_compare_with_what_that_cannot_show(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").touch()
    with pytest.raises(UsageError, match=r"luck of their own.*ipclab compare .* --fail-on slower"):
        asked().arms([str(tmp_path / "a"), str(tmp_path / "b")])


COUNTING = """
import os, sys
print(f"about {sys.argv[1]} with {os.getpid()}")
print(float(sys.argv[1]) + os.getpid() % 50)
"""


@pytest.mark.slow
def test_two_commands_are_compared_and_told_in_every_format(tmp_path):
    script = tmp_path / "counting.py"
    script.write_text(COUNTING)
    files = {name: tmp_path / f"ab.{name}" for name in WRITERS}
    given = [word for name, file in files.items() for word in ("--format", name, "--output", str(file))]
    arms = [f"{sys.executable} -I {script} {number}" for number in (1000, 2000)]
    done = run(tmp_path, *arms, "--printed", "--seed", "1", *given)
    assert (done.returncode, done.stdout) == (1, files["line"].read_text()), done.stderr
    assert done.stdout.startswith("slower: number of ")
    assert "8 rounds" in done.stdout
    (case,) = next(iter(JUnitXml.fromfile(str(files["junit"]))))
    assert case.result[0]._tag == "failure"
    assert json.loads(files["bmf"].read_text())[arms[1]]["number"]["value"] >= 2000


@pytest.mark.slow
def test_a_setting_is_made_and_taken_back_really(tmp_path):
    mark = tmp_path / "on"
    setting = ["--before", f"touch {mark}", "--undo", f"rm {mark}"]
    done = run(tmp_path, f"sh -c 'test -e {mark} && echo 2 || echo 1'", "--printed", *setting, "--seconds", "1")
    assert done.returncode == 3
    assert f"after touch {mark} over sh" in done.stdout
    assert " 2.000" in done.stdout
    assert not mark.exists()


@pytest.mark.slow
def test_another_checkout_measures_the_point_itself(tmp_path):
    done = run(tmp_path, str(ROOT), str(ROOT), "--seconds", "1")
    assert done.returncode in {0, 1, 3}, done.stderr
    assert f"time of {ROOT} over {ROOT}" in done.stdout


@pytest.mark.slow
def test_a_checkout_runs_its_own_package_in_every_process(tmp_path):
    head = tmp_path / "head"
    shutil.copytree(ROOT / "ipclab", head / "ipclab", ignore=shutil.ignore_patterns("__pycache__"))
    with (head / "ipclab/studies/round_trip/ends.py").open("a") as ends:
        ends.write("\n\ndef serve(*given, **named):\n    raise RuntimeError('planted in head')\n")
    done = run(tmp_path, str(ROOT), str(head))
    assert done.returncode == 2
    assert f"{head} cannot be launched" in done.stderr
    assert "planted in head" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_trial_leaves_nothing(tmp_path, sign):
    mark = tmp_path / "on"
    script = f"if test -e {mark}; then touch {tmp_path}/begun; sleep 1000; fi"
    command = [sys.executable, "-m", "ipclab", "ab", f"sh -c '{script}'"]
    setting = ["--before", f"touch {mark}", "--undo", f"rm -f {mark}"]
    started = subprocess.Popen([*command, *setting], env=environment(tmp_path), stderr=subprocess.PIPE, text=True)
    assert eventually((tmp_path / "begun").exists, 60)
    session = next((tmp_path / "data" / "runs" / ".ledger").glob("*")).name
    os.kill(started.pid, sign)
    _, said = started.communicate(timeout=60)
    assert started.returncode == (-9 if sign == signal.SIGKILL else 130), said
    assert eventually(lambda: not [line for line in _commands() if str(tmp_path) in line])
    assert not processes_of(session)
    assert mark.exists() == (sign == signal.SIGKILL)  # who was killed undoes nothing


def _commands() -> Iterator[str]:
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield entry.read_bytes().decode(errors="replace")
        except OSError:
            continue


@pytest.mark.slow
def test_a_launch_that_hangs_ends_at_the_deadline(tmp_path):
    done = run(tmp_path, "sleep 1000", "true", "--deadline", "1")
    assert done.returncode == 2
    assert "did not finish within 1 s" in done.stderr


BMF = {  # https://bencher.dev/bmf.json
    "$schema": "http://json-schema.org/draft-07/schema",
    "type": "object",
    "patternProperties": {
        ".+": {
            "type": "object",
            "patternProperties": {
                ".+": {
                    "type": "object",
                    "properties": {
                        "value": {"type": "number"},
                        "lower_value": {"type": "number"},
                        "upper_value": {"type": "number"},
                    },
                    "required": ["value"],
                }
            },
        }
    },
}
NONE = judged(Taken(), 0.05, failure="it <broke> & | ended")
ANSWERS = [answered(0.5), answered(-0.5), answered(again=0.5), NONE]
LABELS = {A: "old `cmd` | 'x' <a>", B: 'new & "y"', AGAIN: "old"}


def told(answer: Answer) -> Told:
    return Told(answer, LABELS, "ns")


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.verdict)
def test_junit_is_read_by_its_parser(answer):
    top = JUnitXml.fromstring(told(answer).junit().encode())
    ((case,),) = top
    counts = top.tests, top.failures, top.errors, top.skipped
    assert counts == (1, int(answer.verdict == SLOWER), 0, int(answer.verdict == UNDECIDED))
    assert [each._tag for each in case.result] == {SLOWER: ["failure"], UNDECIDED: ["skipped"]}.get(answer.verdict, [])
    assert case.name == f"{LABELS[B]} over {LABELS[A]}"
    assert all(answer.reason in each.message for each in case.result)
    assert case.system_out == told(answer).line()


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.verdict)
def test_bencher_metric_format_conforms_to_its_schema(answer):
    found = json.loads(told(answer).bmf())
    jsonschema.Draft7Validator(BMF).validate(found)
    if answer is not NONE:
        assert set(found) == {LABELS[A], LABELS[B], f"{LABELS[B]} over {LABELS[A]}"}
        ratio = found[f"{LABELS[B]} over {LABELS[A]}"]["ratio"]
        assert ratio["lower_value"] <= ratio["value"] <= ratio["upper_value"]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.verdict)
def test_markdown_has_a_table_row_for_each_arm(answer):
    tokens = MarkdownIt("commonmark").enable("table").parse(told(answer).markdown())
    assert [token.type for token in tokens].count("tr_open") == 4
    assert answer.verdict in told(answer).markdown()


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.verdict)
def test_the_line_is_one_with_verdict_ratio_and_controls(answer):
    line = told(answer).line()
    assert "\n" not in line
    assert line.startswith(answer.verdict)
    assert "A again over A" in line
    assert LIMITS in line


def test_equal_labels_stay_apart_in_bencher_metric_format():
    same = Told(answered(0.0), {A: "x", B: "x", AGAIN: "x"}, "ns")
    assert set(json.loads(same.bmf())) == {"A: x", "B: x", "x over x"}


def test_the_documented_commands_are_understood():
    lines = re.findall(r"ipclab ab ([^`#\n]+)", (ROOT / "docs/ci.md").read_text())
    calls = [shlex.split(line.split("||")[0]) for line in lines]
    assert len(calls) > 8
    for call in calls:
        ab.make_context("ab", [word for word in call if word != "..."] or ["--help"], resilient_parsing=True)


def test_the_documented_workflow_is_yaml_whose_steps_run_this_command():
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/ci.md").read_text(), re.DOTALL)
    (line,) = [
        step["run"] for step in yaml.safe_load(text)["jobs"]["ab"]["steps"] if "ipclab ab" in step.get("run", "")
    ]
    given = ab.make_context("ab", shlex.split(line)[2:]).params
    assert given["names"] == ("base", "head")
    assert len(given["formats"]) == len(given["outputs"]) == 3


def test_help_tells_the_exit_codes():
    assert "3: undecided" in CliRunner().invoke(commands, ["ab", "--help"]).output


def test_an_arm_shows_no_control_characters():
    assert "\x1b" not in asked().arms(["true \x1b[31m"])[0].label


def test_the_last_words_of_a_command_break_no_answer():
    spoken = told(judged(Taken(), 0.05, failure="it said \x1b[31mno\x00"))
    ((case,),) = JUnitXml.fromstring(spoken.junit().encode())
    assert "it said ?[31mno?" in case.result[0].message
    assert all(text.replace("\n", "").isprintable() for text in (spoken.line(), spoken.markdown()))
