"""Every published claim in the texts' order, and what the audit of all of them counts."""

from collections.abc import Iterator, Sequence

from ipclab.claims import file_io, multiplexer, payload, round_trip, shared_dict
from ipclab.claims.claim import FAILS, HOLDS, NOT_TESTABLE, UNDECIDED, Claim, Facts, judge_all
from ipclab.facts.fact import Fact
from ipclab.report.catalogue import N_

# The claims of each text with the study that reruns it, in the order of the texts.
TEXTS: dict[str, tuple[str, tuple[Claim, ...]]] = {
    "000": ("payload", payload.CLAIMS),
    "001": ("shared_dict", shared_dict.CLAIMS),
    "002": ("multiplexer", multiplexer.CLAIMS),
    "003": ("round_trip", round_trip.CLAIMS),
    "004": ("file_io", file_io.CLAIMS),
}
CLAIMS: tuple[Claim, ...] = tuple(claim for _, stated in TEXTS.values() for claim in stated)
NAMES = {
    "000": N_("LDM-EKI, report on IPC performance, in Korean (seed {seed})"),
    "001": N_("ipc_benchmark, README, in Chinese (seed {seed})"),
    "002": N_("plugin.go multiplexer, final report, in Korean (seed {seed})"),
    "003": N_("shm-rpc-bridge, transport benchmark, in English (seed {seed})"),
    "004": N_("MultithreadIOSimulator, description, in Korean (seed {seed})"),
}
METHODS = ("own", "here", "fair")
KEYS = {HOLDS: "holds", FAILS: "fails", UNDECIDED: "undecided", NOT_TESTABLE: "untestable"}


def facts(text: Facts, run: Facts, stated: Sequence[Claim] = CLAIMS) -> Iterator[Fact]:
    """Yield how many claims there are, and how many have each verdict by each method.

    `text` are the published facts under the run's names. Also yields how many claims change from one verdict to the
    other between the text's own table and the run, and between the published and the fair method, and where each
    claim stands.
    """
    judged = [judge_all(claim, text, run) for claim in stated]
    yield _count("audit.claims", len(stated))
    for place, method in enumerate(METHODS):
        for word, key in KEYS.items():
            yield _count(f"audit.{method}.{key}", sum(verdicts[place].word == word for verdicts in judged))
    decided = {HOLDS, FAILS}
    for first, second in (("own", "here"), ("here", "fair")):
        a, b = METHODS.index(first), METHODS.index(second)
        both = [(each[a].word, each[b].word) for each in judged if {each[a].word, each[b].word} <= decided]
        yield _count(f"audit.{second}.turned", sum(one != other for one, other in both))
    for claim in stated:
        yield Fact(f"audit.source.{claim.id}", f"seed {claim.seed}, {claim.section}", "text", kind="published")
    yield _count("audit.fair.rules", sum(claim.fair is not None for claim in stated))


def _count(name: str, value: int) -> Fact:
    return Fact(name, value, "count", kind="computed")
