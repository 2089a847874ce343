"""What the widgets of the notebook show."""

from typing import Any

from ipclab.errors import LabError
from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab_more.choose import asked, shown
from ipclab_more.choose.need import need_of


def show_answer(lab: Lab, **sides: Any) -> None:
    """Show the answer to a need with these `sides`, or why it is none."""
    from IPython.display import HTML, display

    try:
        answer = asked.tell(checkout(), lab.run, need_of(sides))
    except LabError as error:
        print(error)
        return
    display(HTML(shown.html(lab, answer)))  # type: ignore[no-untyped-call]
