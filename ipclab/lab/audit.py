"""The audit in a reader's words: the texts' claims and a person's own, judged, and what corrects them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import starmap
from math import inf
from pathlib import Path
from typing import Any, Self

import pandas as pd

from ipclab.errors import LabError, UsageError
from ipclab.frames import derived
from ipclab.frames.address import Address, MissingError
from ipclab.frames.claim_file import File, Lines
from ipclab.frames.claims import OWN, SLACK, Claim, Rule, Verdict, Verdicts, judge_all, read_sum
from ipclab.frames.expression import SHOWN, RuleError, Source, Term
from ipclab.frames.published import texts, worded
from ipclab.lab import labels, prose
from ipclab.lab.catalogue import LANGUAGES, N_
from ipclab.lab.data import DASH, Data
from ipclab.lab.table import Table, tabulated
from ipclab.stats.quantity import Quantity, missing

METHODS = Verdicts._fields
WORDS, METHOD_NAMES, NEEDS, REASONS = (labels.SAID[name] for name in ("verdicts", "methods", "needs", "reasons"))
FILES = {"massive": "massive", "large": "exp-large"}  # what claims need so many files of, and the set


@dataclass(frozen=True, repr=False)
class Audit(Data):
    """A run's data, and the claims that are judged on them: the texts', and a person's `own`."""

    own: File | None = None
    table = tabulated

    def claims(self, study: str = "") -> pd.DataFrame:
        """Return one row for each claim of the study's text (of all texts, or your `own`) with its three verdicts.

        Columns: id, title, study, seed, section, language, quote, meaning, rule, bounds, unit; for each method, `own`
        (on the text's own table), `here` (on this run, as published) and `fair`: the verdict (holds, fails, undecided,
        not testable here), what decides it as `here_value`, `here_low`, `here_high`, or `here_reason`, and all of that
        in words (`here_told`); whether the fair method is another (`fairly`), and the rule's bounds `low` and `high`.

        >>> lab.claims("payload").query("here == 'fails'")
        """
        files = texts(self.paths) | ({OWN: self.own} if self.own else {})
        if study and study not in (*files, OWN):
            raise UsageError(f"no text about {study!r} makes claims", "", f"there are {', '.join(files)} and {OWN}")
        asked = [file for name, file in files.items() if name == study or not (study or name == OWN)]
        return pd.DataFrame([self._claim(file, claim) for file in asked for claim in file.claims])

    def _claim(self, file: File, claim: Claim) -> dict[str, Any]:
        rule = claim.rule
        row: dict[str, Any] = {
            "title": self._title(file),
            "study": file.study or OWN,
            "seed": file.seed,
            "quote": claim.text,
        }
        row |= {name: getattr(claim, name) for name in ("id", "section", "language")}
        row |= {"meaning": self._words(file, claim), "rule": rule.text, "bounds": self._bounds(rule)}
        row |= {name: getattr(rule, name) for name in ("unit", "low", "high")}
        for method, found in zip(METHODS, judge_all(claim, *self._sources), strict=True):
            decides, own = found.deciding, method == "own"
            reason = "" if decides else self._reason(claim, found, own)
            told = (found.word, reason, self._told(found, reason, rule, claim.from_code and own))
            row |= dict(zip((method, f"{method}_reason", f"{method}_told"), told, strict=True))
            ends = (decides.value, *decides.ends) if decides else (None, None, None)
            row |= dict(zip((f"{method}_value", f"{method}_low", f"{method}_high"), ends, strict=True))
        return row | {"fairly": claim.fair is not None, "adds": self.say(claim.adds)}

    def claims_table(self, study: str, name: str = "") -> Table:
        """Return the claims of the study's text (or your `own`) as a table: words, rule, verdicts, what decides."""
        names = ["id", "meaning", "section", "bounds", "own_told", "here_told", "fair_told", "fairly", "adds"]
        found = self.claims(study).reindex(columns=names).astype({"fairly": bool})
        says = N_("{words} ({section})")
        places = zip(found.meaning, found.section, strict=True)
        words = [self.say(says, words=meaning, section=section or DASH) for meaning, section in places]
        fairly = found.fair_told.where(found.fairly, self.say(N_("as published")))
        heads = [N_("No."), N_("Claim (section)"), N_("Rule"), *METHOD_NAMES.values()]
        columns = (found.id, words, found.bounds, found.own_told, found.here_told, fairly)
        frame = pd.DataFrame(dict(zip(map(self.say, heads), columns, strict=True)))
        notes = [self.say(N_("A verdict is undecided when the interval contains the rule's bound."))]
        how, added = N_("The fair method of {claims}: {adds}."), found[found.fairly & (found.adds != "")]
        ids = added.groupby("adds", sort=False).id.agg(self.joined)
        notes += [self.say(how, claims=claims, adds=adds) for adds, claims in ids.items()]
        caption = self.say(N_("Your own claims, judged") if study == OWN else N_("The text's claims, judged"))
        if study != OWN:
            text = self._title(texts(self.paths)[study])
            caption = self.say(N_("{caption}: {text}"), caption=caption, text=text)
            source = N_("Sections and the text's own numbers: {text}. All other numbers: this run.")
            notes.append(self.say(source, text=text))
        return self.table(frame, caption, notes=notes, name=name or f"{study.replace('_', '-')}-claims")

    def corrections(self) -> pd.DataFrame:
        """Return sentences to put in place of claims, from the text's own table (`own`) and from this run (`here`)."""
        text, run = self._sources
        rows = []
        for file in texts(self.paths).values():
            stated = {claim.id: claim for claim in file.claims}
            for each in file.corrections:
                quotes = dict.fromkeys([*(stated[name].text for name in each.claims), each.quote])
                told = " ".join(f"“{quote}”" for quote in quotes if quote)
                own, here = (each.own, each.own_values, text), (each.here, each.here_values, run)
                rows.append((self.joined(each.claims) or each.source, told, *starmap(self._corrected, (own, here))))
        return pd.DataFrame(rows, columns=["claims", "stated", "own", "here"])

    def compute(self, expression: str, study: str = "") -> Quantity:
        """Return what an expression in the language of rules gives (docs/claims.md); `study` lends its text's names.

        >>> lab.compute("max(payload.handover[arm=handover,backend=*,placement=cross,size_bytes=84]) / 1 us")
        """
        try:
            return _value(read_sum(expression, texts(self.paths)[study].names if study else {}), self._sources[1])
        except MissingError:
            return missing()
        except RuleError as error:
            raise UsageError(f"the expression {expression!r}", error.why, error.fix) from error

    def with_own(self, file: str) -> Self:
        """Return this with a person's own claims; raises `UsageError` with the line for what cannot be judged."""
        lines = Lines.read(Path(file))
        found = lines.told()
        lines.check(found, self._sources[1])
        for number, claim in enumerate(found.claims):
            for lang, text in ((claim.language, claim.text), *claim.translations.items()):
                place = lines.place(number, "text" if text == claim.text else "translations")
                if lang not in LANGUAGES:
                    raise UsageError(place, f"no language {lang!r}", f"there are {', '.join(LANGUAGES)}")
                try:
                    self._filled(text, claim)
                except LabError as error:
                    raise UsageError(place, str(error)) from error
        return replace(self, own=found)

    def _filled(self, text: str, claim: Claim) -> str:
        return prose.fill_plain(text, lambda name: self.lookup(name, claim.figures), self.numbers)

    def _words(self, file: File, claim: Claim) -> str:
        """Return what is judged, in the words of the reader, after the quotation where it is in their language."""
        if file.seed == OWN:
            return self._filled({**claim.translations, claim.language: claim.text}.get(self.lang, claim.text), claim)
        meaning = self.say(claim.meaning, **claim.figures)
        return f"“{claim.text}”\u2002{meaning}" if self.lang == claim.language != "en" else meaning

    def _title(self, file: File) -> str:
        return self.say(file.title, seed=file.seed) if file.title else file.seed

    def _bounds(self, rule: Rule) -> str:
        """Return the rule's bounds as a reader writes them."""
        known = [end for end in dict.fromkeys((rule.low, rule.high)) if abs(end) < inf]
        whole = rule.unit == "share" and all(abs(100 * end - round(100 * end)) < SLACK for end in known)
        ends = [self.numbers.format(Quantity(end, rule.unit), "pct,int" if whole else "") for end in known]
        if len(ends) > 1:
            return self.say(N_("{low} to {high}"), low=ends[0], high=ends[1])
        sign = "=" if rule.low == rule.high else ("≥>" if rule.high == inf else "≤<")[rule.open]
        return f"{sign} {ends[0]}"

    def _told(self, found: Verdict, reason: str, rule: Rule, code: bool) -> str:
        """Return a verdict in words: with the quantity that decides it, or with why there is none."""
        word = self.say(WORDS[found.word])
        if found.deciding is None:
            return self.say(N_("{word} ({reason})"), word=word, reason=reason)
        value = self._decided(found.deciding, (rule.low, rule.high))
        said = N_("{word}: {value} (its code)") if code else N_("{word}: {value}")
        return self.say(said, word=word, value=value)

    def _decided(self, found: Quantity, bounds: tuple[float, float]) -> str:
        """Return what decides with its interval, in as many digits as keep an end apart from a bound beside it."""
        if found.ends == (found.value,) * 2:
            return self.numbers.format(found)
        shown = {
            end: self.numbers.format(replace(found, low=end, high=end), "interval") for end in (*found.ends, *bounds)
        }
        near = any(end != bound and shown[end] == shown[bound] for end in found.ends for bound in bounds)
        return self.numbers.format(found, "interval,fine" if near else "interval")

    def _reason(self, claim: Claim, found: Verdict, own: bool) -> str:
        """Return why a claim cannot be tested."""
        if own or claim.untestable:
            return self.say((claim.unstated if own else claim.untestable) or REASONS["unsaid"])
        if found.need:
            here = Quantity(self._known.get(found.need), "count")
            told = NEEDS.get(found.need, REASONS["unmeasured"])
            return self.say(told, least=claim.needs[found.need], here=here, fact=found.need)
        address = Address.read(found.missing)
        if address and derived.read(self.run, address.study, "points").empty:
            return self.say(REASONS["unrun"], study=address.study)
        return self.say(REASONS["unmeasured"])

    @cached_property
    def _sources(self) -> tuple[Source, Source]:
        """Where rules look up values: the texts' tables, and the run's frames."""
        table = partial(worded, self.paths)
        run = Source(lambda study: derived.read(self.run, study, "points"), table, self._known, judged=self.judged)
        return Source(table, table, loose=True), run

    @cached_property
    def _known(self) -> dict[str, float]:
        """What rules know of the run: its CPUs, and the files of its sets."""
        notes: Mapping[str, Any] = self.run.about["notes"].get("file_io", {})
        cpus = notes.get("cores") or self.run.about["machine"].get("facts", {}).get("cores")
        counts = {name: each.get("count") for name, each in notes.get("sets", {}).items()}
        found = {"cpus": cpus} | {f"{name}_files": counts.get(of) for name, of in FILES.items()}
        return {name: float(value) for name, value in found.items() if value}

    def _corrected(self, msgid: str, values: Mapping[str, Term], source: Source) -> str:
        """Return a corrected sentence with its numbers; a dash where one of them is not there."""
        asked = {name for name, _ in prose.placeholders(msgid)}
        try:
            found = {name: _value(term, source) for name, term in values.items() if name in asked}
        except MissingError:
            return DASH
        return self.say(msgid, **found) if msgid else DASH


def _value(term: Term, source: Source) -> Quantity:
    found = term(source)
    value, *more = found.shown(SHOWN.get(found.dimension, "1"))
    if more:
        what = f"an expression gives {1 + len(more)} values"
        raise LabError(what, "one is asked for", "take min(...) or max(...) of them")
    return value
