"""Which bound of a run's questions holds for an op of a point, and what its limit is called."""

from collections.abc import Mapping
from typing import Any

from ipclab.store.questions import Bound, Mechanism, Questions, limit_filled

SPINNING = "spin"  # how ways to wait begin that do not leave the CPU
MECHANISM, SHARED = "{mechanism}", "shm-"
SPUN = "shm-spin"  # the mechanism that such a wait rests on, whatever carries the message


def bound_of(questions: Questions, study: str, op: str, levels: Mapping[Any, Any]) -> Bound | None:
    """Return what bounds `op` of a point of `study` with `levels`, if anything.

    `backend`, `size_bytes` and `placement` are among the levels.
    """
    backend = questions.mechanisms.get(str(levels["backend"]), Mechanism())
    known = {**levels, "limit": backend.limit, "keeps": backend.keeps}
    for bound in questions.of(study).bounds:
        large = not bound.least_bytes or int(levels["size_bytes"]) >= bound.least_bytes
        fits = all(known.get(name) == level for name, level in bound.when.items())
        if bound.op == op and large and fits:
            return bound
    return None


def limit_named(questions: Questions, bound: Bound, levels: Mapping[Any, Any]) -> str:
    """Return what the limit of `bound` is called, also where it is not here.

    It waits in the same way, or is none: of what spins, natively only shared memory does.
    """
    by_arm = bound.native
    name = by_arm if isinstance(by_arm, str) else by_arm.get(str(levels.get("arm")), "")
    backend = questions.mechanisms.get(str(levels["backend"]), Mechanism())
    spins = str(levels.get("wait", "")).startswith(SPINNING)
    mechanism = backend.limit
    if spins and MECHANISM in name:
        if not mechanism.startswith(SHARED):
            return ""
        mechanism = SPUN
    return limit_filled(name, {**levels, "mechanism": mechanism, "flow": backend.flow})
