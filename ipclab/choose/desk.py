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
NUMBERS = {"rate": 0.0, "consumers": 1, "work_us": 0.0, "deadline_us": 0.0, "cpus": 0.0}


class Desk:
    """The widgets of one need; `box` is what a notebook shows. A need that cannot be meant says so in their place."""

    def __init__(self, lab: Lab, first: Need) -> None:
        self.lab, told = lab, first.told()
        sizes = ",".join(f"{size}:{share:g}" for size, share in first.size.items())
        self.size = widgets.Text(value=sizes, description=lab.say(shown.WORDS["side"]["size"]))
        self.controls: dict[str, Any] = {"size": self.size}
        for name, options in CHOICES.items():
            self.controls[name] = widgets.Dropdown(options=options, value=told[name])
        for name, least in NUMBERS.items():
            kind = widgets.IntText if isinstance(least, int) else widgets.FloatText
            self.controls[name] = kind(value=told[name])
        self.controls["must"] = widgets.SelectMultiple(options=MUSTS, value=told["must"])
        self.answer = widgets.HTML()
        for name, control in self.controls.items():
            control.description = lab.say(shown.WORDS["side"][name])
            control.observe(self.show, "value")
        left = widgets.VBox([*self.controls.values()], layout={"width": "340px"})
        self.box = widgets.HBox([left, self.answer])
        self.show()

    def show(self, _: Any = None) -> None:
        """Answer what the controls say."""
        given = {name: control.value for name, control in self.controls.items()}
        try:
            found = asked.tell(self.lab.paths, self.lab.run, need.of(given))
        except LabError as error:
            self.answer.value = shown.paragraph(str(error))
            return
        made = shown.tables(self.lab, found)
        tables = [self.lab.table(each, "") for name, each in made.items() if name != "asked"]
        told = "".join(table.to_html() for table in tables if table.rows)
        self.answer.value = shown.paragraph(shown.verdict(self.lab, found)) + told
