"""The audit in a reader's words: claims judged, and the sentences that correct them."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from ipclab.claims import verdicts
from ipclab.claims.claim import OWN, Claim, Verdict, judge_all
from ipclab.claims.computed import one_value, values_of
from ipclab.claims.expression import Term
from ipclab.claims.file import File
from ipclab.claims.lines import Lines, stated_in
from ipclab.claims.published import texts
from ipclab.claims.requirement import Requirement
from ipclab.claims.values import ValueSource
from ipclab.errors import LabError, UsageError
from ipclab.frames.address import MissingError
from ipclab.prose.language import placeholders
from ipclab.stats.quantity import Quantity
from ipclab.tables.table import Table
from ipclab.tables.tabulation import tabulated
from ipclab.words import filling, labels
from ipclab.words.catalogue import LANGUAGES, N_
from ipclab.words.ours import control_file
from ipclab.words.words import DASH

if TYPE_CHECKING:
    from ipclab.report.lab import ReportLab

METHOD_NAMES = labels.WORDS["methods"]
SHOWN_COLUMNS = (
    "id",
    "meaning",
    "section",
    "bounds",
    "own_told",
    "here_told",
    "fair_told",
    "fairly",
    "adds",
)
AnyData = TypeVar("AnyData", bound="ReportLab")


def claims(lab: "ReportLab", study: str = "") -> pd.DataFrame:
    """Return one row for each claim of a text (of all, or your `own`) with three verdicts.

    Columns: id, title, study, seed, section, language, quote, meaning, rule, bounds, unit; for each
    method, `own` (on the text's own table), `here` (on this run, as published) and `fair`: the
    verdict (holds, fails, undecided, not testable here), what decides it as `here_value`,
    `here_low`, `here_high`, or `here_reason`, and all of that in words (`here_told`); whether the
    fair method is another (`fairly`), and the rule's bounds `low` and `high`.

    >>> claims(lab, "payload").query("here == 'fails'")
    """
    files = texts(lab.paths)
    if study and study not in (*files, OWN):
        there = f"there are {', '.join(files)} and {OWN}"
        raise UsageError(f"no text about {study!r} makes claims", "", there)
    if study == OWN:
        files = {OWN: lab._own} if lab._own else {}
    elif study:
        files = {study: files[study]}
    rows = [
        _claim(lab, file, claim, lab._sources) for file in files.values() for claim in file.claims
    ]
    return pd.DataFrame(rows)


def _claim(
    lab: "ReportLab",
    file: File,
    claim: Claim,
    values: tuple[ValueSource, ValueSource],
) -> dict[str, Any]:
    rule = claim.rule
    row: dict[str, Any] = {
        "title": _title(lab, file),
        "study": file.study or OWN,
        "seed": file.seed,
        "quote": claim.text,
        "id": claim.id,
        "section": claim.section,
        "language": claim.language,
        "meaning": _meaning(lab, file, claim),
        "rule": rule.text,
        "bounds": verdicts.bounds(lab, rule),
        "unit": rule.unit,
        "low": rule.low,
        "high": rule.high,
    }
    for method, verdict in judge_all(claim, *values)._asdict().items():
        row |= _verdict(lab, claim, method, verdict)
    return row | {"fairly": claim.fair is not None, "adds": lab.say(claim.adds)}


def _verdict(
    lab: "ReportLab",
    claim: Claim,
    method: str,
    verdict: Verdict,
) -> dict[str, Any]:
    """Return the columns of one method."""
    decides = verdict.deciding
    own = method == "own"
    reason = "" if decides else verdicts.reason(lab, claim, verdict, own)
    low, high = decides.ends if decides else (None, None)
    return {
        method: verdict.word,
        f"{method}_reason": reason,
        f"{method}_told": verdicts.in_words(
            lab, verdict, reason, claim.rule, claim.from_code and own
        ),
        f"{method}_value": decides.value if decides else None,
        f"{method}_low": low,
        f"{method}_high": high,
    }


def claims_table(
    lab: "ReportLab",
    study: str,
    name: str = "",
    of: Collection[str] | None = None,
) -> Table:
    """Return the claims of the study's text (all texts when empty, or your `own`) as a table.

    Columns: words, rule, verdicts, what decides; `of` names the claims that are shown, all when
    None.
    """
    shown = claims(lab, study).reindex(columns=SHOWN_COLUMNS).astype({"fairly": bool})
    if of is not None:
        shown = shown[shown.id.isin(of)]
    words = [
        lab.say(N_("{words} ({section})"), words=meaning, section=section or DASH)
        for meaning, section in zip(shown.meaning, shown.section, strict=True)
    ]
    fairly = shown.fair_told.where(shown.fairly, lab.say(N_("as published")))
    heads = [N_("No."), N_("Claim (section)"), N_("Rule"), *METHOD_NAMES.values()]
    columns = (shown.id, words, shown.bounds, shown.own_told, shown.here_told, fairly)
    frame = pd.DataFrame(dict(zip(map(lab.say, heads), columns, strict=True)))
    notes = [
        lab.say(N_("A verdict is undecided when the interval contains the rule's bound.")),
        lab.say(
            N_(
                "A rounded bound stands for every value that rounds to it, in the digits of its"
                " text."
            )
        ),
    ]
    added = shown[shown.fairly & (shown.adds != "")]
    for adds, ids in added.groupby("adds", sort=False).id:
        how = N_("The fair method of {claims}: {adds}.")
        notes.append(lab.say(how, claims=lab.words.joined(ids), adds=adds))
    if study == OWN:
        caption = lab.say(N_("Your own claims, judged"))
    elif not study:
        caption = lab.say(N_("Claims that fail, on a text's own table or on this run"))
    else:
        text = _title(lab, texts(lab.paths)[study])
        judged_claims = lab.say(N_("The text's claims, judged"))
        caption = lab.say(N_("{caption}: {text}"), caption=judged_claims, text=text)
        source = N_("Sections and the text's own numbers: {text}. All other numbers: this run.")
        notes.append(lab.say(source, text=text))
    name = name or f"{study.replace('_', '-')}-claims"
    return tabulated(lab, frame, caption, notes=notes, name=name)


def corrections(lab: "ReportLab", of: Collection[str] | None = None) -> pd.DataFrame:
    """Return sentences to put in place of claims, from the text's table (`own`) and `here`.

    `stated` has a claim in the reader's language, with the text's words where these are in it.
    `of` names the claims that need one, all when None; what no claim states is always corrected.
    """
    text, run = lab._sources
    rows = []
    for file in texts(lab.paths).values():
        stated = {claim.id: _meaning(lab, file, claim) for claim in file.claims}
        short = file.title.partition(",")[0]
        for correction in file.corrections:
            ids = [id_ for id_ in correction.claims if of is None or id_ in of]
            if correction.claims and not ids:
                continue
            quoted = [f"“{correction.quote}”"] if correction.quote else []
            said = " ".join(dict.fromkeys([*map(stated.__getitem__, ids), *quoted]))
            place = lab.say(N_("{text}, {section}"), text=short, section=correction.source)
            source = lab.words.joined(ids) or place
            own = _corrected(lab, correction.own, correction.own_values, text)
            here = _corrected(lab, correction.here, correction.here_values, run)
            rows.append((source, said, own, here))
    return pd.DataFrame(rows, columns=["claims", "stated", "own", "here"])


def _corrected(
    lab: "ReportLab",
    msgid: str,
    values: Mapping[str, Term],
    source: ValueSource,
) -> str:
    """Return a corrected sentence with its numbers; a dash where one of them is not there."""
    asked = {name for name, _ in placeholders(msgid)}
    try:
        filled = {name: one_value(term, source) for name, term in values.items() if name in asked}
    except MissingError:
        return DASH
    return lab.say(msgid, **filled) if msgid else DASH


def filled(lab: "ReportLab", text: str, figures: Mapping[str, Quantity]) -> str:
    """Return the words of a person's own claim or requirement with its figures."""
    return filling.fill(
        text, lambda name: lab._lookup(name, figures), lab.words.numbers, markdown=False
    )


def in_language(lab: "ReportLab", stated: Claim | Requirement) -> str:
    """Return the words of a claim or requirement in the reader's language where it has them."""
    by_language = {**stated.translations, stated.language: stated.text}
    return by_language.get(lab.words.lang, stated.text)


def _meaning(lab: "ReportLab", file: File, claim: Claim) -> str:
    """Return what is judged, in the reader's words, after a quotation in their language."""
    lang = lab.words.lang
    if file.seed == OWN:
        return filled(lab, in_language(lab, claim), claim.figures)
    meaning = lab.say(claim.meaning, **claim.figures)
    if lang == claim.language != "en":
        return f"“{claim.text}”\u2002{meaning}"
    return meaning


def _title(lab: "ReportLab", file: File) -> str:
    return lab.say(file.title, seed=file.seed) if file.title else file.seed


def with_own(lab: AnyData, file: str = "") -> AnyData:
    """Return the lab with a person's own claims and requirements, else those of `report.toml`.

    Raises `UsageError` with the line of a bad one.
    """
    lines = Lines.read(Path(file) if file else control_file(lab.paths))
    own = lines.parsed()
    lines.check(own, values_of(lab)[1])
    for table, stated in stated_in(own):
        values = stated.values if isinstance(stated, Requirement) else stated.figures
        for lang, text in ((stated.language, stated.text), *stated.translations.items()):
            place = lines.place(table, "text" if text == stated.text else "translations")
            if lang not in LANGUAGES:
                there = f"there are {', '.join(LANGUAGES)}"
                raise UsageError(place, f"no language {lang!r}", there)
            try:
                filled(lab, text, values)
            except LabError as error:
                raise UsageError(place, str(error)) from error
    return replace(lab, _own=own)
