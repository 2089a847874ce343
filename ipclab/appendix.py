"""What the appendix is made of beside what every notebook calls: `from ipclab import appendix`."""

from ipclab.report.appendix.about import sessions
from ipclab.report.appendix.calibration import calibration
from ipclab.report.appendix.environment import (
    about_configuration,
    environment,
    judged_by_another,
    kind_of_machine,
)
from ipclab.report.appendix.flagged import all_held, flagged, quiet
from ipclab.report.appendix.signed import (
    counted,
    least_shown,
    ratio_notes,
    recalculable,
    signed,
)
from ipclab.report.appendix.signing import control_of, is_preliminary, page_marks, title_block
from ipclab.report.appendix.traced import judged, traced
from ipclab.report.appendix.trust import trusted
from ipclab.report.appendix.uncertainty import (
    COVERED,
    LEAST_SHARE,
    NOMINAL_LEVEL,
    SESSION_TERM,
    apart,
    budget,
    evaluated,
)
