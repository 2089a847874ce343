"""The audit in a reader's words: claims judged, and the sentences that correct them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ipclab.claims import computed, wording
from ipclab.claims.claim import Claim, FindValues
from ipclab.claims.differences import less_of
from ipclab.claims.file import OWN, OwnClaim
from ipclab.claims.lines import Lines, stated_in
from ipclab.claims.numbers import Numbers
from ipclab.claims.published import TEXTS, table_of
from ipclab.claims.requirement import Requirement
from ipclab.claims.verdicts import DECIDED, Verdicts, judge_all
from ipclab.errors import LabError, UsageError
from ipclab.frames.address import MissingError
from ipclab.frames.ratios import Row
from ipclab.stats.quantity import Quantity
from ipclab.tables.table import Table
from ipclab.tables.tabulation import tabulated
from ipclab.words import labels
from ipclab.words.catalogue import LANGUAGES, N_
from ipclab.words.words import DASH

if TYPE_CHECKING:
    from ipclab.lab.lab import Lab

UNDECIDED = N_(
    "A verdict is undecided when the interval contains the rule's bound, or when there is none. What"
    " this run decides stands first."
)
NOTES = [
    N_("A rounded bound stands for every value that rounds to it, in the digits of its text."),
    N_(
        "Where a claim compares several values, their intervals hold together: they are wider than"
        " that of each alone."
    ),
]
METHODS = {  # what the fair methods add, and what the text itself says of that
    "adds": N_("The fair method of {claims}: {adds}."),
    "concedes": N_("The text itself says of {claims}: {concedes}."),
}


def audited(lab: "Lab", study: str = "") -> pd.DataFrame:
    """Return one row for each claim of a text (of all, or your `own`) with three verdicts.

    Columns: id, title, study, text (its number), section, language, quote, meaning, rule, bounds,
    unit; for each method, `table` (on the text's own table), `here` (on this run, as published) and
    `fair`: the verdict (holds, fails, undecided, not testable here), what decides it as
    `here_value`, `here_low`, `here_high`, or `here_reason`, and all of that in words (`here_told`);
    whether the fair method is another (`fairly`), what it `adds`, what the text itself `concedes`,
    the `arm` of the published method and the `points` that it compares, whether it is `unmeasured`
    in this run, whether a method has `decided` it, and the rule's bounds `low` and `high`.

    >>> audited(lab, "payload").query("here == 'fails'")
    """
    if study and study not in (*TEXTS, OWN):
        there = f"there are {', '.join(TEXTS)} and {OWN}"
        raise UsageError(f"no text about {study!r} makes claims", "", there)
    rows = []
    for name in [study] if study else TEXTS:
        rows += [_row(lab, name, *each) for each in _judged(lab, name)]
    return pd.DataFrame(rows)


def _judged(lab: "Lab", study: str) -> Iterable[tuple[Claim, Verdicts]]:
    """Yield the claims of a text, or a person's own, with their verdicts."""
    if study != OWN:
        yield from computed.claims_judged(lab.run, lab.paths, study)
        return
    for own in lab._own.claims if lab._own else ():
        rules = [own.rule, own.fair_rule] if own.fair else [own.rule]
        run = computed.numbers_at(lab.run, chain.from_iterable(rule.addresses for rule in rules))
        claim = own.claim()
        yield claim, judge_all(claim, Numbers(OWN, {}), run)


def _row(lab: "Lab", study: str, claim: Claim, verdicts: Verdicts) -> dict[str, Any]:
    bounds = claim.bounds
    row: dict[str, Any] = {
        "title": OWN if study == OWN else lab.say(TEXTS[study].title),
        "study": study,
        "text": OWN if study == OWN else TEXTS[study].number,
        "quote": claim.quote,
        "id": claim.id,
        "section": claim.section,
        "language": claim.language,
        "meaning": _meaning(lab, study, claim),
        "rule": bounds.text,
        "bounds": wording.bounds(lab, bounds),
        "unit": bounds.unit,
        "low": bounds.low,
        "high": bounds.high,
    }
    for method, verdict in verdicts._asdict().items():
        decides = verdict.deciding
        on_table = method == "table"
        reason = "" if decides else wording.reason(lab, claim, verdict, on_table)
        low, high = decides.ends if decides else (None, None)
        row |= {
            method: verdict.word,
            f"{method}_reason": reason,
            f"{method}_told": wording.in_words(
                lab, verdict, reason, bounds, claim.from_code and on_table
            ),
            f"{method}_value": decides.value if decides else None,
            f"{method}_low": low,
            f"{method}_high": high,
        }
    return row | {
        "fairly": claim.fair is not None,
        "adds": lab.say(claim.adds),
        "concedes": lab.say(claim.concedes),
        "arm": claim.arm,
        "points": _points(study, verdicts.here.sources),
        "unmeasured": bool(verdicts.here.missing),
        "decided": verdicts.here.word in DECIDED or verdicts.fair.word in DECIDED,
    }


def _points(study: str, sources: Iterable[str]) -> tuple[str, ...]:
    """Return the points of a study among rows of a run."""
    rows = [Row(*source.split("/")) for source in sources]
    return tuple(dict.fromkeys(row.point for row in rows if row.study == study))


def claims_table(
    lab: "Lab", study: str, name: str = "", of: Collection[str] | None = None
) -> Table:
    """Return the claims of the study's text (all texts when empty, or your `own`) as a table.

    Columns: words, rule, verdicts, what decides, and how far the published method ran as the text
    did. What this run decides comes first; `of` names the claims that are shown, all when None.
    """
    name = name or f"{study.replace('_', '-')}-claims"
    of_text = []
    if study == OWN:
        caption = N_("Your own claims, judged")
    elif not study:
        caption = N_("Claims that fail, on a text's own table or on this run")
    else:
        text = lab.say(TEXTS[study].title)
        judged_claims = lab.say(N_("The text's claims, judged"))
        caption = lab.say(N_("{caption}: {text}"), caption=judged_claims, text=text)
        source = N_("Sections and the text's own numbers: {text}. All other numbers: this run.")
        of_text.append(lab.say(source, text=text))
    shown = audited(lab, study)
    if of is not None and len(shown):
        shown = shown[shown.id.isin(of)]
    if shown.empty:
        return tabulated(lab, shown, caption, name=name)
    shown = shown.sort_values("decided", ascending=False, kind="stable")
    fairly = shown.fair_told.where(shown.fairly, lab.say(N_("as published")))
    heads = [N_("No."), N_("Claim (section)"), N_("Rule"), *labels.WORDS["methods"].values()]
    words = with_sections(lab, shown)
    columns = (shown.id, words, shown.bounds, shown.table_told, shown.here_told, fairly)
    frame = pd.DataFrame(dict(zip(map(lab.say, heads), columns, strict=True)))
    if study != OWN:
        of_each = shown[["study", "arm", "points"]].itertuples(index=False)
        frame[lab.say(N_("Run of the text"))] = [less_of(lab, *each) for each in of_each]
    notes = [UNDECIDED, *NOTES]
    if study:  # the audit has a table of them
        for column, how in METHODS.items():
            told = shown[shown[column] != ""]
            for said, ids in told.groupby(column, sort=False).id:
                notes.append(lab.say(how, claims=lab.words.joined(ids), **{column: said}))
    return tabulated(lab, frame, caption, notes=notes + of_text, name=name)


def with_sections(lab: "Lab", claims: pd.DataFrame) -> list[str]:
    """Return what claims (as `audited`) state, each with its section where it has one."""
    return [
        lab.say(N_("{words} ({section})"), words=meaning, section=section) if section else meaning
        for meaning, section in zip(claims.meaning, claims.section, strict=True)
    ]


def corrections(lab: "Lab", of: Collection[str] | None = None) -> pd.DataFrame:
    """Return sentences to put in place of claims, from the text's `table` and `here`.

    `stated` has a claim in the reader's language, with the text's words where these are in it.
    `of` names the claims that need one, all when None; what no claim states is always corrected.
    """
    rows = []
    for study, text in TEXTS.items():
        table, run = table_of(lab.paths, study), computed.of_text(lab.run, study)
        stated = {claim.id: _meaning(lab, study, claim) for claim in text.claims}
        short = lab.say(text.title).partition(",")[0]
        for correction in text.corrections:
            ids = [id_ for id_ in correction.claims if of is None or id_ in of]
            if correction.claims and not ids:
                continue
            quoted = [f"“{correction.quote}”"] if correction.quote else []
            said = lab.words.joined(dict.fromkeys([*map(stated.__getitem__, ids), *quoted]), " ")
            place = lab.say(N_("{text}, {section}"), text=short, section=correction.source)
            source = lab.words.joined(ids) or place
            by_table = _corrected(lab, correction.table, correction.table_values, table)
            here = _corrected(lab, correction.here, correction.here_values, run)
            rows.append((source, said, by_table, here))
    return pd.DataFrame(rows, columns=["claims", "stated", "table", "here"])


def _corrected(lab: "Lab", msgid: str, values: FindValues, numbers: Numbers) -> str:
    """Return a corrected sentence with its numbers; a dash where one of them is not there."""
    try:
        return lab.say(msgid, **values(numbers)) if msgid else DASH
    except MissingError:
        return DASH


def in_language(lab: "Lab", stated: Claim | Requirement) -> str:
    """Return the words of a claim or requirement with its figures, in the reader's language where it
    has them; what was said in this language is said so in the others.
    """
    figures = figures_of(stated)
    text = stated.quote if isinstance(stated, Claim) else stated.text
    by_language = {**stated.translations, stated.language: text}
    said = lab._filled(by_language.get(lab.words.lang, text), figures)
    for other in lab.others:
        again = other._filled(by_language.get(other.words.lang, text), figures)
        other.words.noted[said] = partial(str, again)
    return said


def _meaning(lab: "Lab", study: str, claim: Claim) -> str:
    """Return what is judged, in the reader's words, after a quotation in their language."""
    if study == OWN:
        return in_language(lab, claim)
    meaning = lab.say(claim.meaning, **claim.figures)
    if lab.words.lang == claim.language != "en":
        return f"“{claim.quote}”\u2002{meaning}"
    return meaning


def with_own(lab: "Lab", file: str = "") -> "Lab":
    """Return the lab with a person's own claims and requirements, else those of `report.toml`.

    Raises `UsageError` with the line of a bad one.
    """
    lines = Lines.read(Path(file) if file else lab.paths.control)
    own = lines.parsed()
    lines.check(own, lab.run)
    for table, stated in stated_in(own):
        for lang, text in ((stated.language, stated.text), *stated.translations.items()):
            place = lines.place(table, "text" if text == stated.text else "translations")
            if lang not in LANGUAGES:
                there = f"there are {', '.join(LANGUAGES)}"
                raise UsageError(place, f"no language {lang!r}", there)
            try:
                lab._filled(text, figures_of(stated))
            except LabError as error:
                raise UsageError(place, str(error)) from error
    return replace(lab, _own=own)


def figures_of(stated: Claim | OwnClaim | Requirement) -> Mapping[str, Quantity]:
    """Return the figures that the words of a claim or requirement may name."""
    bounds = stated.bounds if isinstance(stated, Requirement) else {}
    return {**bounds, **stated.figures}
