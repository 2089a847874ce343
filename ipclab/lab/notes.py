"""What a notebook says: findings, texts with values, advice, and what is open, shown as data."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from numbers import Real
from typing import Any

import pandas as pd

from ipclab.lab import shell
from ipclab.lab.finding import MISSING, Finding, bundle, not_measured
from ipclab.lab.kinds import Kinds
from ipclab.stats.quantity import Quantity, of
from ipclab.words import output
from ipclab.words.amounts import as_data
from ipclab.words.numbers import plain_value
from ipclab.words.words import NOT_MEASURED


@dataclass(frozen=True, repr=False)
class Notes(Kinds):
    """A lab that shows what was found, and knows how much of it is open."""

    _noted: list[Finding] = field(default_factory=list, repr=False, compare=False)

    def finding(self, *found: Finding | pd.DataFrame, lead: bool = False, see: str = "") -> None:
        """Show findings as one paragraph; a frame of one row is its value.

        What was not measured is not shown. A `lead` stands on the first page, if all of it is
        decided and no number of it lacks its interval; `see` names the figure or table that it is
        of. Directly below a figure, in its cell, a finding is the figure's caption.

        >>> lab.finding(lab.effect(across, at_one), lead=True, see="ranking")
        """
        every = [self._single(one) if isinstance(one, pd.DataFrame) else one for one in found]
        self._noted.extend(every)
        told = [one for one in every if one.verdict != MISSING]
        lead = lead and all(one.heads for one in told)
        self._show_findings("finding", told, lead=lead, see=see)

    def text(self, text: str, *, lead: bool = False, **values: Any) -> None:
        """Show Markdown (a msgid) with `{values}`: quantities, numbers, words, levels, lists.

        It is translated as a whole. With a value that was not measured it is not shown.

        >>> lab.text("The lead shrinks to {gain:x,interval}.", gain=gain)
        """
        made = text_finding(text, values)
        if made.verdict == MISSING:
            self._show_absent()
        else:
            self._show("text", {**made.values, "lead": lead and made.heads})

    def count(self, k: int, n: int | None, some: str, none: str = "", **values: Any) -> Finding:
        """Return that `k` of `n` are so: `some` (a msgid with {k} and {n}), `none` where k is 0.

        >>> lab.count(lost, len(full), "{k} of {n} mechanisms lost messages.")
        """
        if not n:
            return not_measured("text")
        return text_finding(some if k or not none else none, {"k": k, "n": n, **values})

    def share(self, parts: Quantity | Mapping[str, Quantity], text: str, **values: Any) -> Finding:
        """Return what part something takes: `text` is a msgid with {share}, or {least} and {most}.

        `parts` are shares, by name of what each is of: {least_name}, {most_name}, {n}.

        >>> lab.share(decoding, "Decoding takes {least} ({least_name}) to {most} ({most_name}).")
        """
        by_name = parts if isinstance(parts, Mapping) else {"": parts}
        cells = [(name, of(cell).as_unit("share")) for name, cell in by_name.items() if cell]
        if not cells:
            return not_measured("text")
        cells.sort(key=lambda each: float(each[1].value))
        (least_name, least), (most_name, most) = cells[0], cells[-1]
        told = {"n": len(cells), "share": least, "least": least, "most": most, **values}
        if isinstance(parts, Mapping):
            told |= {"least_name": least_name, "most_name": most_name}
        return text_finding(text, told)

    def advice(self, found: Sequence[Finding], title: str, name: str) -> None:
        """Show a table of what to take: of each decided finding its topic, who is best, and why.

        `title` is a msgid. Findings that are open or were not measured give no advice, nor does a
        value that nothing else was measured beside.

        >>> lab.advice([lab.fastest(asleep), lab.fastest(across)], "What to take", "trip-advice")
        """
        self._noted.extend(found)
        told = [one for one in found if one.decided and one.sides]
        self._show_findings("advice", told, title=title, name=name)

    def open_questions(self) -> None:
        """Show how many of the findings so far are open, by reason, and what would decide them."""
        every = list({repr(one): one for one in self._noted}.values())
        if every:
            self._show_findings("open", every)

    def _show_findings(self, kind: str, told: Sequence[Finding], **more: Any) -> None:
        if told:
            self._show(kind, {"findings": [asdict(one) for one in told], **more})
        else:
            self._show_absent()

    def _show_absent(self) -> None:
        """Say in the notebook that nothing was measured of it; a report leaves it out."""
        if shell.current() is not None:
            data = output.data(output.ABSENT, self.in_each(NOT_MEASURED))
            shell.display({output.MIME: data, "text/plain": self.say(NOT_MEASURED)})

    def _show(self, kind: str, data: Mapping[str, Any]) -> None:
        """Show data in the notebook that calls; elsewhere print what it says."""
        made = bundle(kind, data, self.words.lang)
        said = made["text/markdown"]
        if shell.current() is None:
            print(said)
        else:
            shell.display(made | {"text/markdown": shell.jupyters(said)})


def text_finding(text: str, values: Mapping[str, Any]) -> Finding:
    """Return a text with those values that it names as a finding; `not_measured` where one of them is."""
    made = {name: _as_data(value) for name, value in values.items() if f"{{{name}" in text}
    if any(value is None for value in made.values()):
        return not_measured("text")
    return Finding("text", "told", values={"text": text, "values": made})


def _as_data(value: Any) -> Any:
    """Return a value of a text as JSON can hold it; None where it was not measured."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, list | tuple | set):
        return [_as_data(each) for each in value]
    if isinstance(value, Mapping):
        return dict(value)
    known = plain_value(value)
    if isinstance(known, str) or not known:
        return known or None
    return as_data(known) if isinstance(known.value, Real) else str(known.value)
