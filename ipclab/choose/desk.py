"""The widgets of a need: its sides as controls, and the answer of a run, which follows them."""

from typing import Any

import ipywidgets as widgets

from ipclab.choose import asked, need, shown
from ipclab.choose.need import EACH, MUSTS, ONE, WAYS, Need
from ipclab.errors import LabError
from ipclab.frames.points import QUANTILES
from ipclab.lab.lab import Lab
from ipclab.studies.profile import PLACEMENTS

CHOICES = {"way": WAYS, "sharing": (EACH, ONE), "placement": PLACEMENTS, "quantile": tuple(QUANTILES.values())}
FLOAT, INT = widgets.FloatText, widgets.IntText
NUMBERS = {"rate": FLOAT, "consumers": INT, "work_us": FLOAT, "deadline_us": FLOAT, "cpus": FLOAT}


def desk(lab: Lab, first: Need) -> widgets.HBox:
    """Return the widgets of a need, beginning with `first`. One that cannot be meant says so in the answer's place."""
    told, answer = first.told(), widgets.HTML()
    sizes = ",".join(f"{size}:{share:g}" for size, share in first.size.items())
    controls: dict[str, Any] = {"size": widgets.Text(value=sizes)}
    controls |= {name: widgets.Dropdown(options=options, value=told[name]) for name, options in CHOICES.items()}
    controls |= {name: kind(value=told[name]) for name, kind in NUMBERS.items()}
    controls["must"] = widgets.SelectMultiple(options=MUSTS, value=told["must"])

    def show(_: Any = None) -> None:
        try:
            wanted = need.of({name: control.value for name, control in controls.items()})
            found = asked.tell(lab.paths, lab.run, wanted)
        except LabError as error:
            answer.value = shown.paragraph(str(error))
            return
        made = shown.tables(lab, found)
        tables = [lab.table(each, "") for name, each in made.items() if name != "asked"]
        told = "".join(table.to_html() for table in tables if table.rows)
        answer.value = shown.paragraph(shown.verdict(lab, found)) + told

    for name, control in controls.items():
        control.description = lab.say(shown.WORDS["side"][name])
        control.observe(show, "value")
    show()
    return widgets.HBox([widgets.VBox([*controls.values()], layout={"width": "340px"}), answer])
