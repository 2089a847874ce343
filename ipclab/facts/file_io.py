"""Named facts of the file-reading study, for its sentences, figures and claims."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

from ipclab.facts.comparisons import Contest
from ipclab.facts.fact import Fact
from ipclab.facts.file_io_found import (
    BUFFERS,
    CASES,
    FACTORS,
    FAR,
    KINDS,
    NEAR,
    PAGE,
    PUBLISHED_THREADS,
    SHORTS,
    STATES,
    STUDY,
    Found,
    contest,
    found,
    gain,
    of,
    pair_of,
)
from ipclab.facts.file_io_says import says
from ipclab.facts.named import computed, measured
from ipclab.facts.rows import Rows
from ipclab.points import Level
from ipclab.stats.intervals import Estimate, difference, ratio, scale, total
from ipclab.studies.file_io import OP, READS_END, TASK
from ipclab.studies.file_io.experiments import CACHES, COLD, MOST_IN_FLIGHT, SMALL_ROUNDS, file_sets, sized, split

HALVES = ("half", "rnc")
# The contests that the rule of thumb rests on, by the levels that their points share.
CHOICES = {
    **{f"roles.{cache}": f"arm=roles set=exp-small cache={cache}" for cache in CACHES},
    **{
        f"soon.{kind}.{cache}": f"arm=soon set={name} cache={cache}" for kind, name in KINDS.items() for cache in CACHES
    },
    **{f"map.{kind}.{cache}": f"arm=map set={name} cache={cache}" for kind, name in KINDS.items() for cache in CACHES},
    **{f"massive.{cache}": f"arm=massive set=massive cache={cache}" for cache in CACHES},
    **{f"general.{cache}": f"arm=general set=general cache={cache}" for cache in CACHES},
}


def facts(rows: Rows, contests: Sequence[Contest], about: Mapping[str, Any]) -> Iterator[Fact]:
    """Yield the facts of the file-reading study; what was not measured has no value."""
    run = found(rows, about)
    yield from _sets(run, about.get("notes", {}).get(STUDY, {}))
    yield from _overlap(run)
    yield from _serial(run)
    yield from _calls(run)
    yield from _soon(run)
    yield from _roles(run)
    yield from _maps(run)
    yield from _faults(run)
    yield from _many(run)
    yield from _choice(contests)
    yield from says(run, contests)


def _sets(run: Found, noted: Mapping[str, Any]) -> Iterator[Fact]:
    yield Fact("file_io.cores", run.cores or None, "count", source="run")
    yield computed("file_io.in_flight", MOST_IN_FLIGHT, "count")
    yield computed("file_io.rounds", SMALL_ROUNDS, "count")
    some = run.cores or None
    for name, factor in FACTORS.items():
        yield computed(f"file_io.threads.{name}", some and some * factor, "count")
    yield computed("file_io.threads.reference", run.sweeps.reference if some else None, "count")
    made = noted.get("sets", {})
    for name in file_sets("full"):
        each = made.get(name, {})
        yield Fact(f"file_io.set.{name}.files", each.get("count"), "count", source="run")
        yield Fact(f"file_io.set.{name}.bytes", each.get("bytes"), "B", source="run")
        yield Fact(f"file_io.set.{name}.digest", each.get("digest"), "text", source="run")
    each = [value["bytes"] for value in made.values()]
    yield Fact("file_io.sets.bytes", sum(each) if each else None, "B", source="run")


def _overlap(run: Found) -> Iterator[Fact]:
    deep = max((int(row.point.levels["depth"]) for row in run.rows.all(OP, arm="overlap")), default=1)
    yield computed("file_io.overlap.deepest", deep if deep > 1 else None, "count")
    for cache in CACHES:
        where: dict[str, Level] = {"arm": "overlap", "cache": cache}
        one, many = (run.get(OP, backend="overlapped", depth=depth, **where) for depth in (1, deep))
        many = many if deep > 1 else None
        yield measured(f"file_io.overlap.{cache}.one", one, "ns")
        yield measured(f"file_io.overlap.{cache}.many", many, "ns")
        yield measured(f"file_io.overlap.{cache}.serial", run.get(OP, backend="sync", **where), "ns")
        yield measured(f"file_io.overlap.{cache}.ratio", of(ratio, many, one), "1")
        row = run.row(OP, "bandwidth", backend="overlapped", depth=deep, **where)
        yield measured(f"file_io.overlap.{cache}.bandwidth", row.estimate if row and many else None, "B/s")
        if cache == COLD:
            call = run.get(f"{TASK}submit", backend="overlapped", depth=1, **where)
            yield measured("file_io.overlap.call", call, "ns")
            files = file_sets(run.profile)["large"].count
            pure = of(difference, one, scale(call, files) if call else None)
            yield measured("file_io.overlap.read_ratio", of(ratio, many, pure), "1")
    latencies = run.rows.all(f"{TASK}latency", arm="overlap", backend="overlapped", cache=COLD)
    steps = sorted(latencies, key=lambda row: int(row.point.levels["depth"]))
    for name, place in (("one", 0), ("many", -1)):
        yield measured(f"file_io.overlap.latency.{name}", steps[place].estimate if steps else None, "ns")
    ratios = [ratio(b.estimate, a.estimate) for a, b in pairwise(steps)]
    yield measured("file_io.overlap.latency.least_step", min(ratios, key=lambda each: each.value, default=None), "1")


def _serial(run: Found) -> Iterator[Fact]:
    for case, cache in product(CASES, CACHES):
        pair = pair_of(run, case, cache, run.sweeps.reference)
        for name, each in zip(("sync", "overlapped"), pair, strict=True):
            yield measured(f"file_io.serial.{case}.{cache}.{name}", each, "ns")
        yield measured(f"file_io.serial.{case}.{cache}.ratio", of(ratio, *pair[::-1]), "1")
        yield measured(f"file_io.serial.{case}.{cache}.gain", of(gain, *pair), "share")
    pinned = pair_of(run, "base", COLD, run.sweeps.reference, placement="cross")
    yield measured("file_io.serial.pinned.ratio", of(ratio, *pinned[::-1]), "1")
    gains = [of(gain, *pair_of(run, case, COLD, run.sweeps.reference)) for case in ("base", "big")]
    yield measured("file_io.serial.growth", of(lambda base, big: difference(big, base), *gains), "share")
    over = {count: of(gain, *pair_of(run, "longest", COLD, count)) for count in PUBLISHED_THREADS}
    for count in PUBLISHED_THREADS[1:]:
        step = of(lambda less, more: difference(more, less), over[count - 1], over[count])
        yield measured(f"file_io.serial.step.{count}", step, "share")
    for state in STATES:
        shares = pair_of(run, "base", COLD, run.sweeps.reference, metric=f"{state}_share")
        for name, each in zip(("sync", "overlapped"), shares, strict=True):
            yield measured(f"file_io.states.{name}.{state}", each, "share")
        yield measured(f"file_io.states.{state}.more", of(lambda a, b: difference(b, a), *shares), "share")


def _calls(run: Found) -> Iterator[Fact]:
    def call(size: int, buffer: str, op: str = "submit") -> Estimate | None:
        where: dict[str, Level] = {"arm": "call", "backend": "overlapped", "cache": COLD, "set": sized(size)}
        return run.get(f"{TASK}{op}", buffer=buffer, **where)

    for (name, size), buffer in product(SHORTS.items(), BUFFERS):
        yield measured(f"file_io.call.{name}.{buffer}", call(size, buffer), "ns")
    for name, size in SHORTS.items():
        yield measured(f"file_io.call.{name}.open", call(size, "fresh", "open"), "ns")
    yield measured("file_io.call.linear", of(ratio, call(FAR, "fresh"), call(NEAR, "fresh")), "1")
    yield measured("file_io.call.open_growth", of(ratio, *(call(each, "fresh", "open") for each in (FAR, PAGE))), "1")
    for buffer in BUFFERS[1:]:
        yield measured(f"file_io.call.first_touch.{buffer}", of(ratio, call(FAR, "fresh"), call(FAR, buffer)), "1")
    deepest = [row.point for row in run.rows.all(OP, arm="flight", depth=256)]
    ends = sorted(deepest, key=lambda point: int(point.levels["threads"]))
    tails: list[Estimate | None] = []
    for name, place in (("one", 0), ("many", -1)):
        levels: dict[str, Level] = {"roles": ends[place].levels["roles"]} if ends else {"roles": ""}
        where: dict[str, Level] = {"arm": "flight", "backend": "overlapped", "cache": COLD, "depth": 256, **levels}
        for metric in ("p50", "p99", "max"):
            each = run.get(f"{TASK}submit", metric, **where)
            yield measured(f"file_io.flight.{name}.{metric}", each, "ns")
            tails += [each] if metric == "p99" else []
        threads = int(ends[place].levels["threads"]) if ends else None
        yield computed(f"file_io.flight.{name}.threads", threads, "count")
    yield measured("file_io.flight.growth", of(ratio, *tails[::-1]), "1")


def _soon(run: Found) -> Iterator[Fact]:
    for (kind, name), cache in product(KINDS.items(), CACHES):

        def soon(threads: int, op: str = OP, name: str = name, cache: str = cache) -> Estimate | None:
            return run.get(op, arm="soon", backend="overlapped", set=name, cache=cache, threads=threads)

        counts = {factor: run.sweeps.times(times) for factor, times in FACTORS.items()}
        for factor, count in counts.items():
            yield measured(f"file_io.soon.{kind}.{cache}.{factor}", soon(count), "ns")
            yield measured(f"file_io.soon.{kind}.{cache}.{factor}.read_end", soon(count, READS_END), "ns")
        yield measured(f"file_io.soon.{kind}.{cache}.more", of(ratio, *(soon(counts[x]) for x in ("x1", "x4"))), "1")
        for factor, count in counts.items():
            yield measured(f"file_io.soon.{kind}.{cache}.{factor}.over_one", of(ratio, soon(count), soon(1)), "1")
        for less, more in ((4, 16), (16, 32)):
            there = run.sweeps.fits(more)
            faster = of(ratio, soon(less), soon(more)) if there else None
            yield measured(f"file_io.soon.{kind}.{cache}.{less}-{more}", faster, "1")


def _roles(run: Found) -> Iterator[Fact]:
    for factor in ("x2", "x4"):
        some = run.sweeps.times(FACTORS[factor]) if run.cores else 0
        mixes = {"rnc": f"{some}RnC", "cnr": f"{some}CnR"} if some else {}
        if some > 1:
            mixes |= {"half": split(some, some // 2), "quarter": split(some, some // 4)}
            mixes |= {"most": split(some, 3 * some // 4), "readers": split(some, some // 2, "R")}
            mixes |= {"one": split(some, 1, "R")}
        for name in ("rnc", "cnr", "half", "quarter", "most", "readers", "one"):
            where: dict[str, Level] = {"arm": "roles", "backend": "overlapped", "cache": COLD}
            where["roles"] = mixes.get(name, "")
            yield measured(f"file_io.roles.{factor}.{name}", run.get(OP, **where), "ns")
            yield Fact(f"file_io.roles.{factor}.{name}.mix", mixes.get(name), "text", kind="computed")
        pair = [
            run.get(OP, arm="roles", backend="overlapped", cache=COLD, roles=mixes.get(name, "")) for name in HALVES
        ]
        yield measured(f"file_io.roles.{factor}.mixed_over_rnc", of(ratio, *pair), "1")


def _maps(run: Found) -> Iterator[Fact]:
    for (kind, name), cache in product(KINDS.items(), CACHES):
        best = {}
        for backend in ("mmap", "overlapped", "sync"):
            direct = "yes" if cache == COLD and backend != "mmap" else "no"
            where: dict[str, Level] = {"arm": "map", "set": name, "cache": cache, "direct": direct, "advice": "none"}
            every = [row.estimate for row in run.rows.all(OP, backend=backend, **where)]
            best[backend] = min(every, key=lambda each: each.value, default=None)
            yield measured(f"file_io.map.{kind}.{cache}.{backend}", best[backend], "ns")
        yield measured(f"file_io.map.{kind}.{cache}.ratio", of(ratio, best["mmap"], best["overlapped"]), "1")
        yield measured(f"file_io.map.{kind}.{cache}.over_sync", of(ratio, best["mmap"], best["sync"]), "1")
    for kind, name in KINDS.items():
        where = {"arm": "map", "backend": "sync", "set": name, "cache": COLD, "direct": "no"}
        cached = run.get(OP, **where)
        mapped = run.get(OP, arm="map", backend="mmap", set=name, cache=COLD, threads=2 * run.cores)
        yield measured(f"file_io.map.{kind}.through_cache", of(ratio, mapped, cached), "1")


def _faults(run: Found) -> Iterator[Fact]:
    for (name, size), cache in product(SHORTS.items(), CACHES):
        where: dict[str, Level] = {"arm": "fault", "set": sized(size), "cache": cache}
        fault, work = (run.get(f"{TASK}{op}", backend="mmap", **where) for op in ("fault", "compute"))
        read = run.get(f"{TASK}read", backend="sync", **where)
        yield measured(f"file_io.fault.{name}.{cache}", fault, "ns")
        yield measured(f"file_io.fault.{name}.{cache}.read", read, "ns")
        yield measured(f"file_io.fault.{name}.{cache}.over_read", of(ratio, fault, read), "1")
        share = of(lambda part, rest: ratio(part, total([part, rest])), fault, work)
        yield measured(f"file_io.fault.{name}.{cache}.share", share, "share")
    where = {"arm": "fault", "backend": "mmap", "set": sized(FAR), "cache": COLD}
    both = [run.get(OP, name, **where) for name in ("minor_faults", "major_faults")]
    count = of(lambda *parts: total(parts), *both)
    whole = file_sets(run.profile)[sized(FAR)].bytes if sized(FAR) in file_sets(run.profile) else 0
    step = whole / count.value if count and count.value else None
    yield Fact("file_io.fault.step", step and round(step), "B", source="run")


def _many(run: Found) -> Iterator[Fact]:
    for arm in ("massive", "general"):
        for cache in CACHES:
            best = {}
            for backend in ("mmap", "overlapped"):
                every = run.rows.all(OP, arm=arm, backend=backend, cache=cache)
                best[backend] = min(every, key=lambda row: row.estimate.value, default=None)
                row = best[backend]
                yield measured(f"file_io.{arm}.{cache}.{backend}", row.estimate if row else None, "ns")
                mix = str(row.point.levels["roles"]) if row else None
                yield Fact(f"file_io.{arm}.{cache}.{backend}.mix", mix, "text", source="run")
            pair = [row.estimate if row else None for row in best.values()]
            yield measured(f"file_io.{arm}.{cache}.ratio", of(ratio, *pair), "1")
        facts = [("peak_rss_bytes", "B"), ("max_open_files", "count")]
        for name, unit in facts:
            most = [row.estimate.value for row in run.rows.all("launch", name, arm=arm)]
            yield Fact(f"file_io.{arm}.{name}", max(most, default=None), unit, source="run")
    some = 2 * run.cores
    mixes = [f"{some}RnC", split(some, some // 2)] if some > 1 else ["", ""]
    pair = [run.get(OP, arm="massive", backend="overlapped", cache=COLD, roles=mix) for mix in mixes]
    yield measured("file_io.massive.rnc_over_mixed", of(ratio, *pair), "1")


def _choice(contests: Sequence[Contest]) -> Iterator[Fact]:
    """Yield the fastest of each contest that the rule of thumb rests on, with all not shown to be slower."""
    for name, question in CHOICES.items():
        each = contest(contests, question)
        yield Fact(f"file_io.choice.{name}", ", ".join(each.tied()) if each else None, "text", source="run")
