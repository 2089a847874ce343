"""The tables of the audit: claims and verdicts, their counts, and what the texts derive wrongly."""

from collections.abc import Mapping, Sequence
from math import inf

from ipclab.claims.claim import FAILS, HOLDS, NOT_TESTABLE, UNDECIDED, Claim, Verdict, judge_all
from ipclab.claims.corrected import CORRECTIONS, told
from ipclab.claims.derivations import DERIVATIONS
from ipclab.claims.derived import do_not_follow
from ipclab.claims.published import books, texts
from ipclab.claims.registry import NAMES, TEXTS
from ipclab.facts.fact import Fact
from ipclab.paths import checkout
from ipclab.report.catalogue import N_
from ipclab.report.table import Column, Table
from ipclab.view import View

WORDS = {
    HOLDS: N_("holds"),
    FAILS: N_("fails"),
    UNDECIDED: N_("undecided"),
    NOT_TESTABLE: N_("not testable here"),
}
METHOD_NAMES = (N_("on the text's own table"), N_("here, published method"), N_("here, fair method"))
BINARY = ("KiB", "MiB", "GiB")
SPECS = {"share": "pct"}
UNSAID = N_("the text does not give it")
UNMEASURED = N_("not measured in this run: {fact}")
UNRUN = N_("the study {study} is not in this run")
PRINTED_UNITS = {"x": "×", "us": "µs"}
STRICT = 1e-9  # a bound this much above a whole number means: more than that number


def claims(view: View, stated: Sequence[Claim], text: Mapping[str, Fact]) -> Table:
    """Return one row a claim: the words, the rule, and the verdicts on the text's own table and on this run.

    `text` are the published facts under the run's names.
    """
    _ = view.say
    rows = []
    for claim in stated:
        verdicts = judge_all(claim, text, view.facts)
        says = _(N_("{words} ({section})"), words=words(view, claim), section=claim.section or "–")
        cells = [verdict(view, claim, found, own=not place) for place, found in enumerate(verdicts)]
        fair = cells[2] if claim.fair else _("as published")
        rows.append([claim.id, says, bounds(view, claim), cells[0], cells[1], fair])
    heads = [_("No."), _("Claim (section)"), _("Rule"), _("On the text's own table")]
    heads += [_("On this run, published method"), _("On this run, fair method")]
    notes = [_("A verdict is undecided when the interval contains the rule's bound."), *_fair_notes(view, stated)]
    seeds = {claim.seed for claim in stated} & NAMES.keys()
    caption = _("The text's claims, judged")
    for seed in seeds:
        text_name = _(NAMES[seed], seed=seed)
        caption = _(N_("{caption}: {text}"), caption=caption, text=text_name)
        notes.append(_(N_("Sections and the text's own numbers: {text}. All other numbers: this run."), text=text_name))
    return Table(caption, [Column(head) for head in heads], rows, notes)


def _fair_notes(view: View, stated: Sequence[Claim]) -> list[str]:
    """Return what the fair method adds, with the claims that it is for."""
    added: dict[str, list[str]] = {}
    for claim in stated:
        if claim.fair and claim.adds:
            added.setdefault(claim.adds, []).append(claim.id)
    note = N_("The fair method of {claims}: {adds}.")
    return [view.say(note, claims=", ".join(ids), adds=view.say(adds)) for adds, ids in added.items()]


def own(view: View) -> Table:
    """Return the claims that a person gave, judged in the same way."""
    table = claims(view, view.claims, {})
    return Table(view.say(N_("Your own claims, judged")), table.columns, table.rows, table.notes)


def words(view: View, claim: Claim) -> str:
    """Return the claim in the reader's words: quoted where the reader reads its language, else translated."""
    if claim.translations:
        return view.say(claim.translations.get(view.lang, claim.quote), **claim.figures)
    meaning = view.say(claim.meaning, **claim.figures)
    return f"“{claim.quote}”" if view.lang == claim.language != "en" else meaning


def bounds(view: View, claim: Claim) -> str:
    """Return the rule's bounds as a reader writes them."""
    low, high = claim.bounds
    percents = [100 * end for end in (low, high) if abs(end) < inf]
    whole = all(abs(end - round(end)) < STRICT for end in percents)
    spec = ("pct,int" if whole else "pct") if claim.unit == "share" else SPECS.get(claim.unit, "")
    for sign, end, other in ((">", low, high), ("<", high, low)):
        if abs(end) < inf and abs(other) == inf and abs(abs(end - round(end)) - STRICT) < STRICT / 10:
            return f"{sign} {view.value(round(end), claim.unit, spec or 'int')}"
    ends = [view.value(end, claim.unit, spec) for end in (low, high)]
    if low == high:
        return f"= {ends[0]}"
    if high == inf:
        return f"≥ {ends[0]}"
    return f"≤ {ends[1]}" if low == -inf else view.say(N_("{low} to {high}"), low=ends[0], high=ends[1])


def verdict(view: View, claim: Claim, found: Verdict, own: bool) -> str:
    """Return a verdict in words: with its value and interval, or with what is missing."""
    word = view.say(WORDS[found.word])
    if found.value is None or found.interval is None:
        return view.say(N_("{word} ({reason})"), word=word, reason=reason(view, claim, found, own))
    spec = SPECS.get(claim.unit, "")
    text, last = (view.value(value, claim.unit, spec) for value in found.value)
    if not own and found.interval != found.value:
        last = view.numbers.format(Fact("", found.value[1], claim.unit, "", *found.interval), f"{spec},interval")
    if text != view.value(found.value[1], claim.unit, spec):
        text = view.say(N_("{low} to {high}"), low=text, high=last)
    else:
        text = last
    return view.say(N_("{word}: {value}"), word=word, value=text)


def reason(view: View, claim: Claim, found: Verdict, own: bool) -> str:
    """Return why a claim cannot be tested, in the reader's words."""
    if own:
        return view.say(claim.unstated or UNSAID)
    if found.need:
        return view.say(found.need.words, **found.need.figures(view.facts))
    study = found.missing.partition(".")[0]
    ran = any(name.startswith(f"{study}.") and fact.n and fact.value is not None for name, fact in view.facts.items())
    return view.say(UNMEASURED, fact=found.missing) if ran else view.say(UNRUN, study=study)


def summary(view: View) -> Table:
    """Return how many claims of each text have each verdict by each method."""
    _ = view.say
    text = texts(checkout())
    rows = []
    every: list[Claim] = []
    for seed, (_study, stated) in TEXTS.items():
        every += stated
        rows += _counts(view, _(NAMES[seed], seed=seed), stated, text)
    rows += _counts(view, _("all texts"), every, text)
    heads = [*(_(WORDS[word]) for word in WORDS), _("claims")]
    columns = [Column(_("Text")), Column(_("Judged")), *(Column(head, "right") for head in heads)]
    return Table(_("Verdicts on all published claims"), columns, rows)


def _counts(view: View, name: str, stated: Sequence[Claim], text: Mapping[str, Fact]) -> list[list[str]]:
    judged = [judge_all(claim, text, view.facts) for claim in stated]
    rows = []
    for place, method in enumerate(METHOD_NAMES):
        counts = [sum(verdicts[place].word == word for verdicts in judged) for word in WORDS]
        cells = [view.value(count, "count") for count in (*counts, len(stated))]
        rows.append(["" if place else name, view.say(method), *cells])
    return rows


def corrected(view: View) -> Table:
    """Return sentences that can stand in place of claims: from the text's own table, and from this run."""
    _ = view.say
    by_id = {claim.id: claim for _, stated in TEXTS.values() for claim in stated}
    rows = []
    for each in CORRECTIONS:
        stated = [by_id[name] for name in each.claims]
        quotes = list(
            dict.fromkeys(f"“{quote}”" for quote in (*(claim.quote for claim in stated), each.quote) if quote)
        )
        cells = [view.say(msgid) if told(msgid, view.facts) else "–" for msgid in (each.own, each.here)]
        rows.append([", ".join(each.claims) or each.source, " ".join(quotes), *cells])
    heads = [_("No."), _("Stated"), _("In its place, from the text's own table"), _("In its place, from this run")]
    notes = [
        _("Numbers of the third column follow from the text's own table, those of the fourth are this run's."),
        _("A dash: the text's table does not give it, or this run did not measure it."),
    ]
    return Table(_("Corrected sentences"), [Column(head) for head in heads], rows, notes)


def derived(view: View) -> Table:
    """Return the numbers that a text derives from its own tables and that do not follow from them."""
    _ = view.say
    rows = []
    for outcome in do_not_follow(DERIVATIONS, books(checkout())):
        row, unit = outcome.row, outcome.row["unit_si"]
        place = _(N_("seed {seed}, {section}"), seed=row["seed"], section=row["section"])
        printed = f"{row['label']}: {row['value']}\u00a0{PRINTED_UNITS.get(row['unit'], row['unit'])}"
        binary = row["unit"] if row["unit"] in BINARY else "scaled"
        spec = binary if unit == "B" else SPECS.get(unit, "x" if unit == "1" else "")
        computed = view.numbers.format(Fact("computed", outcome.computed.value, unit), spec)
        rows.append([place, printed, computed, _(outcome.derivation.by)])
    heads = [_("Where"), _("As printed"), _("From the text's own table"), _("Computed as")]
    notes = [
        _("{audit.derived.wrong} of {audit.derived} numbers that the texts derive do not follow from their tables.")
    ]
    notes.append(_("A number follows when values that round to the printed ones give one that rounds to it."))
    caption = _("What the texts derive from their own tables and does not follow")
    return Table(caption, [Column(head) for head in heads], rows, notes)
