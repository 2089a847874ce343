"""The reference run with other values: some multiplied, or some that change places."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ipclab.frames.contests import contests
from ipclab.frames.points import BY_HEAT
from ipclab.store.run import RunFolder
from ipclab.studies.questions import question
from tests.support.told import measured

# the level of a factor -> by how much its values are multiplied
Changes = Mapping[tuple[str, Any], float]
Places = Mapping[str, Mapping[Any, Any]]  # a factor -> which level becomes which

COUNTED = ("minor_faults", "bytes_allocated", "receiver_bytes_allocated")
UNTIMED = ("count", "share", "B", "1")


class Run:
    """The reference run with values of a study multiplied, or with levels of it that change places."""

    def __init__(
        self, study: str = "", changes: Changes | None = None, places: Places | None = None
    ) -> None:
        self.study, self.changes, self.places = study, changes or {}, places or {}
        self.made: dict[str, pd.DataFrame] = {}

    def __call__(self, _run: RunFolder, study: str, kind: str) -> pd.DataFrame:
        if study != self.study:
            return measured(study, kind)
        if kind not in self.made:
            if kind == "contests":
                self.made[kind] = contests(question(study), self(_run, study, "launches"))
            else:
                self.made[kind] = self._changed(measured(study, kind)).replace(self.places)
        return self.made[kind]

    def _changed(self, frame: pd.DataFrame) -> pd.DataFrame:
        factor = pd.Series(1.0, frame.index)
        counts, speeds = frame.metric.isin(COUNTED), frame.unit.eq("B/s")
        changeable = counts | ~frame.unit.isin(UNTIMED)
        for (name, level), times in self.changes.items():
            hit = changeable & frame[name].eq(level).fillna(False).astype(bool)  # NA is no level
            factor = factor.mask(hit & ~speeds, factor * times).mask(hit & speeds, factor / times)
        columns = [name for name in ("value", "low", "high") if name in frame]
        changed = {name: frame[name].astype(float) * factor for name in columns}
        if BY_HEAT in frame:
            pairs = zip(frame[BY_HEAT], factor, strict=True)
            values = [tuple(value * times for value in values) for values, times in pairs]
            changed[BY_HEAT] = pd.Series(values, frame.index, dtype=object)
        return frame.assign(**changed)
