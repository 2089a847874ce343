"""How far this machine's comparisons can be trusted."""

from ipclab.report.table import Column, Table
from ipclab.view import View


def calibration(view: View) -> Table:
    """Return the outcome of `ipclab calibrate` on the run's machine."""
    _ = view.say
    rows = [
        [_("comparisons of identical code"), view.fact("calibration.comparisons")],
        [_("of these called different"), view.fact("calibration.false_alarms.share", "pct")],
        [_("upper bound of that share"), view.fact("calibration.false_alarms.upper", "pct")],
        [_("smallest planted slow-down found, same CPU"), view.fact("calibration.smallest.same", "pct")],
        [_("smallest planted slow-down found, two CPUs"), view.fact("calibration.smallest.cross", "pct")],
    ]
    note = _("Found means in at least nineteen of twenty trials.")
    return Table(_("Calibration on this machine"), [Column(_("Item")), Column(_("Value"), "right")], rows, [note])
