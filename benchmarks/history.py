"""How often are steps of made-up histories found, and how often others? python -m
benchmarks.history [EACH] [LUCK].

EACH histories of every kind of `tests/support/histories.py`; LUCK is the deviation of the log that
a session shares. Exits 1 when more than 5 % of the histories have a false step.
"""

import sys
from collections import Counter

from ipclab_answers.history.steps import History
from tests.support.histories import KINDS, history

FALSE_MOST = 0.05


def main(each: int = 5, luck: float = 0.02) -> int:
    """Print by kind: steps found within one run of the truth, histories with a false one, lone
    runs, drift.
    """
    false = 0
    for kind in KINDS:
        told: Counter[str] = Counter()
        for seed in range(each):
            made = history(kind, 1000 * KINDS.index(kind) + seed, luck)
            found = History.of(made.runs).changes
            right = {at for at in found.steps if made.step is not None and abs(at - made.step) <= 1}
            told += Counter(
                found=len(right), exact=made.step in right, false=bool(found.steps.keys() - right)
            )
            told += Counter(alone=set(found.alone) == {made.alone}, drift=bool(found.drifts))
        false += told["false"]
        print(
            f"{kind:<8} of {each}: "
            + ", ".join(
                f"{told[name]} {name}" for name in ("found", "exact", "false", "alone", "drift")
            )
        )
    return int(false > FALSE_MOST * each * len(KINDS))


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:2]), *map(float, sys.argv[2:3])))
