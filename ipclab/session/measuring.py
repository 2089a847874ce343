"""Measuring into a run: its sessions, the rounds of each, and the heats of these."""

import datetime as dt
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path

from ipclab.errors import LabError
from ipclab.frames.metrics import HEAT, ROUND
from ipclab.machine import Source, Topology, conditions, disturbance
from ipclab.machine.placement import cross_missing, placements
from ipclab.session.goals import Allowance
from ipclab.session.heats import groups_with_limits, heats, names_compared
from ipclab.session.progress import Progress
from ipclab.session.questions import doubtful, judge_pairs
from ipclab.session.request import Request
from ipclab.session.rounds import Launched, Rounds
from ipclab.session.state import PointStates, State, besides_limits
from ipclab.spawn.heat import Contestant, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.worker import QUEUED, Outcome
from ipclab.stats.sessions import SESSION_HEATS
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.questions import ALWAYS
from ipclab.store.record import Record, check_measured
from ipclab.studies.installed import study as study_called
from ipclab.studies.interface import Bench, NotTestableError, Site, Study
from ipclab.studies.limits.floors import bounding
from ipclab.studies.profile import profile
from ipclab.studies.questions import questions_plain, renewed

NOT_HERE = "not testable here: "
# A heat has fewer turns than planned where these last so many times as long as they should
LONG_TURNS = 2
WARM_TURNS = 1  # of each contestant that are not recorded, for its caches
SAME_CPU = "same"  # the placement whose CPU cannot fall asleep between turns


class Measuring:
    """What measures into a run, one session after the other, whole ones being numbered from 1."""

    def __init__(self, run: Record, request: Request, files: Path, progress: Progress) -> None:
        self.run, self.request, self.files, self.progress = run, request, files, progress
        self.seed = run.about["seed"]
        topology = Topology.read(Source())
        self.placed, self.unplaced = placements(topology), cross_missing(topology)

    def possible(self, study: Study, points: list[Point]) -> list[Point]:
        """Return the points that this machine can place and measure; note why the others cannot."""
        kept, noted = [], self.run.about["points"]
        for point in points:
            if point.placement in self.placed:
                why = study.missing(point, self.files)
            else:
                why = self.unplaced.get(point.placement, point.placement)
            if why and not self.run.has(point, self.progress.say):
                noted[point.id] = NOT_HERE + why
            else:
                noted.pop(point.id, None)
                kept.append(point)
        return kept

    def measure(self, number: int, possible: list[tuple[Study, list[Point]]], ledger: Path) -> None:
        """Measure what is to do in a session, of which the run then tells, and finish the run."""
        self.first_heat, self.began = (number - 1) * SESSION_HEATS, time.monotonic_ns()
        self.benches: dict[str, Bench] = {}
        run, about = self.run, self.run.about
        about["finished"] = None
        about["questions"] = questions_plain(renewed(run.questions, profile(self.request.profile)))
        begun = {"begun": _now(), "conditions": conditions(Source()), "number": number}
        about["sessions"].append(begun)
        run.save()
        preloads = {study.preload for study, points in possible if points and study.preload}
        with Launcher(ledger, preloads=preloads) as launcher, ExitStack() as benches:
            say, keep_scratch = self.progress.say, self.request.keep_scratch
            site = Site(launcher, self.files, run.keep, run.note, say, keep_scratch)
            opened: list[Point] = []
            for study, points in possible:
                if not points:
                    continue
                effort = self.request.effort(study)
                try:
                    bench = benches.enter_context(study.open(site, points, effort, self.seed))
                    self.benches[study.name] = bench
                    opened += points
                except NotTestableError as error:
                    say(f"{study.name}: {NOT_HERE}{error}")
                    about["points"] |= {point.id: f"{NOT_HERE}{error}" for point in points}
                    run.save()
            self._rounds(launcher, opened)
        about["sessions"][-1] |= {"ended": _now(), "conditions_end": conditions(Source())}
        about["finished"] = _now()
        run.save()

    def _rounds(self, launcher: Launcher, points: list[Point]) -> None:
        efforts = {name: self.request.effort(study_called(name)) for name in self.benches}
        point_states = PointStates(self.run, efforts, self.first_heat)
        states = point_states.states(points)
        _prepare(states, points)
        others = [state.point for state in besides_limits(states.values())]
        rounds = Rounds(
            states,
            groups_with_limits(heats(others), *bounding(points)),
            self.seed + self.first_heat,
            self._numbered(point_states, states),
            launcher.renew_old,
            point_states.store,
            self._allowance(states),
            self.progress,
        )
        same = profile(self.request.profile).same
        rounds.measure(partial(judge_pairs, bound=same), doubtful)

    def _numbered(
        self, point_states: PointStates, states: Mapping[str, State]
    ) -> Callable[[Sequence[str], int], Launched]:
        """Return what runs a heat of a round, and numbers its launches."""
        orders = count(point_states.order + 1)
        heats_made = count(max(point_states.heat, self.first_heat) + 1)

        def launch(names: Sequence[str], number: int) -> Launched:
            heat = next(heats_made)
            launched = self._heat([states[name] for name in names], number, heat)
            # A new session counts its rounds from 1, since their order follows from the seed, its first
            # heat and that number. One that is continued goes on from the rounds that it has stored,
            # in which the first heat is already.
            round_ = number if number > self.first_heat else number + self.first_heat
            for name in names:
                done = launched[name]
                if isinstance(done, Launch):
                    done.order = next(orders)
                    done.facts |= {ROUND: round_, HEAT: heat}
            return launched

        return launch

    def _allowance(self, states: Mapping[str, State]) -> Allowance:
        """Return the time that the profile has for what these points still lack."""
        chosen = profile(self.request.profile)
        # What the profile has not, but was named, takes its own time.
        named_only = [
            state
            for state in states.values()
            if chosen.name in study_called(state.point.study).named_only
        ]
        spent_before = _spent(states.values())

        def left() -> float:
            elapsed = (time.monotonic_ns() - self.began) / 1e9
            return chosen.seconds - spent_before - elapsed + _spent(named_only)

        return Allowance(left, chosen.more_seconds, chosen.open)

    def _heat(
        self, states: Sequence[State], number: int, heat: int
    ) -> dict[str, Launch | LabError]:
        """Run one heat; contestants of other benches are launched beside it, in turn before it."""
        benches: dict[Bench, list[State]] = {}
        for state in states:
            benches.setdefault(self.benches[state.point.study], []).append(state)
        in_turn = [*benches.items()]
        launched: dict[str, Launch | LabError] = {}
        for bench, members in in_turn if number % 2 else reversed(in_turn):
            launched |= self._launch(bench, members, f"{self.seed} {heat}")
        return launched

    def _launch(
        self, bench: Bench, states: Sequence[State], seed: str
    ) -> dict[str, Launch | LabError]:
        contestants = {}
        for state in states:
            point, placement = state.point, self.placed[state.point.placement]
            roles = study_called(point.study).roles(point, state.effort, placement, self.seed)
            contestants[point.id] = Contestant(point, roles)
        effort = (besides_limits(states) or states)[0].effort
        apart = any(state.point.placement != SAME_CPU for state in states)
        warm_ns = effort.warm_ns if apart else 0
        most_ns = LONG_TURNS * effort.turns * effort.turn_ns * len(contestants)
        schedule = Schedule(effort.turns, WARM_TURNS, warm_ns, seed, effort.launch_seconds, most_ns)
        source = Source()
        before, start = conditions(source), time.monotonic_ns()
        ends = bench(contestants, schedule)
        elapsed = time.monotonic_ns() - start
        after = conditions(source)
        launched: dict[str, Launch | LabError] = {}
        for name, ended in ends.items():
            if isinstance(ended, LabError):
                launched[name] = ended
                continue
            contestant = contestants[name]
            try:
                done = self._collected(contestant, ended)
            except LabError as error:
                launched[name] = error
                continue
            done.started_ns, done.elapsed_ns = start - self.began, elapsed // len(ends)
            flags = disturbance(before, after, elapsed, queued_share=_queued(contestant, ended))
            expected = study_called(contestant.point.study).expected(contestant.point)
            done.flags += [flag for flag in flags if flag not in expected]
            launched[name] = done
        return launched

    def _collected(self, contestant: Contestant, outcomes: dict[str, Outcome]) -> Launch:
        """Return a launch as it may be stored."""
        point = contestant.point
        done = study_called(point.study).collect(point, outcomes, self.seed)
        check_measured(done)
        done.cpus = {role.name: sorted(role.cpus) for role in contestant.roles}
        done.facts.setdefault("relation", self.placed[point.placement].relation)
        return done


def _prepare(states: Mapping[str, State], points: list[Point]) -> None:
    """Note which points are alone, what a launch of each takes, and which come first."""
    in_contests = names_compared(points)
    for state in states.values():
        point, study = state.point, study_called(state.point.study)
        state.alone = point.id not in in_contests and point.study not in ALWAYS
        state.effort = study.of_point(point, state.effort, not state.alone)
        state.precedence = study.precedence(point)


def _spent(states: Iterable[State]) -> float:
    return sum(state.spent_ns for state in states) / 1e9


def _queued(contestant: Contestant, outcomes: Mapping[str, Outcome]) -> float | None:
    """Return the largest share of its time for which a worker waited for a CPU, if each has one."""
    cpus = frozenset[int]().union(*(role.cpus for role in contestant.roles))
    if len(contestant.roles) > len(cpus):
        return None
    counters = [counted for outcome in outcomes.values() for counted in outcome.counters.values()]
    return max((counted.get(QUEUED, 0.0) for counted in counters), default=0.0)


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
