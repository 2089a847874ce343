"""The data of a run as a notebook asks for them: frames, samples, and single values with their intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd

from ipclab.frames import address, derived
from ipclab.frames.limits import impossible, with_limits
from ipclab.frames.points import VALUES
from ipclab.frames.published import published
from ipclab.lab import values
from ipclab.lab.reader import Reader
from ipclab.stats.quantity import Quantity
from ipclab.store.samples import decode


@dataclass(frozen=True, repr=False)
class Data(Reader):
    """A run's frames, narrowed by levels, and values out of them."""

    @property
    def studies(self) -> list[str]:
        """Return the studies that the run holds points of."""
        return derived.measured(self.run)

    def points(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return the tidy frame of `study`: one row for each point, op and metric, one column for each factor.

        `levels` narrow it: `lab.points("round_trip", arm="main", metric="p50", backend=["tcp", "unix"])`. Columns:
        study, point, the factors, op, metric, unit, value, low, high (a 95 % interval), launches, samples, flags; times
        are ns, sizes bytes. Factors that no row has are left out. Raises `UsageError` for an unknown study or column.
        """
        return self._frame(study, "points", levels)

    def launches(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return one row for each launch, op and metric (p50, mean, min, max, counters) of `study`, in the order taken.

        >>> lab.launches("round_trip", backend="tcp", placement="same", metric="p50").plot.scatter(x="order", y="value")
        """
        return self._frame(study, "launches", levels)

    def contests(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return what is known of each mechanism against the fastest of its contest: verdict, ratio, interval, reason.

        >>> lab.contests("round_trip", placement="same", among="sleeping")
        """
        return self._frame(study, "contests", levels)

    def samples(self, study: str, op: str = "", **levels: Any) -> pd.DataFrame:
        """Return the raw samples (ns of one operation) of the points of `study` that have `levels`, all launches.

        >>> lab.samples("round_trip", arm="main", placement="cross", size_bytes=100, backend="tcp")
        """
        chosen = self.points(study, **({"op": op} if op else {}), metric="p50", **levels)
        found = [self._samples_of(row) for row in chosen.to_dict("records")]
        return pd.concat(found or [chosen.assign(ns=0, launch=0)])

    def published(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return the numbers that the text of `study` prints (value in SI units, printed as it stands).

        >>> lab.published("payload", section="3.1", metric="mean")
        """
        return address.narrowed(published(self.paths, study), levels)

    def limited(self, points: pd.DataFrame) -> pd.DataFrame:
        """Return rows of `lab.points` with the limit of the hardware (ns) and `over_limit`, the value over it."""
        return with_limits(points, self.points("limits")) if len(points) else points.assign(limit=0.0, over_limit=0.0)

    def impossible(self) -> list[str]:
        """Return one line for each result that is faster than its copies by memcpy can be."""
        limits = self.points("limits")
        return [line for study in self.studies for line in impossible(self.points(study), limits)]

    def _frame(self, study: str, kind: str, levels: Mapping[str, Any]) -> pd.DataFrame:
        frame = derived.read(self.run, study, kind)
        strange = [name for name in levels if name not in frame]
        if frame.empty or (strange and set(strange) <= set(_factors(study))):  # factors that no point of this run has
            found = frame.iloc[:0].astype(object)
        else:
            found = address.narrowed(frame, levels).reset_index(drop=True)
        if len(found):
            return found.drop(columns=[name for name in _factors(study) if name in found and found[name].isna().all()])
        absent = [name for name in dict.fromkeys([*_factors(study), *levels]) if name not in found]
        return found.assign(**{name: pd.Series(dtype=object) for name in absent})  # a cell finds each factor

    def _samples_of(self, row: Mapping[Any, Any]) -> pd.DataFrame:
        measured = decode(self.run.path / "points" / row["study"] / f"{row['point']}.parquet")
        head = {name: value for name, value in row.items() if name not in ("metric", *VALUES[2:])}
        times = [launch.times(row["op"]) for launch in measured.launches]
        parts = [pd.DataFrame({"ns": part}).assign(launch=number) for number, part in enumerate(times)]
        return pd.concat(parts, ignore_index=True).assign(**head)

    def value(self, of: pd.DataFrame | str, **levels: Any) -> Quantity:
        """Return one measured value with its interval: of a frame, a study, or an address.

        >>> lab.value(writes, mapping="kept", size_bytes=84)
        >>> lab.value("payload.write[arm=mapping,mapping=kept,size_bytes=84].p50")

        Without a metric the median is meant. What was not measured has no value, and neither has what is computed from
        it. Raises `LabError` when several rows have the levels.
        """
        if isinstance(of, str):
            found = address.at(of, self.points, self.text)
            if found is not None:
                return found
            of = self.points(of)
        return address.one(of, levels)

    def over(self, points: pd.DataFrame, under: pd.DataFrame, on: Sequence[str]) -> pd.DataFrame:
        """Return the rows with a column `cell`: each value over that of the row of `under` with the same levels `on`.

        The columns of that row are there too, with `_under` at their names' end; without one, the ratio is missing.
        Raises `LabError` when several rows of `under` have the same levels.

        >>> lab.over(writes, writes[writes.backend == "tcp"], on=["size_bytes"])
        """
        return values.over(self.cells(points), self.cells(under), list(on))

    def ratio(self, over: Quantity, under: Quantity) -> Quantity:
        """Return `over` / `under` with its interval, the same as `over / under`."""
        return over / under

    def cells(self, points: pd.DataFrame, **more: str | tuple[str, str]) -> pd.DataFrame:
        """Return the rows with a column `cell` of quantities, to pivot into a table that prints value and interval.

        `more` names further columns: another metric of the same point and op, or (op, metric) of the same point.

        >>> lab.cells(medians, p99="p99", total=("launch", "total_ns"))
        """
        cells: list[Any] = [address.quantity(row) for row in points.itertuples()]
        made = points.assign(cell=cells)
        whole = [self.points(study) for study in points.study.unique()] if more else []
        return values.beside(made, pd.concat(whole) if whole else points, more)


@cache
def _factors(study: str) -> tuple[str, ...]:
    """Return every factor that a point of the study can have."""
    from ipclab.studies.installed import study as study_of
    from ipclab.studies.interface import Sweep
    from ipclab.studies.profile import PROFILES

    known = study_of(study)
    usual = (name for point in known.points(PROFILES["smoke"], Sweep()) for name in point.key())
    return tuple(dict.fromkeys([*usual, *getattr(known, "factors", ())]))
