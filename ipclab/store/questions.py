"""What a run asks: levels, contests, bounds and looks, written into it when it is measured.

Whoever reads a run finds here what its studies and mechanisms said of it, and imports none of them.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

PROFILES = ("smoke", "quick", "standard", "full")  # the briefest first
SPINNING = "spin"  # how ways to wait begin that do not leave the CPU
MECHANISM, SHARED = "{mechanism}", "shm-"
SPUN = "shm-spin"  # the mechanism that such a wait rests on, whatever carries the message


class Race(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which points of a study are compared by which op.

    `op` is one or several; `levels` are what the points share (a list of levels means any of them),
    `either` holds further levels, of which one group suffices; `per` are the factors by whose
    values contests are kept apart, beside placement and size; `names` is what tells two entrants
    apart. `sleeping` adds a contest without those that spin. Without `sized` the size is a result
    of what is compared. Points with the levels `scatters` take part once they have enough launches.
    """

    op: str | tuple[str, ...]
    levels: dict[str, Any] = {}
    either: tuple[dict[str, Any], ...] = ({},)
    per: tuple[str, ...] = ()
    names: tuple[str, ...] = ("backend",)
    sleeping: bool = False
    sized: bool = True
    scatters: dict[str, Any] = {}


class Bound(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What one op of a study cannot beat, for points with the levels `when`.

    `native` names the limit that does just what the op cannot avoid, by arm where arms differ: in
    it `{factor}` stands for a level, `{mechanism}` and `{flow}` for what the point's backend says
    of its round trips and its streams. A run without that limit is read against `older`: of
    "memcpy" that is `copies` passes over the data, and a futex `wake`. Whatever else is known, no
    mechanism is faster than its `copies`. Of several bounds of an op the first one holds that fits;
    `when` may ask for the backend's `limit`, and whether it `keeps` its content (yes, no), too.
    """

    op: str
    native: str | dict[str, str] = ""
    older: str = ""
    copies: int = 0
    wake: bool = False
    when: dict[str, Any] = {}
    least_bytes: int = 0


class Mechanism(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What readers need of a backend: the kernel's mechanism below it, and how it is drawn.

    `keeps` is empty where it has no store. It `spins` where that is its usual way to wait, and
    `yields` its CPU to whoever else wants it while it waits.
    """

    limit: str = ""
    flow: str = ""
    keeps: str = ""
    look: tuple[str, str] = ("", "")
    spins: bool = False
    yields: bool = False


class Limit(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A native program: its ops, and whether it is of two processes, which have a placement."""

    ops: tuple[str, ...]
    placed: bool = False


class Question(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One study: its name, the words that are levels of each factor, its contests and bounds.

    `again` is what it measures under the same conditions in several arms: groups of their levels.
    """

    name: str
    levels: dict[str, tuple[str, ...]] = {}
    races: tuple[Race, ...] = ()
    bounds: tuple[Bound, ...] = ()
    again: tuple[tuple[dict[str, Any], ...], ...] = ()

    def bound(self, op: str, levels: Mapping[Any, Any]) -> Bound | None:
        """Return what bounds `op` of a point with `levels` (`Questions.levels`), if anything."""
        for bound in self.bounds:
            large = not bound.least_bytes or int(levels["size_bytes"]) >= bound.least_bytes
            fits = all(levels.get(name) == level for name, level in bound.when.items())
            if bound.op == op and large and fits:
                return bound
        return None


class Questions(Struct, frozen=True, forbid_unknown_fields=True):
    """All that a run asks.

    `same` is what counts as the same (a share), `least_launches` how many launches a point of each
    study has at least; `limits` are the native programs and `mechanisms` the backends, by name.
    """

    same: float = 0.0
    least_launches: dict[str, int] = {}
    studies: tuple[Question, ...] = ()
    mechanisms: dict[str, Mechanism] = {}
    limits: dict[str, Limit] = {}

    def of(self, study: str) -> Question:
        """Return the question of `study`, an empty one where nothing is known of it."""
        found = (question for question in self.studies if question.name == study)
        return next(found, Question(study))

    def keeps(self, backend: str) -> bool:
        """Tell whether what is written into a backend stays to be read: state, not a message."""
        return self.mechanisms.get(backend, Mechanism()).keeps == "yes"

    def plain(self) -> dict[str, Any]:
        """Return the questions as a `run.json` has them."""
        content: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return content

    def bound(self, study: str, op: str, levels: Mapping[Any, Any]) -> Bound | None:
        """Return what bounds `op` of a point of `study` with `levels`, if anything.

        `backend`, `size_bytes` and `placement` are among the levels.
        """
        backend = self.mechanisms.get(str(levels["backend"]), Mechanism())
        known = {**levels, "limit": backend.limit, "keeps": backend.keeps}
        return self.of(study).bound(op, known)

    def native(self, bound: Bound, levels: Mapping[Any, Any]) -> str:
        """Return the name of a limit here that does just what `bound` is of, or an empty one."""
        name = self.named(bound, levels)
        return name if name in self.limits else ""

    def named(self, bound: Bound, levels: Mapping[Any, Any]) -> str:
        """Return what the limit of `bound` is called, also where it is not here.

        It waits in the same way, or is none: of what spins, natively only shared memory does.
        """
        by_arm = bound.native
        template = by_arm if isinstance(by_arm, str) else by_arm.get(str(levels.get("arm")), "")
        backend = self.mechanisms.get(str(levels["backend"]), Mechanism())
        spins = str(levels.get("wait", "")).startswith(SPINNING)
        mechanism = backend.limit
        if spins and MECHANISM in template:
            if not mechanism.startswith(SHARED):
                return ""
            mechanism = SPUN
        return template.format_map(_Known({**levels, "mechanism": mechanism, "flow": backend.flow}))


def told(about: Mapping[str, Any]) -> Questions:
    """Return the questions of a `run.json`; what stands for several runs has none."""
    return msgspec.convert(about.get("questions", {}), Questions)


class _Known(dict[Any, Any]):
    """Levels, of which a template may name one that is not there."""

    def __missing__(self, key: Any) -> str:
        return ""
