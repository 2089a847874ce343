"""The tables of the file-reading study: what was read, and the sweeps of the text's first half."""

from collections.abc import Sequence

from ipclab.facts.file_io_found import BUFFERS, CASES, STUDY, Found, found, pair_of
from ipclab.facts.rows import Row
from ipclab.points import Level
from ipclab.report.catalogue import N_
from ipclab.report.table import Column, Table
from ipclab.studies.file_io import KIB, MIB, OP, READS_END, TASK
from ipclab.studies.file_io.experiments import CACHES, COLD, file_sets, sized
from ipclab.view import View

DASH = "–"
CACHE_NAMES = {"cold": N_("cold"), "warm": N_("warm")}
WAY_NAMES = {"sync": N_("read, serial"), "overlapped": N_("read, overlapped"), "mmap": N_("map")}
DISTRIBUTION_NAMES = {
    "identical": N_("all alike"),
    "normal": N_("normal, standard deviation {sd}"),
    "exponential": N_("exponential, mean {mean}"),
    "geometric": N_("geometric series"),
}
STATE_NAMES = {
    "execution": N_("executing"),
    "io_wait": N_("waiting for the disk"),
    "work_wait": N_("waiting for work"),
    "preempted": N_("waiting for a CPU"),
}
BUFFER_NAMES = {"fresh": N_("fresh"), "prefaulted": N_("touched before"), "registered": N_("registered")}
CASE_NAMES = {
    "base": N_("as published"),
    "big": N_("ten times as large"),
    "long": N_("longer work"),
    "longest": N_("longest work"),
}
KIND_NAMES = {"exp-large": N_("large files"), "exp-small": N_("small files")}
SAID_SIZES = (512 * MIB, 128 * MIB, 32 * MIB, 8 * MIB, MIB, 256 * KIB, 64 * KIB, 16 * KIB, 4 * KIB, KIB, 512)
DIGEST_DIGITS = 16


def said(view: View, label: str, quantity: str = "elapsed", spec: str = "") -> str:
    """Return what the text says of `label`, or a dash."""
    name = f"text.file_io.said.{label.replace('+', '-')}.{quantity}"
    return view.fact(name, spec) if name in view.facts else DASH


def of_run(view: View) -> Found:
    """Return the study's rows of the run."""
    return found(view.rows, view.about)


def right(first: Sequence[str], rest: Sequence[str]) -> list[Column]:
    """Return columns of words, then columns of numbers."""
    return [*map(Column, first), *(Column(head, "right") for head in rest)]


def sets(view: View) -> Table:
    """Return the file sets of the run: how many files of what sizes, and the digest of their contents."""
    _ = view.say
    rows = []
    made = view.about.get("notes", {}).get(STUDY, {}).get("sets", {})
    for name, each in ((name, made[name]) for name in file_sets("full") if name in made):
        size = each["size"]
        shape = _(
            DISTRIBUTION_NAMES[size["distribution"]],
            sd=view.value(size["sd"], "B", "scaled"),
            mean=view.value(size["mean"], "B", "scaled"),
        )
        ends = [view.value(size[end], "B") for end in ("low", "high")]
        span = ends[0] if ends[0] == ends[1] else _(N_("{low} to {high}"), low=ends[0], high=ends[1])
        row = [name, view.value(each["count"], "count"), view.value(each["bytes"], "B", "MiB"), shape, span]
        rows.append([*row, each["digest"][:DIGEST_DIGITS]])
    heads = [_("Set"), _("Files"), _("In all"), _("Sizes"), _("Between"), _("Digest")]
    note = _("The contents cannot be compressed and follow from the seed alone: every run reads the same bytes.")
    return Table(_("File sets"), [Column(head) for head in heads], rows, [note])


def overlap(view: View) -> Table:
    """Return large files one after the other against several in flight, cold and warm."""
    _ = view.say
    run, rows = of_run(view), []
    points = [row.point for row in run.rows.all(OP, arm="overlap")]
    order = sorted(points, key=lambda point: (point.levels["cache"], point.backend, int(point.levels["depth"])))
    deepest = max((int(point.levels["depth"]) for point in points), default=0)
    for point in order:
        depth, cold = int(point.levels["depth"]), point.levels["cache"] == COLD
        where: dict[str, Level] = {"arm": "overlap", "backend": point.backend, "cache": point.levels["cache"]}
        where["depth"] = depth
        cells = [view.cell(run.row(OP, **where))]
        cells += [view.cell(run.row(f"{TASK}{op}", **where), "") for op in ("submit", "latency")]
        cells.append(view.cell(run.row(OP, "bandwidth", **where), ""))
        label = "overlapped" if depth == deepest else "serial" if depth == 1 else ""
        text = said(view, f"overlap.{label}", spec="ms") if cold and point.backend == "overlapped" else DASH
        way = _(WAY_NAMES[point.backend])
        rows.append([_(CACHE_NAMES[str(point.levels["cache"])]), way, view.value(depth, "count"), *cells, text])
    heads = [_("In flight"), _("Elapsed"), _("Read call"), _("Latency of a file"), _("Bandwidth"), _("Published")]
    note = _(
        "The text read {text.file_io.said.overlap.files} files of {text.file_io.said.overlap.bytes:GiB,int} in all."
    )
    return Table(
        _("Large files, one after the other and overlapped"), right([_("Cache"), _("Way")], heads), rows, [note]
    )


def serial(view: View) -> Table:
    """Return threads that each read and compute against one that reads for the others."""
    _ = view.say
    run, rows = of_run(view), []
    keys = {
        (case, cache, int(row.point.levels["threads"]))
        for case, (name, draw) in CASES.items()
        for row in run.rows.all(OP, arm="serial", set=name, compute_ns=draw.mean)
        for cache in [str(row.point.levels["cache"])]
    }
    for case, cache, count in sorted(keys, key=lambda key: (list(CASES).index(key[0]), key[1], key[2])):
        _name, draw = CASES[case]
        pair = pair_of(run, case, cache, count)
        cells = [view.cell(_row(run, case, cache, count, backend)) for backend in ("sync", "overlapped")]
        saved = 1 - pair[1].value / pair[0].value if pair[0] and pair[1] else None
        cells.append(DASH if saved is None else view.value(saved, "share"))
        texts = [said(view, f"serial.{case}.{count}SYNC", spec="ms"), said(view, f"serial.{case}.1R+{count - 1}C")]
        texts = texts if cache == COLD else [DASH, DASH]
        where = [_(CASE_NAMES[case]), view.value(draw.mean, "ns"), view.value(count, "count"), _(CACHE_NAMES[cache])]
        rows.append([*where, *cells, *texts])
    words = [_("Files"), _("Mean work"), _("Threads"), _("Cache")]
    heads = [_("Each reads and computes"), _("One reads, others compute"), _("Saved"), _("Published, each")]
    heads.append(_("Published, one reads"))
    notes = [
        _("The text gives no figure for its longest work; here it is {longest}.", longest=_longest(view)),
        _("Threads pinned to CPUs, as published: {file_io.serial.pinned.ratio:x,interval} as long with one reader."),
    ]
    return Table(_("Serial reading against one reading thread"), right(words, heads), rows, notes)


def _longest(view: View) -> str:
    return view.value(CASES["longest"][1].mean, "ns")


def _row(run: Found, case: str, cache: str, count: int, backend: str) -> Row | None:
    name, draw = CASES[case]
    where: dict[str, Level] = {"arm": "serial", "set": name, "compute_ns": draw.mean, "threads": count}
    return run.row(OP, backend=backend, cache=cache, **where)


def states(view: View) -> Table:
    """Return what the threads of the comparison did with their time, beside the text's own accounting."""
    _ = view.say
    run, rows = of_run(view), []
    count = run.sweeps.reference
    for cache in CACHES:
        for backend, mix in (("sync", f"{count}SYNC"), ("overlapped", f"1R+{count - 1}C")):
            where: dict[str, Level] = {"arm": "serial", "set": "mixed", "compute_ns": CASES["base"][1].mean}
            where |= {"threads": count, "backend": backend, "cache": cache}
            cells = [view.cell(run.row(OP, f"{state}_share", **where)) for state in STATE_NAMES]
            rows.append([_(CACHE_NAMES[cache]), mix, *cells])
    for mix in ("4SYNC", "1R+3C"):
        rows.append([_("published"), mix, *(said(view, f"serial.base.{mix}", state) for state in STATE_NAMES)])
    heads = [_(name) for name in STATE_NAMES.values()]
    note = _("Shares of all threads' time, medians. A thread that is ready but has no CPU waits for one.")
    return Table(_("What the threads do with their time"), right([_("Cache"), _("Roles")], heads), rows, [note])


def calls(view: View) -> Table:
    """Return what opening and the read call cost over file size, by the state of the buffer."""
    _ = view.say
    run, rows = of_run(view), []
    here = {each.size.mean for name, each in file_sets(run.profile).items() if name.startswith("size-")}
    for size in sorted({*here, *SAID_SIZES}):
        texts = [said(view, f"call.{size}", quantity, "us") for quantity in ("open", "call")]
        where: dict[str, Level] = {"arm": "call", "backend": "overlapped", "cache": COLD, "set": sized(size)}
        cells = [view.cell(run.row(f"{TASK}open", buffer="fresh", **where), "")]
        cells += [view.cell(run.row(f"{TASK}submit", buffer=buffer, **where)) for buffer in BUFFERS]
        kept: dict[str, Level] = {"arm": "call", "backend": "sync", "cache": "warm", "set": sized(size)}
        cells += [view.cell(run.row(f"{TASK}read", buffer=buffer, **kept), "") for buffer in BUFFERS[:2]]
        rows.append([view.value(size, "B"), *texts, *cells])
    heads = [_("Open, published"), _("Read call, published"), _("Open")]
    heads += [_("Read call, buffer {buffer}", buffer=_(BUFFER_NAMES[name])) for name in BUFFERS]
    heads += [_("Cached read, buffer {buffer}", buffer=_(BUFFER_NAMES[name])) for name in BUFFERS[:2]]
    note = _(
        "The read call only starts the read, past the cache; a cached read copies. Medians over files and launches."
    )
    return Table(_("Opening and the read call over file size"), right([_("File")], heads), rows, [note])


def flight(view: View) -> Table:
    """Return what the read call costs over calls in flight and threads."""
    _ = view.say
    run, rows = of_run(view), []
    found_rows = run.rows.all(f"{TASK}submit", arm="flight")
    for row in sorted(found_rows, key=lambda row: (int(row.point.levels["threads"]), int(row.point.levels["depth"]))):
        where = {name: value for name, value in row.point.key().items() if name != "size_bytes"}
        tails = [run.rows.find(f"{TASK}submit", metric, **where) for metric in ("p99", "max")]
        opened = run.rows.find(f"{TASK}open", **where)
        texts = [said(view, f"flight.{where['roles']}", f"call_{end}", "us") for end in ("first", "last")]
        texts = texts if int(row.point.levels["depth"]) == 256 else [DASH, DASH]  # noqa: PLR2004 - the text had no limit
        levels = [view.value(int(row.point.levels[name]), "count") for name in ("threads", "depth")]
        rows.append([*levels, view.cell(row), *(view.cell(tail, "") for tail in tails), view.cell(opened, ""), *texts])
    heads = [_("Read call"), _("p99"), _("longest"), _("Open"), _("Published, at first"), _("Published, at last")]
    words = [_("Threads"), _("In flight a thread")]
    return Table(_("The read call over calls in flight, files of one page"), right(words, heads), rows)


def soon(view: View) -> Table:
    """Return all read calls as soon as possible, over threads, for large and small files."""
    _ = view.say
    run, rows = of_run(view), []
    for name, kind in KIND_NAMES.items():
        here = {int(row.point.levels["threads"]) for row in run.rows.all(OP, arm="soon", set=name)}
        texts = {
            count for count in (1, 2, 4, 16, 32) if f"text.file_io.said.soon.{name}.{count}RnC.elapsed" in view.facts
        }
        for count in sorted(here | texts):
            where: dict[str, Level] = {"arm": "soon", "backend": "overlapped", "set": name, "threads": count}
            cells = [view.cell(run.row(op, cache=cache, **where)) for cache in CACHES for op in (OP, READS_END)]
            text = [said(view, f"soon.{name}.{count}RnC", quantity, "ms") for quantity in ("elapsed", "read_end")]
            rows.append([_(kind), view.value(count, "count"), *cells, *text])
    heads = [_("Elapsed, cold"), _("Read calls end, cold"), _("Elapsed, warm"), _("Read calls end, warm")]
    heads += [_("Published"), _("Published, read calls end")]
    note = _(
        "Thread counts are multiples of the {file_io.cores} CPUs here; published counts that need more are not run."
    )
    title = _("All read calls as soon as possible, over threads")
    return Table(title, right([_("Files"), _("Threads")], heads), rows, [note])
