"""The table of claims and verdicts."""

from collections.abc import Mapping, Sequence

from ipclab.claims.claim import FAILS, HOLDS, NOT_TESTABLE, UNDECIDED, Claim, Verdict, judge
from ipclab.facts.fact import Fact
from ipclab.report.catalogue import N_
from ipclab.report.table import Column, Table
from ipclab.view import View

WORDS = {
    HOLDS: N_("holds"),
    FAILS: N_("fails"),
    UNDECIDED: N_("undecided"),
    NOT_TESTABLE: N_("not testable here"),
}
SPECS = {"share": "pct"}


def claims(view: View, stated: Sequence[Claim], text: Mapping[str, Fact]) -> Table:
    """Return one row a claim: the words, the rule's bounds, the verdict on the text's own table and on this run.

    `text` are the published facts under the run's names.
    """
    _ = view.say
    rows = []
    for claim in stated:
        meaning = _(claim.meaning, **claim.figures)
        words = meaning if view.lang == "en" else f"“{claim.quote}”" if view.lang == claim.language else meaning
        own = Verdict(NOT_TESTABLE) if claim.unstated else judge(claim, text)
        rows.append([claim.id, words, bounds(view, claim), _verdict(view, claim, own, own=True)])
        rows[-1].append(_verdict(view, claim, judge(claim, view.facts), own=False))
    heads = [_("No."), _("Claim"), _("Rule"), _("On the text's own table"), _("On this run")]
    note = _("A verdict is undecided when the interval contains the rule's bound.")
    return Table(_("The text's claims, judged"), [Column(head) for head in heads], rows, [note])


def bounds(view: View, claim: Claim) -> str:
    """Return the rule's bounds as a reader writes them."""
    low, high = claim.bounds
    spec = "pct,int" if claim.unit == "share" else SPECS.get(claim.unit, "")
    ends = [view.value(end, claim.unit, spec) for end in (low, high)]
    if low == high:
        return f"= {ends[0]}"
    if high == float("inf"):
        return f"≥ {ends[0]}"
    return f"≤ {ends[1]}" if low == float("-inf") else view.say(N_("{low} to {high}"), low=ends[0], high=ends[1])


def _verdict(view: View, claim: Claim, verdict: Verdict, own: bool) -> str:
    word = view.say(WORDS[verdict.word])
    if verdict.value is None or verdict.interval is None:
        reason = claim.unstated if own and claim.unstated else N_("not measured in this run")
        return view.say(N_("{word} ({reason})"), word=word, reason=view.say(reason))
    spec = SPECS.get(claim.unit, "")
    first, last = (view.value(value, claim.unit, spec) for value in verdict.value)
    text = first if first == last else view.say(N_("{low} to {high}"), low=first, high=last)
    if not own and verdict.interval != verdict.value:
        text += f" [{'–'.join(view.value(end, claim.unit, spec) for end in verdict.interval)}]"
    return view.say(N_("{word}: {value}"), word=word, value=text)
