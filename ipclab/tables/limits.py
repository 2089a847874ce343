"""A result over what the hardware allows."""

from ipclab.facts.rows import Row
from ipclab.view import View

PASSES = 2  # a handover copies in and copies out


def over_limit(view: View, row: Row | None, passes: int = PASSES) -> str:
    """Return a time over the time in which memcpy passes `passes` times over as many bytes; a dash without either."""
    if row is None:
        return "–"
    size = row.point.size_bytes
    limit = view.rows.find("copy", study="limits", backend="memcpy", size_bytes=size)
    return "–" if limit is None else view.value(row.estimate.value / (passes * limit.estimate.value), "1")
