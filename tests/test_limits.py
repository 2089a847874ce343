"""The table of limits and the plan of measuring, with a native module that is not there or only pretends."""

import sys
from array import array

import pytest

from ipclab.errors import LabError, UsageError
from ipclab.limits import LIMITS, MEMCPY_SIZES, Limit, limit_of, load_native, measure


class Fake:
    """Answers every call with one sample: how many arguments it got; keeps the calls."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def call(*arguments):
            self.calls.append((name, arguments))
            return array("q", [len(arguments)]).tobytes()

        return call


def test_every_limit_is_measured_once_for_each_placement_and_size():
    seen: list[str] = []
    result = measure({"same": (0, 0), "cross": (0, 1)}, (100, 5_000), 1.0, Fake(), seen.append)
    assert list(result) == seen
    expected = {"clock", "syscall", *(f"memcpy/{size}" for size in (100, 5_000, *MEMCPY_SIZES))}
    expected |= {"cache-line/cross", "cache-line-cas/cross", "futex-wake/same", "futex-wake/cross"}
    kinds = ("shm-spin", "shm-futex", "pipe", "unix", "tcp")
    expected |= {f"echo/{kind}/{at}/{n}" for kind in kinds for at in ("same", "cross") for n in (100, 5_000)}
    assert set(result) == expected
    assert result["echo/tcp/cross/100"] == array("q", [6])


def test_a_placement_that_is_missing_is_not_measured_and_unpinned_ones_are():
    result = measure({"free": (-1, -1)}, (), 1.0, Fake())
    assert {key.partition("/")[2] for key in result if "cache" in key or "futex" in key} == {"free"}


def test_the_time_is_shared_out_and_every_wait_has_a_deadline():
    fake = Fake()
    measure({"cross": (0, 1)}, (100,), 2.0, fake)
    budgets = [arguments[-2] for name, arguments in fake.calls if name in {"cache_line", "futex_wake", "echo"}]
    assert len(set(budgets)) == 1
    assert budgets[0] * len(fake.calls) <= 2e9
    assert all(arguments[-1] > arguments[-2] for name, arguments in fake.calls if name == "echo")


def test_keys_lead_back_to_their_limit():
    assert limit_of("cache-line-cas/cross").name == "cache-line-cas"
    assert limit_of("cache-line/cross").name == "cache-line"
    assert limit_of("echo/tcp/same/100").passes == 4
    assert limit_of("memcpy/4000").passes == 1
    assert limit_of("clock") == Limit("clock", "one read of CLOCK_MONOTONIC")
    with pytest.raises(UsageError):
        limit_of("echoes/tcp")
    assert len({limit.name for limit in LIMITS}) == len(LIMITS) == 11


@pytest.mark.parametrize(("sizes", "seconds"), [((0,), 1.0), ((-1,), 1.0), ((100,), 0.0)])
def test_bad_sizes_and_times_are_refused(sizes, seconds):
    with pytest.raises(UsageError):
        measure({}, sizes, seconds, Fake())


def test_a_failed_measurement_names_itself():
    class Late(Fake):
        def syscall_cost(self, n):
            raise TimeoutError("too late")

    with pytest.raises(LabError, match="limit syscall: too late"):
        measure({}, (), 1.0, Late())


def test_without_the_native_package_the_mend_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipclab_native", None)
    with pytest.raises(LabError, match="install cargo and run make setup"):
        load_native()
