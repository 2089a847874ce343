"""A need is answered by what was measured: the planted best is found, and what is not known is
said.
"""

import math
import shlex
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from ipclab.bounds.states import UNSTEADY
from ipclab.errors import UsageError
from ipclab.frames import derived
from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.stats.compare import EQUIVALENCE, FASTER, NOT_TESTED, SAME, SLOWER
from ipclab.stats.enough import launches_more
from ipclab.store.run import RunFolder
from ipclab.studies.profile import profile
from ipclab_more.choose.answer import ANSWERED, NOTHING, UNDECIDED
from ipclab_more.choose.asked import _refusal, offers, points_asked, request, tell
from ipclab_more.choose.known import Offer, narrowed_to, promise_kept, promised
from ipclab_more.choose.need import EACH, MUSTS, NUMBERS, ONE, Need, need_of, read_need
from ipclab_more.choose.runs import file_names
from ipclab_more.choose.shown import LEVEL, WORDS, tables, verdict
from tests.support.made import begun
from tests.support.needs import Plant, asked
from tests.support.told import reference

RING = Plant({64: 500, 65536: 40_000})
UNIX = Plant({64: 2_000, 65536: 20_000})
TCP = Plant({64: 6_000, 65536: 60_000}, demands=())
THREE = {"ring": RING, "unix": UNIX, "tcp": TCP}
TWIN = {**THREE, "twin": RING}
SPIN = {**THREE, "spin": Plant({64: 200, 65536: 30_000}, cpu=2.0)}
LONG = {**THREE, "jumpy": Plant({64: 300, 65536: 10_000}, tail=500)}
LOST = {"lossy": Plant({64: 100}, lost=3), "drops": Plant({64: 110}, drops=True)}
SHORT = {**THREE, "short": Plant({64: 100}, longest=8192)}
FANS = {name: Plant({64: ns}, at={"consumers": 8}) for name, ns in (("fan", 50), ("slow fan", 900))}
FAN = {**THREE, **FANS}
MIX = {"size": {"64": 9, "65536": 1}}
LATE = {"size": 64, "rate": 1000, "deadline_us": 0.5}
DEADLINE = LATE | {"deadline_us": 50}
ELSEWHERE = {"size": 64, "must": ["across-hosts"]}
SURVIVES = {"size": 64, "must": ["survives-writer-crash"]}
NEEDS: dict[str, tuple[Any, Any, str, set[str]]] = {
    "the fastest at a measured size": (THREE, {"size": 64}, ANSWERED, {"ring"}),
    "another one at another size": (THREE, {"size": "64KiB"}, ANSWERED, {"unix"}),
    "a size between": (THREE, {"size": 1024}, UNDECIDED, set()),
    "a tie": (TWIN, {"size": 64}, ANSWERED, {"ring", "twin"}),
    "a must-have that excludes the fastest": (THREE, ELSEWHERE, ANSWERED, {"tcp"}),
    "no loss": ({**THREE, **LOST}, {"size": 64, "must": ["no-loss"]}, ANSWERED, {"ring"}),
    "nothing fits": (THREE, LATE, NOTHING, set()),
    "a deadline that the fastest misses": (LONG, DEADLINE, ANSWERED, {"ring"}),
    "a rate that one keeps up with": (THREE, {"size": 64, "rate": 1_000_000}, ANSWERED, {"ring"}),
    "a budget of CPUs": (SPIN, {"size": 64, "cpus": 1.5}, ANSWERED, {"ring"}),
    "a mix for which the mean decides": (THREE, MIX, ANSWERED, {"unix"}),
    "a mix of mostly small ones": (THREE, {"size": "64:999,65536:1"}, ANSWERED, {"ring"}),
    "a size that one cannot have": (SHORT, {"size": "64KiB"}, ANSWERED, {"unix"}),
    "consumers that each get all": (FAN, {"size": 64, "consumers": 8}, ANSWERED, {"fan"}),
    "what no run has measured": (THREE, SURVIVES, UNDECIDED, {"ring"}),
}


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab.of(reference(), checkout(), "en")


@pytest.mark.parametrize("name", NEEDS)
def test_the_planted_best_is_named(name: str) -> None:
    plants, need, state, best = NEEDS[name]
    found = asked(plants, need)
    assert (found.state, set(found.best)) == (state, best)


def test_a_size_between_is_estimated_and_decides_nothing() -> None:
    found = asked(THREE, {"size": 2048})
    rows = found.rows.set_index("backend")
    middle = math.sqrt(500 * 40_000)
    assert rows.estimate["ring"].value == pytest.approx(middle, rel=0.05)
    assert rows.estimate["ring"].kind == "estimate"
    assert set(rows.status) == {"not measured"}
    assert set(found.missing["size"]) == {2048}
    assert list(found.missing.seconds) == pytest.approx(list(found.missing.launches * 0.05))
    assert found.seconds == 0.0  # of what is not there no launch decides anything


def test_what_cannot_be_told_apart_is_undecided_with_launches_that_would_decide() -> None:
    close = {"one": Plant({64: 1000}), "other": Plant({64: 1060})}
    found = asked(close, {"size": 64}, scatter=0.15)
    assert (found.state, set(found.best)) == (UNDECIDED, {"one", "other"})
    assert 0 < found.launches < math.inf
    compared = [each for each in found.rows.compared if each is not None]
    assert found.launches == sum(launches_more(each, EQUIVALENCE) for each in compared)
    assert asked(close, {"size": 64}, scatter=0.01).best == ["one"]


def test_a_verdict_names_who_is_next(lab: Lab) -> None:
    shown = "Take ring: every other mechanism that was measured and fits was shown to be slower"
    for plants, told in (
        (THREE, f"{shown} (next: "),
        ({"ring": RING}, "Take ring: no other mechanism that was measured fits."),
        (TWIN, "Take one of "),
    ):
        assert verdict(lab, asked(plants, {"size": 64}, scatter=0.005)).startswith(told)


def test_where_the_best_spins_the_first_that_sleeps_is_named(lab: Lab) -> None:
    for best, is_told in (("shm-spin", True), ("posix-shm", False)):
        plants = {best: RING, "unix": UNIX, "tcp": TCP}
        said = verdict(lab, asked(plants, {"size": 64}, scatter=0.005))
        assert (
            "Of those that sleep, unix has the least value, which is not tested: 2" in said
        ) is is_told


def test_what_was_not_measured_leaves_the_rest_decided_and_is_named_once_with_its_command(
    lab: Lab,
) -> None:
    need = {"size": 64, "consumers": 8, "must": ["no-daemon"]}
    found = asked(FAN, need, scatter=0.005)
    assert (found.state, found.best) == (ANSWERED, ["fan"])
    assert found.unmeasured == ["ring", "tcp", "unix"]
    assert found.launches == found.seconds == 0.0
    said = verdict(lab, found)
    command = "ipclab choose --measure --size 64 --consumers 8 --must no-daemon"
    assert said.endswith(f"Not measured: ring, tcp, unix. What measures it: {command}")
    assert said.count("Not measured") == 1


def test_a_demand_that_was_not_measured_is_named_above_no_number_of_launches(lab: Lab) -> None:
    found = asked(THREE, SURVIVES, scatter=0.005)
    assert (found.state, found.unknown) == (UNDECIDED, ["survives-writer-crash"])
    said = verdict(lab, found)
    assert "Not measured of what the need demands: survives a crash of the writer." in said
    assert "launches" not in said and found.missing.empty


@pytest.mark.parametrize(
    "told",
    [
        {"size": "64:9,1MiB:1", "rate": 2000.5, "must": ["no-loss", "no-root"]},
        {"size": 100, "way": "round-trip", "gap": "50us", "deadline_us": 80, "quantile": 0.9},
        {"size": 1000, "way": "state", "consumers": 3, "placement": "same", "cpus": 1.5},
    ],
)
def test_the_command_that_measures_a_need_asks_for_that_need(told: dict[str, Any]) -> None:
    need = need_of(told)
    words = shlex.split(need.command())
    assert words[:3] == ["ipclab", "choose", "--measure"]
    sides: dict[str, Any] = {"must": []}
    for flag, value in zip(words[3::2], words[4::2], strict=True):
        name = flag.removeprefix("--").replace("-", "_")
        if name == "must":
            sides[name].append(value)
        else:
            sides[name] = float(value) if name in (*NUMBERS, "quantile") else value
    again = need_of(sides)
    assert dict(again.size) == pytest.approx(dict(need.size))
    assert replace(again, size=need.size) == need


def test_where_another_one_becomes_the_fastest() -> None:
    crossed = asked(THREE, {"size": 64}).crossings
    assert [tuple(row) for row in crossed[["below", "above", "low", "high"]].to_numpy()] == [
        ("ring", "unix", 64, 65536)
    ]
    assert crossed.about[0] == pytest.approx(64 * 1024 ** (2 / 3), rel=0.1)
    assert asked(THREE, ELSEWHERE).crossings.empty


def test_what_would_change_the_answer_is_named() -> None:
    found = asked(THREE, ELSEWHERE).changes
    told = dict(zip(found.backend, found.change, strict=True))
    assert told["ring"] == told["unix"] == "without:across-hosts"
    of_ring = found[found.backend == "ring"].amount.iloc[0]
    assert of_ring.value == pytest.approx(500 / 6000, rel=0.05)
    amounts = asked(THREE, DEADLINE).changes.set_index("change").amount
    assert amounts["deadline"].value == pytest.approx(1000, rel=0.05)


def test_a_need_is_read_from_a_file(tmp_path) -> None:
    file = tmp_path / "need.toml"
    file.write_text('size = "64:9,1MiB:1"\nrate = 2000\nconsumers = 3\nmust = ["no-loss"]\n')
    need = read_need(file)
    assert need.size == {64: 0.9, 1 << 20: 0.1}
    assert need_of(need.plain()) == need
    for unreadable in ("x = " + "[" * 5000, "size = 64\n# " + "x" * 2**20):
        file.write_text(unreadable)
        with pytest.raises(UsageError, match="is no need") as error:
            read_need(file)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"size": "many"},
        {"size": 64, "rat": 1},
        {"size": 64, "placement": "moon"},
        {"size": 64, "must": ["wings"]},
        {"size": 64, "producers": 2},
        {"size": 64, "deadline_us": 5},
        {"size": 64, "quantile": 0.75},
        {"size": 64, "rate": -1},
        {"size": 4},
        {"size": 64, "way": "state", "must": ["no-loss"]},
        {"size": 64, "consumers": 1.5},
        {"size": 64, "consumers": math.inf},
        {"size": "9" * 400},
        {"size": "64KiB", "way": "state"},
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(told: Any) -> None:
    with pytest.raises(UsageError) as error:
        need_of(told)
    assert "\n" not in str(error.value)


def test_a_need_that_cannot_be_is_one_line_of_the_command(ipclab) -> None:
    done = ipclab("choose", "--size", "0")
    why = "size = '0' is not possible: give a number of bytes above 0; see docs/choose.md"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"ipclab: {why}\n")


@pytest.mark.parametrize(("ring", "best"), [("end", "ring"), ("silence", "unix")])
def test_what_survives_a_crash_of_the_writer_is_told_by_the_study_of_faults(
    ring: str, best: str
) -> None:
    seen = {"ring": ring, "unix": "end", "tcp": "end"}
    rows = [
        {"backend": name, "op": "noticed", "metric": kind, "value": 1.0}
        for name, kind in seen.items()
    ]
    # one launch in twenty suffices
    rows += [{"backend": "ring", "op": "noticed", "metric": ring, "value": 0.0}] * 19
    faults = pd.DataFrame(rows).assign(fault="killed-writing")
    found = asked(THREE, SURVIVES, faults=faults)
    assert (found.state, found.best) == (ANSWERED, [best])


def test_a_crash_that_was_measured_of_one_mechanism_alone_is_a_dash_for_the_others(
    lab: Lab,
) -> None:
    row = {"backend": "ring", "op": "noticed", "metric": "end", "value": 1.0}
    faults = pd.DataFrame([row | {"fault": "killed-writing"}])
    told = tables(lab, asked(THREE, {"size": 64}, faults=faults))["promises"]
    survives = "readers are told, or keep the last content"
    assert list(told["When the writer is killed"]) == [survives, "–", "–"]


def test_torn_content_is_no_survival() -> None:
    rows = [("noticed", "half", 0.0), ("noticed", "half", 1.0), ("recovered", "yes", 1.0)]
    frame = pd.DataFrame(rows, columns=["op", "metric", "value"]).assign(
        backend="lmdb", fault="killed-locked"
    )
    none = frame.iloc[:0]
    assert promised(none, frame)["crash"] == "torn"
    assert promised(none, frame.drop(index=1))["crash"] == "served"


def test_where_launches_failed_no_loss_is_not_known() -> None:
    frame = pd.DataFrame({"flags": ["decided", "disturbed:1/9;failed-launches:2"]})
    frame = frame.assign(op="launch", metric="lost", unit="count", value=0.0, low=0.0, high=0.0)
    frame = frame.assign(launches=9, samples=9)
    none = frame.iloc[:0]
    whole = promised(frame.iloc[:1], none)
    broken = promised(frame, none)
    assert promise_kept("no-loss", Offer(""), whole) is True
    assert promise_kept("no-loss", Offer(""), broken) is None


def test_every_verdict_of_a_rival_and_every_demand_has_words() -> None:
    verdicts = {FASTER, SLOWER, SAME, UNDECIDED, NOT_TESTED, UNSTEADY, LEVEL}
    assert verdicts <= WORDS["evidence"].keys()
    assert set(MUSTS) <= WORDS["demand"].keys()


def test_points_of_a_need_are_those_that_its_answer_reads() -> None:
    for told in ({"size": 64, "consumers": 2, "rate": 500}, {"size": 100, "way": "round-trip"}):
        need = need_of({**told, "must": ["across-hosts"]})
        made = points_asked(need, profile("smoke"))
        frame = pd.DataFrame([each.key() for each in made])
        assert {"tcp"} <= set(frame.backend)
        assert "unix" not in set(frame.backend)
        assert len(narrowed_to(need, frame)) == len(made)


def test_runs_that_hold_the_points_of_a_need_are_known_by_their_files() -> None:
    for told in ({"size": 100, "way": "round-trip"}, {"size": 1000, "way": "state"}):
        need = need_of(told)
        points = points_asked(need, profile("standard"))
        files = [f"points/{point.study}/{point.id}.parquet" for point in points]
        assert files and all(map(file_names(need).search, files))
        assert not any(map(file_names(need_of({**told, "size": 7})).search, files))


def run_of(folder: Path, need: Need, failures: dict[str, str]) -> RunFolder:
    """Return a run that was measured for `need`, of which these points failed."""
    run = begun(folder, studies=[need.study], need=need.plain())
    run.about["failures"].update(failures)
    return run


@pytest.mark.parametrize(
    "sides", [{"size": "64,1KiB", "rate": 1000}, {"size": "10,1000", "way": "state"}]
)
def test_what_failed_at_every_size_is_shown_with_its_reason(
    tmp_path: Path, sides: dict[str, Any]
) -> None:
    need = need_of(sides)
    wanted = points_asked(need, profile("quick"))
    run = run_of(tmp_path, need, {each.id: f"{each.backend} fell silent" for each in wanted})
    silent = {each.backend: f"{each.backend} fell silent" for each in wanted}
    assert {name: offer.refused for name, offer in offers(need, run).items()} == silent
    rows = tell(checkout(), run, need).rows
    assert {*rows.status} == {"excluded"}
    assert dict(zip(rows.backend, rows.why, strict=True)) == {
        name: [why] for name, why in silent.items()
    }


@pytest.mark.parametrize(
    ("fans_out", "sharing", "why"),
    [
        (True, EACH, ""),
        (True, ONE, "every message reaches all"),
        (False, EACH, "a message reaches one consumer"),
        (False, ONE, ""),
    ],
)
def test_who_reaches_others_than_are_to_have_a_message_is_refused(
    fans_out: bool, sharing: str, why: str
) -> None:
    store = SimpleNamespace(fans_out=fans_out)
    made: Any = SimpleNamespace(name="made", store=store, channel=None, missing=lambda: "a package")
    two = need_of({"size": 64, "consumers": 2, "sharing": sharing})
    assert _refusal(two, made, {}) == why
    assert _refusal(replace(two, consumers=1), made, {}) == ""
    made.channel = "one for each consumer"
    assert _refusal(two, made, {}) == ""


def test_a_message_of_a_size_that_cannot_be_sent_is_refused() -> None:
    made: Any = SimpleNamespace(name="made", store=None, missing=lambda: None)
    made.refuses = lambda size: "too long" if size > 100 else None
    assert _refusal(need_of({"size": "64,1KiB"}), made, {}) == "too long"
    assert _refusal(need_of({"size": 64}), made, {("made", 64): "it failed"}) == "it failed"
    assert _refusal(need_of({"size": 64}), made, {("made", 65): "it failed"}) == ""
    assert _refusal(need_of({"size": 1000, "way": "state"}), made, {}) == ""  # of entries


def test_mechanisms_of_a_run_for_a_need_are_those_that_it_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need = need_of({"size": 64, "rate": 1000})
    frame = pd.DataFrame([point.key() for point in points_asked(need, profile("quick"))])
    frame = frame[frame.backend.isin(["tcp", "unix"])]
    monkeypatch.setattr(derived, "read_frame", lambda *_: frame)
    assert [*offers(need, run_of(tmp_path, need, {}))] == ["tcp", "unix"]


def test_other_arms_of_streams_tell_nothing_of_a_need() -> None:
    frame = derived.read_frame(reference(), "stream", "points")
    need = need_of({"size": 64})
    told = narrowed_to(need, frame)
    assert {*told.arm} == {"main"}
    assert narrowed_to(need, frame.assign(arm="another")).empty


def test_what_a_short_message_survives_can_be_measured() -> None:
    asks = request(need_of({"size": 8, "must": ["survives-writer-crash"]}), "smoke")
    assert [each.name for each, points in asks.points() if points] == ["limits", "stream", "faults"]


@pytest.mark.parametrize(("consumers", "sharing"), [(1, "each"), (2, "one")])
def test_one_consumer_alone_shares_with_nobody(consumers: int, sharing: str) -> None:
    need = need_of({"way": "one-way", "size": 100, "consumers": consumers, "sharing": "one"})
    assert need.levels()["sharing"] == sharing
