"""Is a run fit for a table of machines: complete, undisturbed, calibrated, its limits and digests
consistent?
"""

from ipclab.errors import LabError
from ipclab.frames.calibration import STUDY
from ipclab.frames.derived import measured
from ipclab.frames.limits import floors, lines
from ipclab.lab.data import Data
from ipclab.lab.limits import beaten, impossible
from ipclab.lab.runs import full
from ipclab.paths import typed
from ipclab.store.archive import CALIBRATION
from ipclab.studies.limits.floors import WIDE

DISTURBED_MOST = 0.10  # of the launches, as statements of high trust have (trust.py)
WIDE_MOST = 0.10  # of the limits


def reasons(lab: Data) -> list[str]:
    """Return a line for each reason why the run is not fit; none when it is."""
    try:
        lab.run.checked()
    except LabError as error:
        return [f"digests: {error}"]  # nothing else can be read
    about, told = lab.run.about, []
    if not full(lab.run):
        told.append("incomplete: it is not finished, or not of all studies at their own levels")
    told += [f"incomplete: {point} failed: {why}" for point, why in about["failures"].items()]
    launches = [
        lab.launches(study).drop_duplicates(["point", "launch"]) for study in measured(lab.run)
    ]
    count = sum(map(len, launches))
    disturbed = sum(int(each["flags"].ne("").sum()) for each in launches) / max(1, count)
    if disturbed > DISTURBED_MOST:
        told.append(
            f"disturbed: {disturbed:.0%} of {count} launches, at most {DISTURBED_MOST:.0%} may be"
        )
    if STUDY not in measured(lab.run) and not (lab.run.path.parent / CALIBRATION).is_file():
        told.append(f"not calibrated: every run that {typed('report')} measures is")
    return told + (
        _limits(lab) if "limits" in measured(lab.run) else ["limits: they were not measured"]
    )


def _limits(lab: Data) -> list[str]:
    known = floors(lab.launches("limits"))
    wide, told = known.wide(), [f"limits: {line}" for line in lines(beaten(lab))]
    if len(wide) > WIDE_MOST * len(known.medians):
        told.append(
            f"limits: the best launches of {len(wide)} of {len(known.medians)} differ by more than"
            f" {WIDE - 1:.0%}"
        )
    return told + [f"limits: {line}" for line in impossible(lab)]
