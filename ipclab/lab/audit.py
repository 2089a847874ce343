"""The audit in a reader's words: the texts' claims and a person's own, judged, what texts derive, and corrections."""

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ipclab.errors import LabError, UsageError
from ipclab.frames import derived as frames
from ipclab.frames.address import Address, MissingError
from ipclab.frames.claim_file import File, check, read
from ipclab.frames.claims import OWN, SLACK, Claim, Verdict, Verdicts, judge_all
from ipclab.frames.expression import SHOWN, RuleError, Source, Term
from ipclab.frames.published import recompute, texts, worded
from ipclab.frames.rule import read_sum
from ipclab.lab import labels, prose
from ipclab.lab.catalogue import LANGUAGES, N_
from ipclab.lab.table import Table
from ipclab.paths import Paths
from ipclab.stats.quantity import Quantity, missing
from ipclab.store.run import read as read_run

if TYPE_CHECKING:
    from ipclab.lab.lab import Lab

NAMES = ("id", "title", "study", "seed", "section", "language", "quote", "meaning", "rule", "bounds", "unit")
METHODS = Verdicts._fields
WORDS, METHOD_NAMES, NEEDS = (labels.SAID[name] for name in ("verdicts", "methods", "needs"))
UNSAID = N_("the text does not give it")
NO_TABLE_MSGID = N_("the file gives no table for it")
UNMEASURED = N_("not measured in this run: {fact}")
UNRUN = N_("the study {study} is not in this run")
PRINTED_UNITS = {"x": "×", "us": "µs"}
BINARY = ("KiB", "MiB", "GiB")


def own_claims(lab: "Lab", file: str) -> File:
    """Return a person's own claims; raises `UsageError` with the line for what cannot be judged or printed."""
    found = read(Path(file))
    check(found.claims, _sources(lab)[1])
    for claim in found.claims:
        for lang, text in ((claim.language, claim.text), *claim.translations.items()):
            place = claim.where("text" if text == claim.text else "translations")
            if lang not in LANGUAGES:
                raise UsageError(place, f"no language {lang!r}", f"there are {', '.join(LANGUAGES)}")
            try:
                prose.fill_plain(text, lambda name, claim=claim: lab.lookup(name, claim.figures), lab.numbers)  # type: ignore[misc]
            except LabError as error:
                raise UsageError(place, str(error)) from error
    return found


def claims(lab: "Lab", study: str = "") -> pd.DataFrame:
    """Return one row for each claim: what `Lab.claims` says."""
    rows = []
    for file, claim, verdicts in _judged(lab, study):
        rule = claim.rule.text
        head = (
            claim.id,
            title(lab, file),
            file.study or OWN,
            claim.seed,
            claim.section,
            claim.language,
            claim.text,
            words(lab, claim),
        )
        row: dict[str, Any] = dict(zip(NAMES, (*head, rule, bounds(lab, claim), claim.rule.unit), strict=True))
        for method, found in zip(METHODS, verdicts, strict=True):
            quantity = found.deciding or Quantity(None, claim.rule.unit)
            low, high = quantity.ends if quantity else (None, None)
            row |= {method: found.word, f"{method}_value": quantity.value, f"{method}_low": low, f"{method}_high": high}
            row |= {f"{method}_reason": "" if found.deciding else reason(lab, claim, found, method == "own")}
        rows.append(row | {"fairly": claim.fair is not None, "low": claim.rule.low, "high": claim.rule.high})
    return pd.DataFrame(rows)


def claims_table(lab: "Lab", study: str, name: str = "") -> Table:
    """Return the claims of a study's text as a table: the words, the rule, and the verdicts with what decides them."""
    rows, fair = [], dict[str, list[str]]()
    for _, claim, verdicts in _judged(lab, study):
        says = lab.say(N_("{words} ({section})"), words=words(lab, claim), section=claim.section or "–")
        cells = [told(lab, claim, found, method == "own") for method, found in zip(METHODS, verdicts, strict=True)]
        if claim.fair is None:
            cells[2] = lab.say(N_("as published"))
        elif claim.adds:
            fair.setdefault(claim.adds, []).append(claim.id)
        rows.append([claim.id, says, bounds(lab, claim), *cells])
    heads = [N_("No."), N_("Claim (section)"), N_("Rule"), *METHOD_NAMES.values()]
    notes = [lab.say(N_("A verdict is undecided when the interval contains the rule's bound."))]
    notes += [
        lab.say(N_("The fair method of {claims}: {adds}."), claims=", ".join(i), adds=lab.say(a))
        for a, i in fair.items()
    ]
    caption = lab.say(N_("Your own claims, judged") if study == OWN else N_("The text's claims, judged"))
    if study != OWN:
        text = title(lab, texts(lab.paths)[study])
        caption = lab.say(N_("{caption}: {text}"), caption=caption, text=text)
        notes.append(
            lab.say(N_("Sections and the text's own numbers: {text}. All other numbers: this run."), text=text)
        )
    frame = pd.DataFrame(rows, columns=list(map(lab.say, heads)))
    return lab.table(frame, caption, notes=notes, name=name or f"{study.replace('_', '-')}-claims")


def derived(lab: "Lab") -> pd.DataFrame:
    """Return one row for each number that a text derives from others of its own: what `Lab.derived` says."""
    rows = []
    for study, file in texts(lab.paths).items():
        for each in recompute(file, partial(worded, lab.paths)):
            place = lab.say(N_("seed {seed}, {section}"), seed=file.seed, section=each.row.section)
            unit = PRINTED_UNITS.get(each.row.printed_unit, each.row.printed_unit)
            spec = (
                each.row.printed_unit if each.row.printed_unit in BINARY else "scaled" if each.row.unit == "B" else ""
            )
            computed = lab.numbers.format(each.computed, "x" if each.row.unit == "1" else spec)
            printed = f"{each.row.label}: {each.row.printed}\u00a0{unit}"
            row = {"study": study, "section": each.row.section, "metric": each.row.metric, "where": place}
            rows.append(
                row | {"printed": printed, "computed": computed, "follows": each.follows, "by": lab.say(each.by)}
            )
    return pd.DataFrame(rows)


def corrections(lab: "Lab") -> pd.DataFrame:
    """Return one row for each sentence that can stand in place of claims: what `Lab.corrections` says."""
    text, run = _sources(lab)
    rows = []
    for file in texts(lab.paths).values():
        stated = {claim.id: claim for claim in file.claims}
        for each in file.corrections:
            quotes = dict.fromkeys([*(stated[name].text for name in each.claims), each.quote])
            row = {"claims": ", ".join(each.claims) or each.source, "stated": " ".join(f"“{q}”" for q in quotes if q)}
            own = _sentence(lab, each.own, each.own_values, file.names, text)
            rows.append(row | {"own": own, "here": _sentence(lab, each.here, each.here_values, file.names, run)})
    return pd.DataFrame(rows)


def compute(lab: "Lab", expression: str, study: str = "") -> Quantity:
    """Return what an expression of the language of rules gives: what `Lab.compute` says."""
    try:
        term = read_sum(expression, texts(lab.paths)[study].names if study else {})
        return _value(term, _sources(lab)[1])
    except MissingError:
        return missing()
    except RuleError as error:
        raise UsageError(f"the expression {expression!r}", error.why, error.fix) from error


def words(lab: "Lab", claim: Claim) -> str:
    """Return the claim in the reader's words: quoted where the reader reads its language, else translated."""
    if claim.seed == OWN:
        text = {**claim.translations, claim.language: claim.text}.get(lab.lang, claim.text)
        return prose.fill_plain(text, lambda name: lab.lookup(name, claim.figures), lab.numbers)
    return f"“{claim.text}”" if lab.lang == claim.language != "en" else lab.say(claim.meaning, **claim.figures)


def title(lab: "Lab", file: File) -> str:
    """Return what a text is called."""
    return lab.say(file.title, seed=file.seed) if file.title else file.seed


def bounds(lab: "Lab", claim: Claim) -> str:
    """Return the rule's bounds as a reader writes them."""
    low, high, unit = claim.rule.low, claim.rule.high, claim.rule.unit
    whole = unit == "share" and all(abs(100 * end - round(100 * end)) < SLACK for end in (low, high) if abs(end) < inf)
    ends = [
        lab.numbers.format(Quantity(end, unit), "pct,int" if whole else "") if abs(end) < inf else ""
        for end in (low, high)
    ]
    if low == high:
        return f"= {ends[0]}"
    if high == inf:
        return f"{'>' if claim.rule.open else '≥'} {ends[0]}"
    if low == -inf:
        return f"{'<' if claim.rule.open else '≤'} {ends[1]}"
    return lab.say(N_("{low} to {high}"), low=ends[0], high=ends[1])


def told(lab: "Lab", claim: Claim, found: Verdict, own: bool) -> str:
    """Return a verdict in words: with the quantity that decides it, or with what is missing."""
    word = lab.say(WORDS[found.word])
    if found.deciding is None:
        return lab.say(N_("{word} ({reason})"), word=word, reason=reason(lab, claim, found, own))
    value = lab.numbers.format(found.deciding, "" if found.deciding.ends == (found.deciding.value,) * 2 else "interval")
    return lab.say(N_("{word}: {value}"), word=word, value=value)


def reason(lab: "Lab", claim: Claim, found: Verdict, own: bool) -> str:
    """Return why a claim cannot be tested, in the reader's words."""
    if own:
        return lab.say(claim.unstated or UNSAID)
    if found.need:
        here = Quantity(_known(lab).get(found.need), "count")
        return lab.say(NEEDS.get(found.need, UNMEASURED), least=claim.needs[found.need], here=here, fact=found.need)
    address = Address.read(found.missing)
    study = address.study if address else found.missing
    if address and frames.read(lab.run, study, "points").empty:
        return lab.say(UNRUN, study=study)
    return lab.say(UNMEASURED, fact=found.missing.replace(",", ", "))


def _judged(lab: "Lab", study: str) -> Iterator[tuple[File, Claim, Verdicts]]:
    """Yield the claims of a study's text, or of all texts, or a person's own (study `own`), with their verdicts."""
    files = texts(lab.paths)
    if study and study not in (*files, OWN):
        raise UsageError(f"no text about {study!r} makes claims", "", f"there are {', '.join(files)} and {OWN}")
    chosen = [lab.own] if study == OWN and lab.own else [files[study]] if study in files else list(files.values())
    text, run = _sources(lab)
    for file in chosen if study != OWN or lab.own else []:
        for claim in file.claims:
            yield file, claim, judge_all(claim, text, run)


def _sources(lab: "Lab") -> tuple[Source, Source]:
    """Return where rules look up values: the texts' tables, and the run's frames."""
    held = "".join(f"{name} {digest}\n" for name, digest in sorted(lab.run.about["files"].items()))
    return _found(lab.paths, lab.run.path, held, tuple(_known(lab).items()))


@lru_cache(maxsize=2)
def _found(paths: Paths, folder: Path, _held: str, known: tuple[tuple[str, float], ...]) -> tuple[Source, Source]:
    table, run = partial(worded, paths), read_run(folder)
    return Source(table, table, loose=True), Source(lambda study: frames.read(run, study, "points"), table, dict(known))


def _known(lab: "Lab") -> dict[str, float]:
    """Return what rules know of the run: its CPUs, and the files of its largest set."""
    notes: Mapping[str, Any] = lab.run.about["notes"].get("file_io", {})
    cpus = notes.get("cores") or lab.run.about["machine"].get("facts", {}).get("cores")
    files = notes.get("sets", {}).get("massive", {}).get("count")
    return {name: float(value) for name, value in (("cpus", cpus), ("massive_files", files)) if value}


def _sentence(lab: "Lab", msgid: str, values: Mapping[str, str], names: Mapping[str, str], source: Source) -> str:
    """Return a corrected sentence with its numbers; a dash where one of them is not there."""
    asked = {name for name, _ in prose.placeholders(msgid)}
    try:
        found = {name: _value(read_sum(text, names), source) for name, text in values.items() if name in asked}
    except MissingError:
        return "–"
    return lab.say(msgid, **found) if msgid else "–"


def _value(term: Term, source: Source) -> Quantity:
    found = term(source)
    values = found.shown(SHOWN.get(found.dimension, "1"))
    if len(values) > 1:
        raise LabError(
            f"an expression gives {len(values)} values", "one is asked for", "take min(...) or max(...) of them"
        )
    return values[0]
