"""The picture of the audit: every claim's value over its rule's bound, by three methods, at a glance."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import inf, log, sqrt
from typing import Any

from matplotlib.figure import Figure as Canvas

from ipclab.claims.claim import (
    FAILS,
    HOLDS,
    NOT_TESTABLE,
    UNDECIDED,
    Claim,
    Facts,
    Quantity,
    Verdict,
    judge_all,
)
from ipclab.claims.published import texts
from ipclab.claims.registry import NAMES, TEXTS
from ipclab.figures import marks, style
from ipclab.paths import checkout
from ipclab.report.catalogue import N_
from ipclab.tables.claims import METHOD_NAMES, WORDS
from ipclab.view import View

# (marker, colour) of each verdict, and (size, fill, edge) of each method; methods also stand below each other.
VERDICT_LOOKS = {
    HOLDS: ("o", style.GREEN),
    FAILS: ("X", style.RED),
    UNDECIDED: ("^", style.BLUE),
    NOT_TESTABLE: ("_", style.GREY),
}
METHOD_LOOKS = ((4.0, False, None), (4.0, True, None), (5.5, True, style.BLACK))
SHIFTS = (-0.28, 0.0, 0.28)
OWN_INCHES, ROW_INCHES = 1.4, 0.4
LEAST, MOST = 1 / 30, 30.0  # the axis: what lies beyond stands at its end
Group = tuple[str, Sequence[Claim]]


def glance(view: View, canvas: Canvas) -> None:
    """Draw: which published claims hold, on their own tables and here?"""
    groups = [(view.say(NAMES[seed], seed=seed), stated) for seed, (_, stated) in TEXTS.items()]
    text = texts(checkout())
    panels = canvas.subplots(1, 2)
    for axes, side in zip(panels, _halves(groups), strict=True):
        _panel(view, axes, side, text)
    _legend(view, canvas)


def own(view: View, canvas: Canvas) -> None:
    """Draw: which of a person's own claims hold? The figure is as high as there are claims."""
    canvas.set_figheight(OWN_INCHES + ROW_INCHES * len(view.claims))
    _panel(view, canvas.subplots(), [("", view.claims)], {})
    _legend(view, canvas)


def _halves(groups: Sequence[Group]) -> tuple[list[Group], list[Group]]:
    """Return the groups in two columns of about equal length, in order within each."""
    lengths = [len(stated) + 1 for _, stated in groups]
    half = sum(lengths) / 2
    sides = list(product((True, False), repeat=max(0, len(groups) - 1)))
    best = min(
        sides, key=lambda side: abs(half - sum(n for n, left in zip(lengths, (True, *side), strict=True) if left))
    )
    left = [group for group, here in zip(groups, (True, *best), strict=True) if here]
    return left, [group for group in groups if group not in left]


def _panel(view: View, axes: Any, groups: Sequence[Group], text: Facts) -> None:
    names: dict[float, str] = {}
    place = 0.0
    for name, stated in groups:
        if name:
            axes.text(LEAST, place, name, fontsize=7, va="center", ha="left")
            place += 1
        for claim in stated:
            names[place] = claim.id
            _claim(view, axes, claim, place, text)
            place += 1
    axes.axvline(1.0, color=style.BLACK, linewidth=0.8)
    axes.set(xscale="log", xlim=(LEAST / 1.25, MOST * 1.25), ylim=(max(1.0, place) - 0.4, -0.7))
    axes.set_yticks(list(names), list(names.values()), fontsize=7)
    axes.set_xlabel(view.say(N_("value over the rule's bound")), fontsize=8)
    axes.tick_params(axis="x", labelsize=7)
    marks.plain_log(axes.xaxis, view, "1")
    axes.xaxis.set_major_formatter(lambda value, _: f"{view.numbers.number(float(value), int(value < 1))}×")
    axes.grid(axis="y", visible=False)


def _claim(view: View, axes: Any, claim: Claim, place: float, text: Facts) -> None:
    low, high = (_clipped(end, claim) for end in claim.bounds)
    axes.barh(place, high - low, left=low, height=0.86, color="#e9efe9", edgecolor="none", zorder=0)
    for verdict, shift, look in zip(judge_all(claim, text, view.facts), SHIFTS, METHOD_LOOKS, strict=True):
        if shift == SHIFTS[-1] and claim.fair is None:
            continue
        _mark(axes, claim, verdict, place + shift, look)


def _mark(axes: Any, claim: Claim, verdict: Verdict, place: float, method: tuple[float, bool, str | None]) -> None:
    marker, colour = VERDICT_LOOKS[verdict.word]
    size, filled, edge = method
    look: dict[str, Any] = {"marker": marker, "markersize": size, "color": colour, "linestyle": "none"}
    look |= {"markerfacecolor": colour if filled else "white", "markeredgecolor": edge or colour}
    look |= {"markeredgewidth": 0.7, "clip_on": False, "zorder": 3}
    if not verdict.found:
        axes.plot([LEAST], [place], **{**look, "markeredgecolor": colour})
        return
    told = deciding(claim, verdict)
    ends = [_clipped(end, claim) for end in (told.low, told.high)]
    axes.plot(ends, [place, place], color=colour, linewidth=1.1, zorder=2)
    at = _clipped(told.value, claim)
    axes.plot([at], [place], **look)
    if at in (LEAST, MOST):
        sign, side, aside = ("‹", "right", 0.88) if at == LEAST else ("›", "left", 1.14)
        axes.text(at * aside, place, sign, ha=side, va="center", fontsize=8, color=colour)


def deciding(claim: Claim, verdict: Verdict) -> Quantity:
    """Return the quantity that decides a verdict: the one least inside the bounds, or most outside."""
    low, high = claim.bounds

    def margin(each: Quantity) -> float:
        """Return how far the interval's worse end lies inside the bounds, as a logarithm where there is one."""
        below = _ratio(each.low, low) if low > -inf else inf
        above = _ratio(high, each.high) if high < inf else inf
        return min(below, above)

    return min(verdict.found, key=margin)


def _ratio(over: float, under: float) -> float:
    if under <= 0:
        return inf if over > under else -inf
    return log(over / under) if over > 0 and under < inf else -inf


def reference(claim: Claim) -> float:
    """Return what a claim's values are divided by: its bound, or the geometric middle of its two bounds."""
    low, high = claim.bounds
    if low == -inf or high == inf:
        return high if low == -inf else low
    return sqrt(low * high) if low > 0 else high


def _clipped(value: float, claim: Claim) -> float:
    """Return a value over the claim's bound, at the axis's end where it lies beyond."""
    bound = reference(claim)
    if bound <= 0:
        return LEAST if value < bound else MOST if value > bound else 1.0
    return min(MOST, max(LEAST, value / bound))


def _legend(view: View, canvas: Canvas) -> None:
    handles = []
    for word, (marker, colour) in VERDICT_LOOKS.items():
        handles.append(_handle(marker, colour, view.say(WORDS[word]), size=5.0, face=colour))
    for name, (size, filled, edge) in zip(METHOD_NAMES, METHOD_LOOKS, strict=True):
        face = style.GREY if filled else "white"
        handles.append(_handle("o", style.GREY, view.say(name), size=size, face=face, edge=edge or style.GREY))
    canvas.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=7.5, handlelength=1.0)


def _handle(marker: str, colour: str, label: str, *, size: float, face: str, edge: str | None = None) -> Any:
    from matplotlib.lines import Line2D

    look: Mapping[str, Any] = {"markerfacecolor": face, "markeredgecolor": edge or colour, "markersize": size}
    return Line2D([], [], marker=marker, color=colour, linestyle="none", label=label, **look)
