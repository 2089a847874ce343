"""Named facts of a comparison, for its sentences: of the first run and the second; counts for all."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from ipclab.facts.fact import Fact
from ipclab.facts.named import computed
from ipclab.machines.compared import Compared
from ipclab.machines.normalised import USES, Normalised, geometric_mean
from ipclab.machines.shared import RunData
from ipclab.machines.verdicts import LIMITS, Pairing
from ipclab.report.catalogue import N_
from ipclab.stats.compare import EQUIVALENCE, FASTER, NOT_COMPARABLE, SAME, SLOWER, UNDECIDED
from ipclab.stats.independent import ALPHA

WORD = {FASTER: "faster", SLOWER: "slower", SAME: "same", UNDECIDED: "undecided", NOT_COMPARABLE: "not_comparable"}
OVERALL = {
    "faster": N_("More points are shown to be faster in the second run than slower."),
    "slower": N_("More points are shown to be slower in the second run than faster."),
    "even": N_("As many points are shown to be faster in the second run as slower."),
    "none": N_("No point is shown to differ between the two runs."),
}
MACHINES = {
    "same": N_("Both runs were made on machines of one make and kernel, so a difference is one of time or settings."),
    "other": N_("The two runs were made on different machines."),
}
USE = {
    "machine": N_("Over their own limits the two lie less than half as far apart as in time: the machine makes most."),
    "both": N_(
        "Over their own limits the two lie closer together than in time, but by less than half: both play a part."
    ),
    "use": N_("Over their own limits the two lie no closer together than in time: use makes the difference."),
}
RANKS = {
    "shown": N_("The order of mechanisms is shown to change from the first machine to the second."),
    "apparent": N_("Some medians change places, but no change of order is shown by both runs."),
    "none": N_("No two mechanisms change places."),
}


def facts(compared: Compared) -> Iterator[Fact]:
    """Yield the facts of a comparison under `compare.*`; what was not measured has no value."""
    pair, uses, ranks = compared.pairings[0], compared.normalised[0], compared.rankings[0]
    yield _count("runs", len(compared.runs))
    yield computed("compare.bound", EQUIVALENCE, "share")
    yield computed("compare.alpha", ALPHA, "share")
    for name, run in (("first", pair.first), ("second", pair.second)):
        yield from _run(name, run)
    same = pair.first.machine == pair.second.machine
    yield _says("machines", MACHINES["same" if same else "other"])
    yield _count("facts.differ", len(compared.differences.different))
    yield _count("facts.same", sum(compared.differences.same.values()))
    yield from _counts(pair)
    yield from _use(uses)
    yield _count("ranks.pairs", ranks.pairs)
    yield _count("ranks.shown", len(ranks.shown()))
    yield _count("ranks.apparent", len(ranks.flips) - len(ranks.shown()))
    yield _count("ranks.contests", len(ranks.fastest))
    yield _count("ranks.fastest", sum(a != b for a, b in ranks.fastest.values()))
    yield _says("ranks", RANKS["shown" if ranks.shown() else "apparent" if ranks.flips else "none"])


def _run(name: str, run: RunData) -> Iterator[Fact]:
    facts = run.about["machine"]["facts"]
    yield Fact(f"compare.{name}.id", run.id, "text")
    yield Fact(f"compare.{name}.machine", run.machine, "text")
    yield Fact(f"compare.{name}.cpu", facts.get("cpu_model"), "text")
    yield Fact(f"compare.{name}.profile", run.about["parameters"]["profile"], "text")
    yield Fact(f"compare.{name}.date", run.about["begun"], "date")


def _counts(pair: Pairing) -> Iterator[Fact]:
    counts = pair.counts()
    for verdict, count in counts.items():
        yield _count(f"points.{WORD[verdict]}", count)
    yield _count("points.shared", sum(counts.values()) - counts[NOT_COMPARABLE])
    yield _count("points.together", pair.together())
    for side, name in enumerate(("first", "second")):
        yield _count(f"points.only.{name}", sum(each.side == side for each in pair.unshared))
    studied = [each for each in pair.judged if each.point.study != LIMITS]
    shares = [each.found.detectable for each in studied if each.found.detectable is not None]
    yield Fact("compare.detectable", median(shares) if shares else None, "share", str(len(shares)))
    yield _ratio("time", [each.found.ratio for each in studied if each.found.ratio])
    yield _ratio(
        "limits", [each.found.ratio for each in pair.judged if each.point.study == LIMITS and each.found.ratio]
    )
    yield _says("overall", OVERALL[_overall(counts[FASTER], counts[SLOWER])])


def _overall(faster: int, slower: int) -> str:
    if faster == slower:
        return "even" if faster else "none"
    return "faster" if faster > slower else "slower"


def _use(found: Sequence[Normalised]) -> Iterator[Fact]:
    counts = Counter(each.verdict for each in found)
    for name, verdict in zip(("better", "worse", "alike", "undecided"), USES, strict=True):
        yield _count(f"use.{name}", counts[verdict] if found else None)
    yield _count("use.points", len(found))
    yield _ratio("use", [each.use.value for each in found])
    spreads = [_spread([each.time.value for each in found]), _spread([each.use.value for each in found])]
    for name, spread in zip(("time", "use"), spreads, strict=True):
        yield Fact(f"compare.spread.{name}", spread, "1", str(len(found)))
    yield _says("use", USE[_closer(math.log(spreads[0]), math.log(spreads[1]))] if spreads[0] and spreads[1] else None)


def _closer(time: float, use: float) -> str:
    return "machine" if use < time / 2 else "both" if use < time else "use"


def _spread(ratios: Sequence[float]) -> float | None:
    """Return by which factor, up or down, half of the ratios differ from 1 at most."""
    return math.exp(median(abs(math.log(value)) for value in ratios)) if ratios else None


def _ratio(name: str, ratios: Sequence[float]) -> Fact:
    return Fact(f"compare.ratio.{name}", geometric_mean(ratios), "1", str(len(ratios)))


def _count(name: str, value: int | None) -> Fact:
    return Fact(f"compare.{name}", value, "count")


def _says(name: str, sentence: str | None) -> Fact:
    return Fact(f"compare.says.{name}", sentence, "text", source="run")
