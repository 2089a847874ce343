"""The arms of `ipclab ab`: what they are, that they are launched and undone, and that they leave
nothing.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from junitparser import JUnitXml

from ipclab.errors import LabError, UsageError
from ipclab.spawn.failures import LostError, SessionError
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Outcome
from ipclab.stats.family import HEAT_LOOKS
from ipclab_more.ab.arms import ARM, Arm, Asked, CommandArm, uninterrupted
from ipclab_more.ab.command import FORMATS
from ipclab_more.ab.point import AtPoint
from ipclab_more.ab.trial import _insisting
from tests.support.commands import ROOT, environment, eventually, processes_of, ran
from tests.support.few import some


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


def program(arm: Arm) -> CommandArm:
    assert isinstance(arm.launched, CommandArm)
    return arm.launched


def asked(**given: object) -> Asked:
    return Asked({"study": "round_trip"}, frozenset({0}), **given)  # type: ignore[arg-type]


def with_setting() -> Arm:
    whole = asked()
    return whole.with_setting(whole.arms(["true"])[0], "true on", "true off")


def test_a_command_is_timed_as_a_whole_in_ns(monkeypatch):
    ticks = iter([3.0, 3.5])
    monkeypatch.setattr("ipclab_more.ab.arms.perf_counter", lambda: next(ticks))
    assert program(asked().arms(["true 1"])[0])(Fake(), 1) == 0.5e9


@pytest.mark.parametrize(("more", "value"), [(False, 12.5), (True, 0.08)])
def test_the_last_line_that_is_a_number_is_what_a_command_prints(more, value):
    (arm,) = asked(printed=True, more=more).arms(["true"])
    assert arm.launch(Fake("7\nround trip:\n12.5\nthank you\n"), 1) == value


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("said", ["done\n", "7\n0\n", "-3\n", "nan\n", "inf\n"])
def test_what_prints_no_number_above_0_has_failed(said, more):
    with pytest.raises(LabError, match="number"):
        asked(printed=True, more=more).arms(["true"])[0].launch(Fake(said), 1)


def test_a_hangup_that_nohup_has_ignored_stays_so_while_others_are_put_off():
    came, heard = [], [signal.SIGTERM, signal.SIGHUP]
    before = {number: signal.getsignal(number) for number in heard}
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: came.append("TERM"))
    try:
        with uninterrupted():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGHUP)  # no KeyboardInterrupt at the end
        with pytest.raises(KeyboardInterrupt), uninterrupted():
            os.kill(os.getpid(), signal.SIGTERM)
        assert (signal.getsignal(signal.SIGHUP), came) == (signal.SIG_IGN, [])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.parametrize("error", [None, LabError("no"), KeyboardInterrupt()])
def test_a_setting_is_undone_after_each_launch_however_it_ends(error):
    fake = Fake(error=error)
    try:
        with_setting().launch(fake, 1)
    except (LabError, KeyboardInterrupt) as raised:
        assert raised is error
    assert fake.names == ["before", ARM, "undo"]


def test_a_setting_that_stays_is_told_beside_what_failed_before():
    class Stuck(Fake):
        def launch(self, roles, seconds):
            if roles[0].name == "undo":
                raise LabError("stuck")
            return super().launch(roles, seconds)

    told = "after true on was not undone: stuck; before that: no; take"
    with pytest.raises(LabError, match=told):
        with_setting().launch(Stuck(error=LabError("no")), 1)


def test_ctrl_c_waits_for_the_undo():
    class Interrupted(Fake):
        def launch(self, roles, seconds):
            if roles[0].name == "undo":
                os.kill(os.getpid(), signal.SIGINT)
            return super().launch(roles, seconds)

    fake = Interrupted("1")
    with pytest.raises(KeyboardInterrupt):
        with_setting().launch(fake, 1)
    assert fake.names == ["before", ARM, "undo"]


def test_a_launch_that_is_lost_with_its_fork_server_is_made_again():
    lost: list[float | LabError] = [LostError("the fork server does not answer")] * 2
    made: Iterator[float | LabError] = iter([*lost, 1.0, *lost, SessionError("it goes on"), 2.0])

    def launched(*_: object) -> float:
        value = next(made)
        if isinstance(value, LabError):
            raise value
        return value

    assert _insisting(launched) == 1.0
    with pytest.raises(SessionError):
        _insisting(launched)


def test_a_mechanism_is_launched_at_its_point(launcher: Launcher):
    wanted = {"study": "round_trip", "size": 100}
    (arm,) = Asked(wanted, frozenset({0})).arms(["unix"])
    assert isinstance(arm.launched, AtPoint)  # and no command
    assert arm.launched.contestant.point.key()["size_bytes"] == 100
    assert arm.launch(launcher, 30) > 0


def test_a_command_takes_the_arm_in_its_place():
    (arm,) = asked(command="true --file {} --fast").arms(["a b"])
    assert program(arm).role.command[1:] == ("--file", "a b", "--fast")
    assert arm.label == "a b"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("true", "give A and B"),
        ("true false true", "3 arms"),
        ("pipee unixx", "'pipee' is no program and no mechanism; did you mean 'pipe'?"),
        ("pipe unixx", "'unixx' is no mechanism: the other one is; did you mean 'unix'?"),
        ("true 'open", "close its quotes"),
        ("true ", "no program and no mechanism"),
        ("true false", "false cannot be launched"),
        ("true true --printed", "no number"),
        ("true --before true", "--undo"),
        ("true true --before true --undo true", "A alone"),
        ("true true --bound 5", "no share"),
        ("true true --more-is-better", "--printed"),
        ("unix tcp --printed", "--printed is of commands"),
        ("true true --placement nowhere", "unknown placement"),
        ("true true --format junit --format bmf", "2 formats"),
        ("true true --format junit --output /proc/none/ab.xml", "cannot write"),
        ("unix tcp --size 100 --level wait=never", "no such point"),
        ("pipe unix --level gap_ns=x", "gap_ns=x is not possible; give whole numbers"),
        ("unix tcp --study payloads", "payload"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(given, said, ipclab):
    done = ipclab("ab", *given.split(" "))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert said in done.stderr


def run(folder: Path, *given: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "ipclab", "ab", *given]
    return ran(command, 120, env=environment(folder), cwd=ROOT)


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
    files = {name: tmp_path / f"ab.{name}" for name in FORMATS}
    given = [
        word for name, file in files.items() for word in ("--format", name, "--output", str(file))
    ]
    arms = [shlex.join([sys.executable, "-I", str(script), str(n)]) for n in (1000, 2000)]
    done = run(tmp_path, *arms, "--printed", *given)
    assert (done.returncode, done.stdout) == (1, files["line"].read_text()), done.stderr
    assert done.stdout.startswith("slower: number of ")
    (rounds,) = re.findall(r"(\d+) rounds in", done.stdout)
    # the limits are this machine's: where they change by chance, a look decides nothing
    assert int(rounds) in HEAT_LOOKS
    (case,) = next(iter(JUnitXml.fromfile(str(files["junit"]))))
    assert case.result[0]._tag == "failure"
    assert json.loads(files["bmf"].read_text())[arms[1]]["number"]["value"] >= 2000


@pytest.mark.slow
def test_a_setting_is_made_and_taken_back_really(tmp_path):
    mark = tmp_path / "on"
    setting = ["--before", f"touch {mark}", "--undo", f"rm {mark}"]
    command = f"sh -c 'test -e {mark} && echo 2 || echo 1'"
    done = run(tmp_path, command, "--printed", *setting, "--seconds", "1")
    assert done.returncode == 3
    assert f"after touch {mark} over sh" in done.stdout
    assert " 2.000" in done.stdout
    assert not mark.exists()


@pytest.mark.slow
def test_a_checkout_runs_its_own_package_in_every_process(tmp_path):
    head = tmp_path / "head"
    for name in ("ipclab", "packages"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, head / name, ignore=ignored)
    with (head / "ipclab/studies/round_trip/ends.py").open("a") as ends:
        ends.write("\n\ndef serve(*given, **named):\n    raise RuntimeError('planted in head')\n")
    placement = "cross" if len(os.sched_getaffinity(0)) > 1 else "same"
    done = run(tmp_path, str(ROOT), str(head), "--placement", placement)
    assert done.returncode == 2
    assert f"{head} cannot be launched" in done.stderr
    assert "planted in head" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("sign", some([signal.SIGKILL, signal.SIGINT, signal.SIGTERM], 3))
def test_an_interrupted_trial_leaves_nothing(tmp_path, sign):
    mark = tmp_path / "on"
    script = f"if test -e {mark}; then touch {tmp_path}/begun; sleep 1000; fi"
    command = [sys.executable, "-m", "ipclab", "ab", f"sh -c '{script}'"]
    setting = ["--before", f"touch {mark}", "--undo", f"rm -f {mark}"]
    started = subprocess.Popen(
        [*command, *setting], env=environment(tmp_path), stderr=subprocess.PIPE, text=True
    )
    assert eventually((tmp_path / "begun").exists, 60)
    session = next((tmp_path / "data" / "runs" / ".ledger").glob("*")).name
    os.kill(started.pid, sign)
    _, said = started.communicate(timeout=60)
    assert started.returncode == (-9 if sign == signal.SIGKILL else 130), said
    assert eventually(lambda: not processes_of(str(tmp_path)))
    assert not processes_of(session)
    assert mark.exists() == (sign == signal.SIGKILL)  # who was killed undoes nothing


ENDLESS = "sh -c 'while :; do yes; done 2>/dev/null'"
WAITS = ["true", "--deadline", "1", "--before"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "said"),
    some(
        [
            (["true", "yes"], "wrote more than 16 MiB; have it write less"),
            ([ENDLESS, "true", "--deadline", "1"], "did not finish within 1 s"),
            (
                [*WAITS, "sleep 1000", "--undo", "sleep 1000"],
                "before that: worker 'before' did not finish within 1 s",
            ),
            (
                [*WAITS, "true", "--undo", "sleep 1000"],
                "was not undone: worker 'undo' did not finish within 1 s",
            ),
        ],
        2,
    ),
)
def test_what_writes_or_waits_without_end_is_one_line(tmp_path, given, said):
    done = run(tmp_path, *given)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert said in done.stderr and "cannot be launched" in done.stderr
    assert not [*(tmp_path / "tmp").iterdir()]


def test_an_arm_shows_no_control_characters():
    assert "\x1b" not in asked().arms(["true \x1b[31m"])[0].label
