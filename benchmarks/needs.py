"""Are needs answered rightly here? Each is measured and answered, then measured afresh: was the
fastest named?

.venv/bin/python benchmarks/needs.py [smoke|quick|standard]
"""

import sys
import time

from ipclab.measure.progress import Progress
from ipclab.measure.session import measure
from ipclab.paths import checkout
from ipclab_answers.choose import asked
from ipclab_answers.choose.need import of

NEEDS = (
    {"size": 64, "must": ["across-hosts"]},
    {"size": 100, "way": "round-trip", "placement": "same", "must": ["across-hosts"]},
    {"size": 100, "way": "state", "consumers": 3, "placement": "free"},
)


def main() -> None:
    """Print for each need the answer, the fastest when it was measured afresh, and whether that was
    named.
    """
    effort = sys.argv[1] if len(sys.argv) > 1 else "quick"
    for told in NEEDS:
        need, begun = of(told), time.monotonic()
        request = asked.request(need, effort)
        first, second = (
            asked.tell(checkout(), measure(checkout(), request, Progress(shown=True)), need)
            for _ in range(2)
        )
        fastest = (second.best or ["none"])[0]
        held = "named" if fastest in first.best else "NOT NAMED"
        took = time.monotonic() - begun
        print(
            f"{told}: {first.state}, best {first.best}; afresh {fastest}, {second.state}: {held}"
            f" ({took:.0f} s)"
        )


if __name__ == "__main__":
    main()
