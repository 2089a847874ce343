"""The bench of ranks that somebody else's launcher started: rank 0 has the others run."""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from ipclab.errors import LabError
from ipclab.spawn.failures import failed
from ipclab.spawn.heat import Contestant, HeatOutcomes, Schedule, together_or_alone
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.mpi_mail import CANCEL, MAIL_SECONDS, Answer, Command, Done, RankPart
from ipclab.spawn.mpi_outer import GRACE_SECONDS, Node, NoMore, World, reachable
from ipclab.spawn.mpi_worker import run_roles
from ipclab.spawn.rank_bench import outcomes_by_name
from ipclab.spawn.worker import Failed
from ipclab.store.point import Point


class OuterBench:
    """Launches points on the ranks of `world`: within a node, node after node, or across them."""

    def __init__(self, launcher: Launcher, here: World) -> None:
        self.launcher = launcher
        self.world = here
        self.mail = here.mail
        self.launches: dict[str, int] = {}
        self.asked: set[int] = set()  # for this launch
        self.said: dict[int, Answer] = {}  # by rank, in the order in which it came

    def __call__(self, heat: Mapping[str, Contestant], schedule: Schedule) -> HeatOutcomes:
        """Run a heat; where it fails as a whole, its contestants one by one."""
        return together_or_alone(self._heat, heat, schedule)

    def _heat(self, heat: Mapping[str, Contestant], schedule: Schedule) -> HeatOutcomes:
        if self.world.broken:
            raise LabError("the ranks no longer answer", self.world.broken, "measure again")
        homes = dict[str, Node]()
        parts = dict[str, RankPart]()
        with ExitStack() as names:
            for name, contestant in heat.items():
                prefix = names.enter_context(self.launcher.naming())
                homes[name], parts[name] = self._part(contestant, prefix)
            ends = self._launch(Command(parts, schedule, fresh=0))
        for name, ended in ends.items():
            if isinstance(ended, LabError):
                continue
            facts = ended[heat[name].roles[0].name].facts
            facts["node"] = self.world.nodes.index(homes[name])
            if pair := self.world.between(parts[name].roles):
                facts["relation"] = pair
        return ends

    def _part(self, contestant: Contestant, prefix: str) -> tuple[Node, RankPart]:
        point = contestant.point
        roles = contestant.roles
        home, ranks = self._where(point, len(roles))
        folder = home.folder or self.launcher.session.folder
        part = RankPart(dict(zip(ranks, roles, strict=True)), prefix, folder)
        if point.placement == "free":  # as the launcher has bound them
            part.roles = {
                rank: replace(role, cpus=frozenset()) for rank, role in part.roles.items()
            }
            part.cpus = sum(len(node.cpus) for node in self.world.nodes_of(ranks))
        if int(point.levels["nodes"]) > 1:
            others = self.world.nodes_of(ranks[1:])
            part.address = reachable(
                home.addresses, [address for node in others for address in node.addresses]
            )
        return home, part

    def _where(self, point: Point, count: int) -> tuple[Node, list[int]]:
        """Return the writer's node and the ranks of this launch."""
        if int(point.levels["nodes"]) > 1:
            return self.world.nodes[0], [0, *self.world.away()[: count - 1]]
        fit = [node for node in self.world.nodes if len(node.ranks) >= count]
        if not fit:
            raise LabError(
                f"{count} ranks on one node are needed", "no node has so many", "start more of them"
            )
        done = self.launches[point.id] = self.launches.get(point.id, -1) + 1
        node = fit[done % len(fit)]
        return node, node.ranks[:count]

    def _launch(self, command: Command) -> HeatOutcomes:
        names = command.names
        self.asked = set(names)
        self.said = {}
        end = time.monotonic() + command.seconds
        for rank in self.asked - {0}:
            self.mail.send(rank, command)
        if 0 in names:
            run_roles(self.mail.comm, command, partial(self.said.__setitem__, 0), self._failed)
        while not (faults := self._failed()) and self._owing() and time.monotonic() < end:
            time.sleep(MAIL_SECONDS)
        if owing := self._owing():
            late = Failed(f"did not finish within {command.seconds:g} s")
            faults = faults or {min(owing): late}
            self._give_up()
        for rank, said in faults.items():
            raise failed(f"rank {rank} ({names[rank]})", said)
        return outcomes_by_name(
            command, {rank: said for rank, said in self.said.items() if isinstance(said, Done)}
        )

    def _give_up(self) -> None:
        """Have the ranks end a launch that failed."""
        for rank in self._owing() - {0}:
            self.mail.send(rank, NoMore(), CANCEL)
        end = time.monotonic() + GRACE_SECONDS
        while self._owing() and time.monotonic() < end:
            time.sleep(MAIL_SECONDS)
            self._failed()
        if owing := self._owing():
            self.world.broken = f"rank {min(owing)} did not end a launch that failed"

    def _owing(self) -> set[int]:
        return self.asked - self.said.keys()

    def _failed(self) -> dict[int, Failed]:
        """Note what the other ranks have said; return which have failed, in order of time."""
        for rank in sorted(self._owing() - {0}):
            if answer := self.mail.take(rank, Answer):
                self.said[rank] = answer
        return {rank: said for rank, said in self.said.items() if isinstance(said, Failed)}
