"""What tables and figures of a comparison are made from."""

from dataclasses import dataclass

from ipclab.machines.compared import Compared
from ipclab.view import View


@dataclass(frozen=True)
class MachinesView(View):
    """A comparison for readers of one language; `about`, `rows` and `contests` are those of the first run."""

    compared: Compared | None = None


def comparison(view: View) -> Compared:
    """Return the comparison behind `view`; raises `TypeError` when it is a view of one run."""
    if not isinstance(view, MachinesView) or view.compared is None:
        raise TypeError("this is a table or figure of several runs: open them with ipclab.machines.lab.Machines")
    return view.compared
