"""What a notebook is meant to call, in one place: `import ipclab` finds these names here."""

from ipclab.bounds.states import held
from ipclab.claims.audit import audited, claims_table, corrections, with_own
from ipclab.claims.computed import compute
from ipclab.claims.faithful import faithful, identical_but
from ipclab.claims.mistakes import derived_numbers, mistakes
from ipclab.claims.required import requirements, requirements_table
from ipclab.errors import LabError, UsageError
from ipclab.lab.lab import Lab, measure, open
from ipclab.marks import style
from ipclab.marks.axes import note_ends, scale
from ipclab.marks.bars import bars, facets, leading, limit, over, spinning, values_beside
from ipclab.marks.curves import lines
from ipclab.marks.marks import drawable, groups
from ipclab.marks.named_rows import dots
from ipclab.report.appendix.about import about_machine, about_run, proved, sessions
from ipclab.report.appendix.advice import GUESS_NOTES, guesses
from ipclab.report.appendix.calibration import calibration, calibration_table
from ipclab.report.appendix.choices import alike
from ipclab.report.appendix.limits import (
    about_limits,
    beaten,
    cpu_pairs,
    impossible,
    limited,
)
from ipclab.report.appendix.notice import notice
from ipclab.report.appendix.signing import (
    about_configuration,
    is_preliminary,
    page_marks,
    title_block,
)
from ipclab.report.appendix.steadiness import ranked, told, unsteady, with_states
from ipclab.report.appendix.trust import trusted
from ipclab.report.appendix.uncertainty import COVERAGE, LEAST, TYPES, budget
from ipclab.report.compare.machines import machines
from ipclab.report.listing import listed
from ipclab.report.pairs import pairs
from ipclab.stats.quantity import Quantity, missing, of, total

__all__ = [
    "COVERAGE",
    "GUESS_NOTES",
    "LEAST",
    "TYPES",
    "Lab",
    "LabError",
    "Quantity",
    "UsageError",
    "about_configuration",
    "about_limits",
    "about_machine",
    "about_run",
    "alike",
    "audited",
    "bars",
    "beaten",
    "budget",
    "calibration",
    "calibration_table",
    "claims_table",
    "compute",
    "corrections",
    "cpu_pairs",
    "derived_numbers",
    "dots",
    "drawable",
    "facets",
    "faithful",
    "groups",
    "guesses",
    "held",
    "identical_but",
    "impossible",
    "is_preliminary",
    "leading",
    "limit",
    "limited",
    "lines",
    "listed",
    "machines",
    "measure",
    "missing",
    "mistakes",
    "note_ends",
    "notice",
    "of",
    "open",
    "over",
    "page_marks",
    "pairs",
    "proved",
    "ranked",
    "requirements",
    "requirements_table",
    "scale",
    "sessions",
    "spinning",
    "style",
    "title_block",
    "told",
    "total",
    "trusted",
    "unsteady",
    "values_beside",
    "with_own",
    "with_states",
]
