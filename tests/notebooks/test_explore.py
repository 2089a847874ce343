"""The explorer's cells: every choice that they offer draws something, without a browser."""

import json
from collections.abc import Callable
from typing import Any

import ipywidgets
import pytest

from ipclab.frames import derived
from ipclab.paths import checkout
from ipclab.store.bundle import opened

CHANGED = ("study", "across")  # controls of which each choice is tried; of the others the first


def trying(drawn: list[tuple[str, str]]) -> Callable[..., Callable[[Any], Any]]:
    """Return what stands for `interact`: it calls the function for choices, and notes what it was
    called with.
    """

    def interact(**controls: list[Any]) -> Callable[[Any], Any]:
        def call(function: Any) -> Any:
            first = {name: choices[0] for name, choices in controls.items()}
            chosen = [
                first | {name: level} for name in CHANGED for level in controls.get(name, [])[1:]
            ]
            for levels in (first, *chosen):
                drawn.append((function.__name__, str(levels.get("study", levels.get("across")))))
                function(**levels)
            return function

        return call

    return interact


@pytest.mark.slow
def test_every_study_and_every_factor_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[str, str]] = []
    monkeypatch.setattr(ipywidgets, "interact", trying(drawn))
    monkeypatch.setattr(derived, "studies_measured", lambda run: ["round_trip", "faults"])
    notebook = json.loads((checkout().notebooks / "explore.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    for source in cells:
        exec(source, names)
        if "run" in names:
            names["run"] = str(opened(checkout(), checkout().reference).path)
    assert {("choose", "round_trip"), ("choose", "faults"), ("sampled", "faults")} <= set(drawn)
    assert {("draw", "backend"), ("draw", "size_bytes"), ("draw", "placement")} <= set(drawn)
