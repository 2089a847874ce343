"""The audit in a reader's words: the texts' claims and a person's own, judged, and what corrects
them.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from ipclab.claims.claim import OWN, Claim, Verdict, Verdicts, judge_all, known_of
from ipclab.claims.expression import SHOWN, Source, Term
from ipclab.claims.file import File
from ipclab.claims.lines import Lines
from ipclab.claims.published import texts, worded
from ipclab.errors import LabError, UsageError
from ipclab.frames import derived
from ipclab.frames.address import MissingError
from ipclab.frames.judged import judged
from ipclab.lab import labels, prose
from ipclab.lab.catalogue import LANGUAGES, N_
from ipclab.lab.data import Data
from ipclab.lab.table import Table
from ipclab.lab.tabulation import tabulated
from ipclab.lab.verdicts import VerdictWords
from ipclab.lab.words import DASH
from ipclab.stats.quantity import Quantity

METHODS = Verdicts._fields
METHOD_NAMES = labels.SAID["methods"]
AnyData = TypeVar("AnyData", bound=Data)


class Audit:
    """The claims that are judged on a run's data: the texts', and a person's own."""

    def __init__(self, lab: Data) -> None:
        self.lab, self.run, self.paths = lab, lab.run, lab.paths
        self.words, self.numbers, self.say = lab.words, lab.words.numbers, lab.say
        self.known = known_of(lab.run.about)

    def claims(self, study: str = "") -> pd.DataFrame:
        """Return one row for each claim of the study's text (of all texts, or your `own`) with its
        three verdicts.

        Columns: id, title, study, seed, section, language, quote, meaning, rule, bounds, unit; for
        each method, `own` (on the text's own table), `here` (on this run, as published) and `fair`:
        the verdict (holds, fails, undecided, not testable here), what decides it as `here_value`,
        `here_low`, `here_high`, or `here_reason`, and all of that in words (`here_told`); whether
        the fair method is another (`fairly`), and the rule's bounds `low` and `high`.

        >>> claims(lab, "payload").query("here == 'fails'")
        """
        files = dict(texts(self.paths))
        if self.lab._own:
            files[OWN] = self.lab._own
        if study and study not in (*files, OWN):
            there = f"there are {', '.join(files)} and {OWN}"
            raise UsageError(f"no text about {study!r} makes claims", "", there)
        rows = []
        for name, file in files.items():
            wanted = name == study if study else name != OWN
            if wanted:
                rows += [self._claim(file, claim) for claim in file.claims]
        return pd.DataFrame(rows)

    def _claim(self, file: File, claim: Claim) -> dict[str, Any]:
        rule = claim.rule
        row: dict[str, Any] = {
            "title": self._title(file),
            "study": file.study or OWN,
            "seed": file.seed,
            "quote": claim.text,
            "id": claim.id,
            "section": claim.section,
            "language": claim.language,
            "meaning": self._words(file, claim),
            "rule": rule.text,
            "bounds": self._verdicts.bounds(rule),
            "unit": rule.unit,
            "low": rule.low,
            "high": rule.high,
        }
        for method, verdict in zip(METHODS, judge_all(claim, *self.sources), strict=True):
            row |= self._verdict(claim, method, verdict)
        return row | {"fairly": claim.fair is not None, "adds": self.say(claim.adds)}

    def _verdict(self, claim: Claim, method: str, verdict: Verdict) -> dict[str, Any]:
        """Return the columns of one method."""
        decides = verdict.deciding
        own = method == "own"
        reason = "" if decides else self._verdicts.reason(claim, verdict, own)
        value, (low, high) = None, (None, None)
        if decides:
            value, (low, high) = decides.value, decides.ends
        return {
            method: verdict.word,
            f"{method}_reason": reason,
            f"{method}_told": self._verdicts.in_words(
                verdict, reason, claim.rule, claim.from_code and own
            ),
            f"{method}_value": value,
            f"{method}_low": low,
            f"{method}_high": high,
        }

    def claims_table(self, study: str, name: str = "", of: Collection[str] | None = None) -> Table:
        """Return the claims of the study's text (all texts when empty, or your `own`) as a table.

        Columns: words, rule, verdicts, what decides; `of` names the claims that are shown, all when
        None.
        """
        names = [
            "id",
            "meaning",
            "section",
            "bounds",
            "own_told",
            "here_told",
            "fair_told",
            "fairly",
            "adds",
        ]
        found = self.claims(study).reindex(columns=names).astype({"fairly": bool})
        if of is not None:
            found = found[found.id.isin(of)]
        says = N_("{words} ({section})")
        places = zip(found.meaning, found.section, strict=True)
        words = [
            self.say(says, words=meaning, section=section or DASH) for meaning, section in places
        ]
        fairly = found.fair_told.where(found.fairly, self.say(N_("as published")))
        heads = [N_("No."), N_("Claim (section)"), N_("Rule"), *METHOD_NAMES.values()]
        columns = (found.id, words, found.bounds, found.own_told, found.here_told, fairly)
        frame = pd.DataFrame(dict(zip(map(self.say, heads), columns, strict=True)))
        notes = [
            self.say(N_("A verdict is undecided when the interval contains the rule's bound.")),
            self.say(
                N_(
                    "A rounded bound stands for every value that rounds to it, in the digits of its"
                    " text."
                )
            ),
        ]
        how, added = (
            N_("The fair method of {claims}: {adds}."),
            found[found.fairly & (found.adds != "")],
        )
        ids = added.groupby("adds", sort=False).id.agg(self.words.joined)
        notes += [self.say(how, claims=claims, adds=adds) for adds, claims in ids.items()]
        captions = {
            OWN: N_("Your own claims, judged"),
            "": N_("Claims that fail, on a text's own table or on this run"),
        }
        caption = self.say(captions.get(study, N_("The text's claims, judged")))
        if study not in captions:
            text = self._title(texts(self.paths)[study])
            caption = self.say(N_("{caption}: {text}"), caption=caption, text=text)
            source = N_("Sections and the text's own numbers: {text}. All other numbers: this run.")
            notes.append(self.say(source, text=text))
        return tabulated(
            self.lab,
            frame,
            caption,
            notes=notes,
            name=name or f"{study.replace('_', '-')}-claims",
        )

    def corrections(self) -> pd.DataFrame:
        """Return sentences to put in place of claims, from the text's own table (`own`) and from
        this run (`here`).
        """
        text, run = self.sources
        rows = []
        for file in texts(self.paths).values():
            stated = {claim.id: claim for claim in file.claims}
            for each in file.corrections:
                quotes = dict.fromkeys([*(stated[name].text for name in each.claims), each.quote])
                told = " ".join(f"“{quote}”" for quote in quotes if quote)
                own, here = (
                    (each.own, each.own_values, text),
                    (each.here, each.here_values, run),
                )
                source = self.words.joined(each.claims) or each.source
                rows.append((source, told, self._corrected(*own), self._corrected(*here)))
        return pd.DataFrame(rows, columns=["claims", "stated", "own", "here"])

    def filled(self, text: str, claim: Claim) -> str:
        """Return the words of a person's own claim with its figures."""
        return prose.fill_plain(
            text, lambda name: self.lab._lookup(name, claim.figures), self.numbers
        )

    def _words(self, file: File, claim: Claim) -> str:
        """Return what is judged, in the words of the reader, after the quotation where it is in
        their language.
        """
        if file.seed == OWN:
            by_language = {**claim.translations, claim.language: claim.text}
            return self.filled(by_language.get(self.words.lang, claim.text), claim)
        meaning = self.say(claim.meaning, **claim.figures)
        return (
            f"“{claim.text}”\u2002{meaning}"
            if self.words.lang == claim.language != "en"
            else meaning
        )

    def _title(self, file: File) -> str:
        return self.say(file.title, seed=file.seed) if file.title else file.seed

    @cached_property
    def _verdicts(self) -> VerdictWords:
        return VerdictWords(self.lab, self.known)

    @cached_property
    def sources(self) -> tuple[Source, Source]:
        """Where rules look up values: the texts' tables, and the run's frames."""
        table = partial(worded, self.paths)
        run = Source(
            lambda study: derived.read(self.run, study, "points"),
            table,
            self.known,
            judged=partial(judged, self.run),
        )
        return Source(table, table, loose=True), run

    def _corrected(self, msgid: str, values: Mapping[str, Term], source: Source) -> str:
        """Return a corrected sentence with its numbers; a dash where one of them is not there."""
        asked = {name for name, _ in prose.placeholders(msgid)}
        try:
            found = {
                name: one_value(term, source) for name, term in values.items() if name in asked
            }
        except MissingError:
            return DASH
        return self.say(msgid, **found) if msgid else DASH


def claims(lab: Data, study: str = "") -> pd.DataFrame:
    """Return the claims of a study's text and their verdicts: see `Audit.claims`.

    >>> claims(lab, "payload").query("here == 'fails'")
    """
    return Audit(lab).claims(study)


def claims_table(lab: Data, study: str, name: str = "", of: Collection[str] | None = None) -> Table:
    """Return the claims of the study's text (or your "own") as a table: see `Audit.claims_table`."""
    return Audit(lab).claims_table(study, name, of)


def corrections(lab: Data) -> pd.DataFrame:
    """Return sentences to put in place of claims, from the text's own table (`own`) and from this
    run (`here`).
    """
    return Audit(lab).corrections()


def with_own(lab: AnyData, file: str) -> AnyData:
    """Return the lab with a person's own claims; raises `UsageError` with the line for what cannot
    be judged.
    """
    audit = Audit(lab)
    lines = Lines.read(Path(file))
    own = lines.told()
    lines.check(own, audit.sources[1])
    for number, claim in enumerate(own.claims):
        for lang, text in ((claim.language, claim.text), *claim.translations.items()):
            place = lines.place(number, "text" if text == claim.text else "translations")
            if lang not in LANGUAGES:
                raise UsageError(
                    place, f"no language {lang!r}", f"there are {', '.join(LANGUAGES)}"
                )
            try:
                audit.filled(text, claim)
            except LabError as error:
                raise UsageError(place, str(error)) from error
    return replace(lab, _own=own)


def one_value(term: Term, source: Source) -> Quantity:
    """Return what `term` gives in `source`; raises `LabError` when that are several values."""
    given = term(source)
    value, *more = given.shown(SHOWN.get(given.dimension, "1"))
    if more:
        what = f"an expression gives {1 + len(more)} values"
        raise LabError(what, "one is asked for", "take min(...) or max(...) of them")
    return value
