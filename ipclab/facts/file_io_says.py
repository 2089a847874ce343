"""The sentences of the file-reading study whose direction the data decide."""

from collections.abc import Iterator, Sequence

from ipclab.facts.comparisons import Contest
from ipclab.facts.fact import Fact
from ipclab.facts.file_io_found import FAR, Found, contest, of, pair_of
from ipclab.facts.named import chosen
from ipclab.points import Level
from ipclab.report.catalogue import N_
from ipclab.stats.compare import EQUIVALENCE
from ipclab.stats.intervals import Estimate, ratio
from ipclab.studies.file_io import OP, TASK
from ipclab.studies.file_io.experiments import CACHES, COLD, WARM, sized, split

SERIAL = (
    N_("One thread that reads for the others takes less time than threads that each read and compute in turn."),
    N_("Threads that each read and compute in turn take less time than one thread that reads for the others."),
    N_("Whether one thread should read for the others is undecided in this run."),
)
GROWTH = (
    N_("The share of time that it saves grows with the files."),
    N_("The share of time that it saves shrinks with larger files."),
    N_("Whether the share of time that it saves grows with the files is undecided in this run."),
)
TOUCH = (
    N_("The read call of a large file makes the pages of its buffer: with pages made before, it is shorter."),
    N_("The read call of a large file is no shorter with pages made before."),
    N_("What the read call of a large file costs by its buffer is undecided in this run."),
)
MAP = {
    ("small", COLD): (
        N_("Small files that are not in memory: reading beats mapping."),
        N_("Small files that are not in memory: mapping beats reading."),
        N_("Small files that are not in memory: whether to read or to map is undecided in this run."),
    ),
    ("small", WARM): (
        N_("Small files that are in memory: reading beats mapping."),
        N_("Small files that are in memory: mapping beats reading."),
        N_("Small files that are in memory: whether to read or to map is undecided in this run."),
    ),
    ("large", COLD): (
        N_("Large files that are not in memory: reading beats mapping."),
        N_("Large files that are not in memory: mapping beats reading."),
        N_("Large files that are not in memory: whether to read or to map is undecided in this run."),
    ),
    ("large", WARM): (
        N_("Large files that are in memory: reading beats mapping."),
        N_("Large files that are in memory: mapping beats reading."),
        N_("Large files that are in memory: whether to read or to map is undecided in this run."),
    ),
}
ROLES = (
    N_("Reserving half of the threads for computing makes it slower than letting all read first."),
    N_("Reserving half of the threads for computing makes it faster than letting all read first."),
    N_("Whether threads that only compute help is undecided in this run."),
)
THREADS = (
    N_("For large files more threads than cores cost time."),
    N_("For large files more threads than cores save time."),
    N_("For large files more threads than cores make no difference that this run shows."),
)
SETS = {"small": "exp-small", "large": "exp-large"}


def says(run: Found, contests: Sequence[Contest]) -> Iterator[Fact]:
    """Yield the sentences that intervals support; what they do not support is said to be undecided."""
    pair = pair_of(run, "base", COLD, run.sweeps.reference)
    yield chosen("file_io.says.serial", of(ratio, *pair), 1.0, SERIAL)
    big = pair_of(run, "big", COLD, run.sweeps.reference)
    yield chosen("file_io.says.growth", of(ratio, of(ratio, *big), of(ratio, *pair)), 1.0, GROWTH)
    yield chosen("file_io.says.touch", _touch(run), 1.0 + EQUIVALENCE, TOUCH)
    for (kind, cache), sentences in MAP.items():
        yield chosen(f"file_io.says.map.{kind}.{cache}", _mapped(run, kind, cache), 1.0, sentences)
    some = 2 * run.cores
    mixes = (split(some, some // 2), f"{some}RnC") if run.cores else ("", "")
    pair = _two(run, mixes)
    yield chosen("file_io.says.roles", of(ratio, *pair), 1.0, ROLES)
    soon = (
        run.get(OP, arm="soon", backend="overlapped", set="exp-large", cache=COLD, threads=count * run.cores)
        for count in (4, 1)
    )
    yield chosen("file_io.says.threads", of(ratio, *soon), 1.0, THREADS)
    for cache in CACHES:
        each = contest(contests, f"arm=roles set=exp-small cache={cache}")
        share = each.detectable() if each else None
        yield Fact(f"file_io.choice.roles.{cache}.detectable", share, "share", source="run")


def _two(run: Found, mixes: tuple[str, str]) -> tuple[Estimate | None, Estimate | None]:
    first, second = (run.get(OP, arm="roles", backend="overlapped", cache=COLD, roles=mix) for mix in mixes)
    return first, second


def _touch(run: Found) -> Estimate | None:
    where = {"arm": "call", "backend": "overlapped", "cache": COLD, "set": sized(FAR)}
    return of(ratio, *(run.get(f"{TASK}submit", buffer=buffer, **where) for buffer in ("fresh", "prefaulted")))


def _mapped(run: Found, kind: str, cache: str) -> Estimate | None:
    """Return the best map over the best read, each with the number of threads that suits it."""
    best = []
    for backends in (("mmap",), ("overlapped", "sync")):
        direct = "yes" if cache == COLD and backends != ("mmap",) else "no"
        where: dict[str, Level] = {"set": SETS[kind], "cache": cache, "direct": direct, "advice": "none"}
        rows = [row for backend in backends for row in run.rows.all(OP, arm="map", backend=backend, **where)]
        best.append(min((row.estimate for row in rows), key=lambda each: each.value, default=None))
    return of(ratio, *best)
