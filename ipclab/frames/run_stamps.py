"""What a run's frames follow from, all together: what is computed of them is kept by it."""

from ipclab.frames import derived
from ipclab.frames.stamps import stamp
from ipclab.store.run import RunFolder


def stamps(run: RunFolder) -> str:
    """Return a text that is another one when a frame of any study of `run` is."""
    return "".join(stamp(run, study) for study in derived.studies_measured(run))
