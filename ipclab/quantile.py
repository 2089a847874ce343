"""Which quantiles can be asked for, known before anything heavy is loaded."""

import click

from ipclab.errors import UsageError

MEDIAN = 0.5


def checked_quantile(quantile: float) -> float:
    """Return a quantile from the median on; raises `UsageError` for a number that is none."""
    if not MEDIAN <= quantile < 1:
        what = f"quantile {quantile:g} is not possible"
        raise UsageError(what, "", "give one from 0.5 to below 1, such as 0.99")
    return quantile


quantile_option = click.option(
    "--quantile",
    type=float,
    default=MEDIAN,
    callback=lambda _ctx, _param, quantile: checked_quantile(quantile),
    help="Of each launch, such as 0.99 [the median].",
)
