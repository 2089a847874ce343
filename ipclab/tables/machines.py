"""The tables of the comparison of machines."""

from collections import Counter
from collections.abc import Callable, Sequence

from ipclab.machine import Value, label
from ipclab.machines.difference import AFFECTS
from ipclab.machines.normalised import ALIKE, BETTER, USES, WORSE, Normalised, geometric_mean
from ipclab.machines.ranks import Flip
from ipclab.machines.shared import FAILED, NOT_MEASURED, NOT_TESTABLE
from ipclab.machines.verdicts import LIMITS, VERDICTS, Judged, Pairing
from ipclab.machines.view import comparison
from ipclab.report.catalogue import N_
from ipclab.report.table import Column, Table
from ipclab.stats.compare import FASTER, NOT_COMPARABLE, SAME, SLOWER, UNDECIDED
from ipclab.tables.environment import text
from ipclab.view import View

NAMES = {
    FASTER: N_("faster"),
    SLOWER: N_("slower"),
    SAME: N_("same"),
    UNDECIDED: N_("undecided"),
    NOT_COMPARABLE: N_("not comparable"),
    BETTER: N_("better used"),
    WORSE: N_("worse used"),
    ALIKE: N_("used alike"),
}
REASONS = {FAILED: N_("failed there"), NOT_TESTABLE: N_("not testable there"), NOT_MEASURED: N_("not measured there")}
WHY = {
    "below-bound": N_("below the bound"),
    "above-bound": N_("above the bound"),
    "within-bound": N_("within the bound"),
    "wide-interval": N_("scatter too wide"),
    "few-launches": N_("too few launches"),
    "no-launches": N_("no launches"),
    "no-variance": N_("launches without scatter"),
    "not-a-time": N_("not a time"),
}
STUDY_LIMITS = N_("limits of the hardware")
DIGESTS, SHORT = ("git_commit", "lock_digest"), 10  # too long for a column; ten digits tell them apart
LONGEST = 160  # characters of a value that a table shows


def overview(view: View) -> Table:
    """Return one row a run: what it was made on, and how its times lie to those of the first run."""
    _ = view.say
    found = comparison(view)
    rows = []
    for number, (name, run) in enumerate(zip(found.names(), found.runs, strict=True)):
        facts = run.about["machine"]["facts"]
        machine = [facts.get("cpu_model"), facts.get("kernel_release"), run.machine]
        begun = f"{view.numbers.date(run.about['begun'])}, {run.id.rpartition('-')[2]}"
        head = [name, begun, ", ".join(str(told) for told in machine if told)]
        tail = [str(run.about["parameters"]["profile"]), str(len({each.point for each in run.medians}))]
        ratios = [_mean(view, found.pairings[number - 1], only) for only in (False, True)] if number else ["1", "1"]
        rows.append([*head, *tail, *ratios])
    heads = [_("Run"), _("Begun, and end of its folder's name"), _("Machine: processor, kernel, digest"), _("Profile")]
    columns = [*map(Column, heads), Column(_("Points"), "right")]
    columns += [Column(_("Times over the first run's"), "right"), Column(_("Limits over the first run's"), "right")]
    note = _("Ratios are geometric means over the points that both runs hold; below one is faster.")
    return Table(_("The runs compared"), columns, rows, [note])


def _mean(view: View, pair: Pairing, limits: bool) -> str:
    ratios = [e.found.ratio for e in pair.judged if e.found.ratio and (e.point.study == LIMITS) == limits]
    value = geometric_mean(ratios)
    return "–" if value is None else view.value(value, "1")


def differences(view: View) -> Table:
    """Return the facts that differ between the machines, grouped by what they affect, and how many do not."""
    _ = view.say
    found = comparison(view)
    rows = []
    for affects in AFFECTS:
        mine = [each for each in found.differences.different if each.affects == affects]
        for each in mine:
            pairs = zip(each.values, each.reasons, strict=True)
            rows.append([_(affects), _(label(each.name)), *(_value(view, each.name, *pair) for pair in pairs)])
        same = found.differences.same[affects]
        alike = _(N_("{same} of {all} facts are the same"), same=str(same), all=str(same + len(mine)))
        rows.append([_(affects), alike, *([""] * len(found.runs))])
    columns = [Column(_("Affects")), Column(_("Fact")), *map(Column, found.names())]
    note = _("Facts that merely vary, such as load and free room, are left out; they stand in each run's own report.")
    return Table(_("What differs between the machines"), columns, rows, [note])


def _value(view: View, name: str, value: Value, reason: str) -> str:
    """Return a fact as a cell; of lists and mappings only what differs is left."""
    if name in DIGESTS and isinstance(value, str):
        return value[:SHORT]
    if isinstance(value, list):
        return ", ".join(map(str, value))[:LONGEST] or "–"
    if isinstance(value, dict):
        return "; ".join(f"{key.replace('_', ' ')}: {told}" for key, told in value.items())[:LONGEST] or "–"
    return text(view, name, value, reason)[:LONGEST]


def verdicts(view: View) -> Table:
    """Return how many points of each study have each verdict, for each pair of runs."""
    _ = view.say
    rows = []
    for pair, name in _pairs(view):
        for study in pair.studies():
            counts = pair.counts(study)
            mine = [each for each in pair.judged if each.point.study == study]
            ratio = geometric_mean([each.found.ratio for each in mine if each.found.ratio])
            shares = sorted(each.found.detectable for each in mine if each.found.detectable is not None)
            middle = view.value(shares[len(shares) // 2], "share") if shares else "–"
            cells = [_(STUDY_LIMITS) if study == LIMITS else study, *(str(counts[verdict]) for verdict in VERDICTS)]
            rows.append([name, *cells, "–" if ratio is None else view.value(ratio, "1"), middle])
    heads = [*(_(NAMES[verdict]) for verdict in VERDICTS), _("Times, ratio"), _("Detectable slow-down, median")]
    columns = [Column(_("Runs")), Column(_("Study")), *(Column(head, "right") for head in heads)]
    notes = [
        _("A verdict is of the later named run over the earlier, corrected for all points of both."),
        _("Faster and slower mean by more than {compare.bound:pct,int}; same means shown to lie within it."),
    ]
    return Table(_("Verdicts by study"), columns, rows, notes)


def _pairs(view: View) -> list[tuple[Pairing, str]]:
    found = comparison(view)
    first, *others = found.names()
    return [(pair, f"{first} → {name}") for pair, name in zip(found.pairings, others, strict=True)]


def unshared(view: View) -> Table:
    """Return the points that only one of two runs has, by study and reason."""
    _ = view.say
    rows = []
    for pair, name in _pairs(view):
        first, second = name.split(" → ")
        counts = Counter((each.point.study, each.side, each.reason) for each in pair.unshared)
        for (study, side, reason), count in sorted(counts.items()):
            rows.append([name, study, (first, second)[side], _(REASONS[reason]), str(count)])
    columns = [Column(_("Runs")), Column(_("Study")), Column(_("Only in")), Column(_("In the other"))]
    columns.append(Column(_("Points"), "right"))
    note = [] if rows else [_("Both runs hold the same points.")]
    return Table(_("What the runs do not share"), columns, rows, note)


def use(view: View) -> Table:
    """Return times, limits and use by study and mechanism: is the machine faster, or is it better used?"""
    _ = view.say
    rows = []
    for (_pair, name), found in zip(_pairs(view), comparison(view).normalised, strict=True):
        for study, backend in sorted({(each.point.study, each.point.backend) for each in found}):
            mine = [each for each in found if (each.point.study, each.point.backend) == (study, backend)]
            counts = Counter(each.verdict for each in mine)
            rows.append([name, study, backend, str(len(mine)), *_means(view, mine), *(str(counts[u]) for u in USES)])
    heads = [_("Points"), _("Times"), _("Limits"), _("Times over limits"), *(_(NAMES[word]) for word in USES)]
    columns = [Column(_("Runs")), Column(_("Study")), Column(_("Mechanism"))]
    columns += [Column(head, "right") for head in heads]
    notes = [
        _("Times and limits are ratios of the later run over the earlier; use is the one over the other."),
        _("Use below one: the machine comes nearer to its own limits than the other does to its own."),
    ]
    return Table(_("Times over each machine's own limits"), columns, rows, notes)


def _means(view: View, found: Sequence[Normalised]) -> list[str]:
    parts = ([each.time.value for each in found], [each.limit.value for each in found], [e.use.value for e in found])
    return [view.value(geometric_mean(values) or 1.0, "1") for values in parts]


def ranks(view: View) -> Table:
    """Return the pairs of mechanisms whose order is another on the second machine, those that are shown first."""
    _ = view.say
    rows = []
    for (_pair, name), found in zip(_pairs(view), comparison(view).rankings, strict=True):
        for flip in sorted(found.flips, key=lambda flip: (not flip.shown, flip.group)):
            if flip.shown:
                rows.append([name, *_where(view, flip), flip.faster, flip.slower, *_ratios(view, flip)])
    heads = [_("Runs"), _("Study"), _("Message"), _("Placement"), _("Faster in the first"), _("Slower in the first")]
    columns = [*map(Column, heads), Column(_("Ratio in the first"), "right"), Column(_("Ratio in the second"), "right")]
    notes = [_("Shown by a test within each run, corrected for all pairs of mechanisms of that run.")]
    if not rows:
        notes.append(_("No change of order is shown by both runs."))
    return Table(_("Where the order of mechanisms changes"), columns, rows, notes)


def _where(view: View, flip: Flip) -> list[str]:
    study, op, question, placement, size = flip.group
    return [" ".join(filter(None, (study, op, question))), view.value(size, "B"), placement]


def _ratios(view: View, flip: Flip) -> list[str]:
    return [view.value(value, "1") for value in flip.ratios]


def fastest(view: View) -> Table:
    """Return the fastest mechanism of each contest on each machine, where it is not the same."""
    _ = view.say
    found = comparison(view)
    groups = sorted({group for ranking in found.rankings for group in ranking.fastest})
    rows = []
    for group in groups:
        firsts = [ranking.fastest[group][0] for ranking in found.rankings if group in ranking.fastest]
        others = [ranking.fastest[group][1] if group in ranking.fastest else "–" for ranking in found.rankings]
        if set(others) - {firsts[0], "–"}:
            study, op, question, placement, size = group
            words = " ".join(filter(None, (study, op, question)))
            rows.append([words, view.value(size, "B"), placement, firsts[0], *others])
    columns = [Column(_("Study")), Column(_("Message")), Column(_("Placement")), *map(Column, found.names())]
    note = _("By the median only: two that cannot be told apart may change places by chance.")
    return Table(_("The fastest mechanism, where it is another"), columns, rows, [note])


def points(view: View) -> Table:
    """Return every point that both runs hold: ratio with interval, detectable effect, verdict and reason."""
    _ = view.say
    rows = []
    for pair, name in _pairs(view):
        for each in sorted(pair.judged, key=_by_study):
            levels = (f"{key}={value}" for key, value in sorted(each.point.levels.items()))
            size = view.value(each.point.size_bytes, "B")
            what = [each.point.study, each.point.backend, each.op, size, each.point.placement, *levels]
            rows.append([name, " ".join(what), *_judged(view, each)])
    heads = [_("Ratio"), _("Detectable"), _("Launches")]
    columns = [Column(_("Runs")), Column(_("Point")), *(Column(head, "right") for head in heads), Column(_("Verdict"))]
    note = _("Intervals hold for one point; verdicts are corrected for all.")
    return Table(_("Every point"), columns, rows, [note])


def _by_study(each: Judged) -> tuple[str, str, str]:
    return each.point.study, each.point.id, each.op


def _judged(view: View, each: Judged) -> list[str]:
    found = each.found
    ratio = "–" if found.ratio is None else view.numbers.number(found.ratio)
    if found.low is not None and found.high is not None:
        ratio += f" [{view.numbers.number(found.low)}–{view.numbers.number(found.high)}]"
    share = "–" if found.detectable is None else view.value(found.detectable, "share")
    code, _, names = found.reason.partition(":")
    why = names if code == "differs" else view.say(WHY[code]) if code in WHY else found.reason
    return [ratio, share, "/".join(map(str, found.launches)), f"{view.say(NAMES[found.verdict])} ({why})"]


TABLES: dict[str, Callable[[View], Table]] = {
    "machines-overview": overview,
    "machines-differences": differences,
    "machines-verdicts": verdicts,
    "machines-unshared": unshared,
    "machines-use": use,
    "machines-ranks": ranks,
    "machines-fastest": fastest,
    "machines-points": points,
}
