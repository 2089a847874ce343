"""The processes of a planted fault: who keeps the victim, what the victim does, a new beginning."""

import signal
import time
from contextlib import closing
from functools import partial
from time import perf_counter_ns as clock
from typing import Any

from ipclab.spawn.proof import PayloadError
from ipclab.spawn.worker import Worker
from ipclab.studies.joining import WAIT_NS
from ipclab_more.studies.faults import plan as plans
from ipclab_more.studies.faults.effects import WELL, attempt_outcome, left
from ipclab_more.studies.faults.plan import FIRST, LAST, Content, FaultPlan, agreed
from ipclab_more.studies.faults.survivors import Survivor
from ipclab_more.studies.faults.victim import DONE, LATEST, OVER, READY, WRONG, Victim
from ipclab_more.studies.stream.base import keep_times
from ipclab_more.studies.stream.connection import PRODUCER


def run_fault(worker: Worker, **levels: Any) -> None:
    """Be one process of a launch in which the fault of the plan is planted."""
    plan = FaultPlan(**levels)
    worker.outcome.facts["deadline_ns"] = plan.deadline_ns
    content = agreed(worker, plan.size)
    hit = worker.role == (PRODUCER if plan.writes else FIRST)
    if hit:
        _plant(worker, plan, content)
    else:
        with closing(plan.joined(worker)) as way:
            Survivor(worker, plan, way, content).live()
    worker.meet()
    if hit:
        worker.outcome.counters[plans.LEFT] = left(worker.prefix, worker.folder)
    if plan.kills:
        begin_anew(worker, plan, content)


def _plant(worker: Worker, plan: FaultPlan, content: Content) -> None:
    """Hit the victim as planned; say when that was, and how many messages it has done."""
    victim = Victim(partial(_work, worker, plan, content))
    chance = plan.chance(worker)
    if plan.kills:
        at = victim.hit(signal.SIGKILL, chance)
    elif plan.fault == "slow-reading":
        at = clock()
        time.sleep(plan.lasts_ns / 1e9)
    else:
        at = victim.hit(signal.SIGSTOP, chance, plan.lasts_ns)
    victim.end()
    if not plan.kills:
        worker.outcome.counters["victim"] = {"failed": float(victim.tally[WRONG])}
    worker.meet(at=at, done=victim.tally[DONE])


def _work(worker: Worker, plan: FaultPlan, content: Content, tally: memoryview) -> None:
    """Be the victim: hand over or take message after message, to the last where that comes."""

    def send() -> None:
        over = tally[OVER]
        way.tell(content.whole(LAST if over else tally[DONE]))
        if over:
            raise StopIteration
        tally[DONE] += 1
        if not plan.kills:
            time.sleep(plans.PACE)

    def receive() -> None:
        if content.number_of(way.recv(WAIT_NS)) == LAST:
            raise StopIteration
        tally[DONE] += 1
        if plan.fault == "slow-reading" and not tally[OVER]:
            time.sleep(plans.SLOW)

    with closing(plan.joined(worker)) as way:
        if plan.fault == "killed-idle":
            send()
            time.sleep(LATEST)  # whatever sends it has the time to
        tally[READY] = 1
        while plan.fault == "killed-idle":
            time.sleep(1)
        if attempt_outcome(send if plan.writes else receive)[0] != WELL:
            tally[WRONG] = 1
            way.close()  # before the others are met, who may wait for it
        worker.meet()


def begin_anew(worker: Worker, plan: FaultPlan, content: Content) -> None:
    """Begin anew with a new peer, which runs already; keep the time to its first message."""
    begun = clock()
    with closing(plan.joined(worker, "again-")) as way:
        if worker.role == PRODUCER:
            way.tell(content.whole(plans.ANEW))
        elif content.number_of(way.recv(WAIT_NS)) != plans.ANEW:
            raise PayloadError("the first message of the new peer arrived wrong")
        meeting = worker.meet(at=clock())
    if worker.role == FIRST:
        keep_times(worker, plans.RECOVERED, meeting[FIRST]["at"] - begun)
