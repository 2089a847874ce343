"""What a notebook is meant to call, in one place: `import ipclab` finds these names here."""

from collections.abc import Sequence
from typing import Any

from ipclab.claims.audit import audited, claims_table, corrections, with_own
from ipclab.claims.differences import faithful, faithful_table, identical_but
from ipclab.claims.mistakes import derived_numbers, mistakes
from ipclab.claims.published import printed, published
from ipclab.claims.required import requirements, requirements_table
from ipclab.errors import LabError, UsageError
from ipclab.lab.lab import Lab
from ipclab.marks import style
from ipclab.marks.axes import scale
from ipclab.marks.bars import bars, dots, facets, leading, limit, over, spinning, values_beside
from ipclab.marks.curves import lines
from ipclab.marks.marks import drawable
from ipclab.report.appendix.about import about_run, proved
from ipclab.report.appendix.calibration import calibration_table
from ipclab.report.appendix.limits import about_limits, cpu_pairs, impossible, notice
from ipclab.report.compare.machines import machines
from ipclab.report.notebooks.quotes import keep, quoted
from ipclab.stats.quantity import Quantity, missing, of


def open(
    study: str = "",
    run: str = "",
    lang: str = "en",
    measure: bool = False,
    profile: str = "quick",
    claims: str = "",
    **sweep: Any,
) -> Lab:
    """Open a run for readers of `lang`: a notebook's first call.

    Without `run` it is the best here that holds `study`, else the committed reference. A run of
    this machine is better than another's, and one of any other profile than one of smoke or
    published; then decide how many points of the study it holds, its profile, and at last its date.
    Without a study it is the newest full run. With `measure`, what it lacks of `study` is measured
    first, in `profile`, at the levels of `sweep` (see `measure`). `claims` is a TOML file of your
    own claims. Raises `UsageError` for what cannot be meant.

    >>> lab = ipclab.open("payload", measure=True, sizes=[100, 10_000])
    """
    lab = Lab.open(study, run, lang, measure, profile, **sweep)
    return with_own(lab, claims) if claims else lab


def measure(
    study: str,
    sizes: Sequence[int] = (),
    backends: Sequence[str] = (),
    placement: Sequence[str] = (),
    profile: str = "quick",
    lang: str = "en",
    **levels: Sequence[Any],
) -> Lab:
    """Measure `study` here, except points that are on disk, and open the run.

    `sizes` are bytes, `placement` same, cross or free, `levels` those of any other factor of the
    study; an empty one means the study's own. `profile` is smoke, quick, standard, full or
    published. Raises `UsageError` for what cannot be meant, `LabError` for what fails.

    >>> lab = ipclab.measure("round_trip", sizes=[100], backends=["unix", "tcp"], profile="smoke")
    """
    named = {"sizes": [*sizes], "backends": [*backends], "placement": [*placement]}
    return Lab.open(study, "", lang, True, profile, **named, **levels)


__all__ = [name for name in sorted(globals()) if name[0] != "_" and name not in ("Any", "Sequence")]
