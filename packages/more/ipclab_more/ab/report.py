"""An answer as one line, Markdown, JUnit XML and Bencher Metric Format."""

from dataclasses import dataclass
from statistics import median
from xml.etree import ElementTree as Xml

from ipclab.errors import plain
from ipclab.stats.compare import SLOWER, UNDECIDED, Comparison
from ipclab.stats.intervals import Estimate, statistic_estimate
from ipclab.store.files import dump_json
from ipclab_more.ab.trial import AGAIN, LIMITS, A, B, TrialAnswer

NAMES = {AGAIN: "A again over A", LIMITS: "limits, second half over first"}
QUANTITIES = {"ns": "time", "": "number", "1/": "inverse of the number"}
MEASURES = {"ns": "latency", "": "number", "1/": "inverse"}


@dataclass(frozen=True)
class TrialReport:
    """An answer with the labels of its arms and the `unit` of their numbers.

    The unit is ns, none, or 1/ for inverse ones.
    """

    answer: TrialAnswer
    first: str
    second: str
    unit: str

    @property
    def reason(self) -> str:
        """Return why nothing was decided, printable: it may hold the last words of a command."""
        return plain(self.answer.reason)

    @property
    def over(self) -> str:
        """Return which arm is over which."""
        return f"{self.second} over {self.first}"

    def shown(self) -> str:
        """Return what was shown: verdict, reason, ratio."""
        why = f" ({self.reason})" if self.reason else ""
        ends = _ratio(self.answer.compared)
        return f"{self.answer.verdict}{why}: {QUANTITIES[self.unit]} of {self.over} {ends}"

    def measured(self) -> str:
        """Return how much was measured."""
        answer = self.answer
        return f"{len(answer.rounds)} rounds in {answer.seconds:.0f} s, bound {answer.bound:.1%}"

    def controls(self) -> list[str]:
        """Return what each negative control gave."""
        controls = self.answer.controls
        shown = [f"{NAMES[name]} {_ratio(control)}" for name, control in controls.items()]
        if LIMITS not in controls:
            shown.append("limits not measured")
        return sorted(shown)

    def line(self) -> str:
        """Return all of it in one line."""
        return "; ".join([self.shown(), self.measured(), *self.controls()])

    def markdown(self) -> str:
        """Return a heading and a table, as a pull request shows them."""
        unit = f", {self.unit}" if self.unit == "ns" else ""
        lines = [f"### {self.answer.verdict}", ""]
        if self.reason:
            lines += [self.reason, ""]
        lines += [f"B over A: {_ratio(self.answer.compared)}. {self.measured()}.", ""]
        lines += [f"| | | {QUANTITIES[self.unit]}{unit} |", "|---|---|---|"]
        for arm, label in ((A, self.first), (B, self.second), (AGAIN, self.first)):
            cell = label.replace("`", "'").replace("|", "\\|")
            middle = self._median(arm)
            shown = "not measured"
            if middle:
                shown = f"{middle.value:,.4g} ({middle.low:,.4g} to {middle.high:,.4g})"
            lines.append(f"| {arm} | `{cell}` | {shown} |")
        return "\n".join([*lines, "", *(f"* {control}" for control in self.controls())])

    def junit(self) -> str:
        """Return a test suite of one case: a failure when slower, skipped when undecided."""
        kind = {SLOWER: "failure", UNDECIDED: "skipped"}.get(self.answer.verdict)
        counts = {"tests": "1", "failures": f"{kind == 'failure':d}", "errors": "0"}
        counts |= {"skipped": f"{kind == 'skipped':d}", "time": f"{self.answer.seconds:.3f}"}
        top = Xml.Element("testsuites", counts)
        suite = Xml.SubElement(top, "testsuite", {"name": "ipclab ab", **counts})
        named = {"classname": "ipclab.ab", "name": self.over, "time": counts["time"]}
        case = Xml.SubElement(suite, "testcase", named)
        if kind:
            Xml.SubElement(case, kind, {"message": self.shown()})
        Xml.SubElement(case, "system-out").text = self.line()
        Xml.indent(top)
        return Xml.tostring(top, "unicode", xml_declaration=True)

    def bmf(self) -> str:
        """Return both medians and the ratio of the numbers (https://bencher.dev/bmf.json)."""
        metrics = {}
        alike = self.first == self.second
        for arm, label in ((A, self.first), (B, self.second)):
            if middle := self._median(arm):
                name = f"{arm}: {label}" if alike else label
                metrics[name] = {MEASURES[self.unit]: _metric(middle.value, middle)}
        compared = self.answer.compared
        if compared.ratio is not None:
            metrics[self.over] = {"ratio": _metric(compared.ratio, compared)}
        return dump_json(metrics).decode().rstrip()

    def _median(self, arm: str) -> Estimate | None:
        values = [median(measured[arm]) for measured in self.answer.rounds]
        return statistic_estimate(values, len(values)) if values else None


def _ratio(compared: Comparison) -> str:
    """Return the ratio of a comparison with its interval, where it has one."""
    if compared.ratio is None:
        return "not measured"
    text = f"{compared.ratio:.3f}"
    if compared.low and compared.high:
        text += f" ({compared.low:.3f} to {compared.high:.3f})"
    return text


def _metric(value: float, ends: Estimate | Comparison) -> dict[str, float]:
    every = {"value": value, "lower_value": ends.low, "upper_value": ends.high}
    return {name: end for name, end in every.items() if end is not None}
