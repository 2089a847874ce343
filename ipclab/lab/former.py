"""Names that notebooks used before; this file goes when no notebook uses one of them."""

from typing import Any

from ipclab.frames import derived, judged
from ipclab.lab import about, advice, audit, data, limits, prose, table, trust
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity


class Former:
    """Methods of the lab that are functions now."""

    calibration_table, notice = about.calibration_table, about.notice
    trust, advice, advice_notes = trust.trusted, advice.guesses, advice.GUESS_NOTES
    limited, beaten, impossible, listed = (
        limits.limited,
        limits.beaten,
        limits.impossible,
        table.listed,
    )
    claims_table, with_own = audit.claims_table, audit.with_own
    run: Any
    words: Any
    paths: Any
    _names: Any

    def about(self, what: str) -> Any:  # noqa: D102
        return getattr(about, f"about_{what}")(self)

    def ratio(self, over: Any, under: Any) -> Any:  # noqa: D102
        return over / under

    def judged(self, value: Any) -> Any:  # noqa: D102
        return judged.judged(self.run, value)

    def translate(self, msgid: str) -> str:  # noqa: D102
        return str(self.words.translate(msgid))

    def label(self, name: str) -> str:  # noqa: D102
        return str(self.words.label(name))

    def joined(self, words: Any, by: str = ", ") -> str:  # noqa: D102
        return str(self.words.joined(words, by))

    def tell(self: Any, text: str) -> str:  # noqa: D102
        asked = [
            self._lookup(name)
            for name, _ in prose.placeholders(self.words.translate(text))
        ]
        return str(self.say(text)) if all(asked) else ""

    @property
    def lang(self) -> str:  # noqa: D102
        return str(self.words.lang)

    @property
    def numbers(self) -> Any:  # noqa: D102
        return self.words.numbers

    @property
    def studies(self) -> list[str]:  # noqa: D102
        return derived.measured(self.run)

    @property
    def bound(self) -> Any:  # noqa: D102
        return Quantity(derived.bound(self.run), "share", kind="computed")

    def choose(  # noqa: D102
        self: Any,
        value: Any,
        bound: float,
        *,
        above: str,
        below: str,
        undecided: str,
        missing: str = data.ABSENT,
        told: str = "",
    ) -> str:
        alternatives = {judge.ABOVE: above, judge.BELOW: below}
        alternatives |= {judge.UNDECIDED: undecided, judge.NOT_TESTED: data.FEW}
        sentence = alternatives.get(judge.side(self.judged(value), bound))
        parts = (told, sentence) if sentence else (missing,)
        return " ".join(self.say(part) for part in parts if part)
