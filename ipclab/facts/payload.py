"""Named facts of the payload study, for its sentences, figures and claims."""

from collections.abc import Iterator

from ipclab.facts.fact import Fact
from ipclab.facts.rows import Rows


def facts(rows: Rows) -> Iterator[Fact]:
    """Yield the facts of the payload study."""
    yield from ()
