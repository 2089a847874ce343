"""What a run asks: levels, contests, bounds and looks, written into it when it is measured.

Whoever reads a run finds here what its studies and mechanisms said of it, and imports none of them;
and what must be known of its profile and of where launches run.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Struct

from ipclab.paths import table_beside

# The studies that are part of every run, whatever is asked for, and measured as often as heats need
ALWAYS = ("limits", "calibration")
# The nearest level that two CPUs share, nearest first; `remote` ones lie in different memory nodes.
RELATIONS = ("same", "smt", "l2", "l3", "numa", "remote")
# One CPU for all, several, or whichever the scheduler takes
PLACEMENTS = ("same", "cross", "free")
# Two CPUs of a relation beside that of `cross`, as larger machines have them
PLACED_TOO = tuple(f"cross-{relation}" for relation in RELATIONS[1:])


class RunProfile(NamedTuple):
    """What a reader of a run knows of its profile.

    `same` counts as the same (a share); a point has `most_launches` in a session.
    """

    same: float
    most_launches: int


RUN_PROFILES = {
    name: RunProfile(**told) for name, told in table_beside(__file__, "run_profiles.toml").items()
}
# the briefest first; `published` runs what the texts ran, and stands for no other
PROFILE_NAMES = tuple(RUN_PROFILES)
# A limit's name, in which `{factor}` stands for the level of a factor: nothing else is in braces.
LimitName = Annotated[str, Meta(pattern=r"\A([A-Za-z0-9+._-]|\{[a-z_]{1,64}\})*\Z", max_length=200)]
Colour = Annotated[str, Meta(pattern=r"\A(#[0-9A-Fa-f]{3,8}|[a-z]{1,30}|C[0-9])?\Z")]
Marker = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9^<>+*|_.,]?\Z")]
_FACTOR = re.compile(r"\{([a-z_]+)\}")


class Race(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which points of a study are compared by which op.

    `op` is one or several; `levels` are what the points share (a list of levels means any of them),
    `either` holds further levels, of which one group suffices; `per` are the factors by whose
    values contests are kept apart, beside placement and size; `names` is what tells two entrants
    apart. `sleeping` adds a contest without those that spin, of the arms that it names, if it does.
    Without `sized` the size is a result of what is compared. Points with the levels `scatters` take
    part once they have enough launches.
    """

    op: str | tuple[str, ...]
    levels: dict[str, Any] = {}
    either: tuple[dict[str, Any], ...] = ({},)
    per: tuple[str, ...] = ()
    names: tuple[str, ...] = ("backend",)
    sleeping: bool | tuple[str, ...] = False
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
    native: LimitName | dict[str, LimitName] = ""
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
    look: tuple[Colour, Marker] = ("", "")
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


def questions_told(about: Mapping[str, Any]) -> Questions:
    """Return the questions of a `run.json`."""
    return msgspec.convert(about["questions"], Questions)


def limit_filled(name: str, levels: Mapping[Any, Any]) -> str:
    """Return the name of a limit for a point with `levels`; a factor that it lacks is nothing."""
    return _FACTOR.sub(lambda found: str(levels.get(found[1], "")), name)
