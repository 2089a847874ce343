"""An answer as one line, Markdown, JUnit XML and Bencher Metric Format."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as Xml

from ipclab.ab.arms import printable
from ipclab.ab.trial import AGAIN, ARMS, LIMITS, A, Answer, B
from ipclab.stats.compare import SLOWER, UNDECIDED, Comparison
from ipclab.stats.intervals import Estimate, statistic_estimate
from ipclab.store.files import dump_json

NAMES = {AGAIN: "A again over A", LIMITS: "limits, second half over first"}
QUANTITIES = {"ns": "time", "": "number", "1/": "inverse of the number"}
MEASURES = {"ns": "latency", "": "number", "1/": "inverse"}


@dataclass(frozen=True)
class Told:
    """An answer with the `labels` of its arms and the `unit` of their numbers (ns, none, or 1/ for inverse ones)."""

    answer: Answer
    labels: Mapping[str, str]
    unit: str

    @property
    def reason(self) -> str:
        """Return why nothing was decided, printable: it may hold the last words of a command."""
        return printable(self.answer.reason)

    def shown(self) -> str:
        """Return what was shown: verdict, reason, ratio."""
        why = f" ({self.reason})" if self.reason else ""
        what = f"{QUANTITIES[self.unit]} of {self.labels[B]} over {self.labels[A]}"
        return f"{self.answer.verdict}{why}: {what} {ratio(self.answer.found)}"

    def effort(self) -> str:
        """Return how much was measured."""
        return f"{self.answer.taken.rounds} rounds in {self.answer.seconds:.0f} s, bound {self.answer.bound:.1%}"

    def controls(self) -> dict[str, str]:
        """Return what each negative control gave."""
        found = {NAMES[name]: ratio(each) for name, each in self.answer.controls.items()}
        return found if LIMITS in self.answer.controls else {**found, "limits": "not measured"}

    def line(self) -> str:
        """Return all of it in one line."""
        return "; ".join([self.shown(), self.effort(), *(f"{name} {value}" for name, value in self.controls().items())])

    def markdown(self) -> str:
        """Return a heading and a table, as a pull request shows them."""
        medians = {arm: self._estimate(arm) for arm in ARMS}
        rows = [f"| {arm} | {_cell(self.labels[arm])} | {each} |" for arm, each in medians.items()]
        head = f"| | | {QUANTITIES[self.unit]}{f', {self.unit}' if self.unit == 'ns' else ''} |"
        checks = [f"* {name}: {value}" for name, value in self.controls().items()]
        told = f"B over A: {ratio(self.answer.found)}. {self.effort()}."
        why = [self.reason, ""] if self.reason else []
        return "\n".join(
            [f"### {self.answer.verdict}", "", *why, told, "", head, "|---|---|---|", *rows, "", *checks, ""]
        )

    def junit(self) -> str:
        """Return a test suite of one case: a failure when slower, skipped when undecided."""
        failed, skipped = (int(self.answer.verdict == verdict) for verdict in (SLOWER, UNDECIDED))
        counts = {"tests": "1", "failures": str(failed), "errors": "0", "skipped": str(skipped)}
        seconds = {"time": f"{self.answer.seconds:.3f}"}
        top = Xml.Element("testsuites", counts | seconds)
        suite = Xml.SubElement(top, "testsuite", {"name": "ipclab ab", **counts, **seconds})
        name = f"{self.labels[B]} over {self.labels[A]}"
        case = Xml.SubElement(suite, "testcase", {"classname": "ipclab.ab", "name": name, **seconds})
        if failed or skipped:
            Xml.SubElement(case, "failure" if failed else "skipped", {"message": self.shown()})
        Xml.SubElement(case, "system-out").text = self.line()
        Xml.indent(top)
        return Xml.tostring(top, "unicode", xml_declaration=True) + "\n"

    def bmf(self) -> str:
        """Return the medians of both arms and the ratio of their numbers (https://bencher.dev/bmf.json)."""
        found: dict[str, dict[str, Any]] = {}
        for arm in (A, B):
            if each := self._median(arm):
                name = self.labels[arm] if self.labels[A] != self.labels[B] else f"{arm}: {self.labels[arm]}"
                found[name] = {MEASURES[self.unit]: _metric(each.value, each.low, each.high)}
        ends = self.answer.found
        if ends.ratio is not None:
            found[f"{self.labels[B]} over {self.labels[A]}"] = {"ratio": _metric(ends.ratio, ends.low, ends.high)}
        return dump_json(found).decode()

    def _median(self, arm: str) -> Estimate | None:
        values = self.answer.taken.values[arm]
        return statistic_estimate(values, len(values)) if values else None

    def _estimate(self, arm: str) -> str:
        each = self._median(arm)
        return f"{each.value:,.4g} ({each.low:,.4g} to {each.high:,.4g})" if each else "not measured"


WRITERS: Mapping[str, Callable[[Told], str]] = {
    "line": lambda told: told.line() + "\n",
    "markdown": Told.markdown,
    "junit": Told.junit,
    "bmf": Told.bmf,
}


def ratio(found: Comparison) -> str:
    """Return a ratio with its interval."""
    if found.ratio is None:
        return "not measured"
    ends = f" ({found.low:.3f} to {found.high:.3f})" if found.low and found.high else ""
    return f"{found.ratio:.3f}{ends}"


def _metric(value: float, low: float | None, high: float | None) -> dict[str, float]:
    every = {"value": value, "lower_value": low, "upper_value": high}
    return {name: number for name, number in every.items() if number is not None}


def _cell(text: str) -> str:
    return "`" + text.replace("`", "'").replace("|", "\\|") + "`"
