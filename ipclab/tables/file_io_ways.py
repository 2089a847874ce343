"""The tables of the file-reading study: roles, maps, many files, the choice, and what the text contradicts."""

from ipclab.facts.comparisons import Contest
from ipclab.facts.file_io import CHOICES
from ipclab.facts.file_io_found import contest
from ipclab.facts.rows import Row
from ipclab.points import Level, Point
from ipclab.report.catalogue import N_
from ipclab.report.table import Column, Table
from ipclab.studies.file_io import KIB, OP, READS_END, TASK
from ipclab.studies.file_io.experiments import CACHES, COLD, file_sets
from ipclab.studies.file_io.roles import threads
from ipclab.tables.file_io import DASH, KIND_NAMES, WAY_NAMES, of_run, right, said
from ipclab.view import View

ADVICE_NAMES = {
    "populate": N_("all pages mapped at once"),
    "sequential": N_("advice: sequential"),
    "random": N_("advice: random"),
    "willneed": N_("advice: will need"),
}
PUBLISHED_MIXES = (
    *("32RnC", "24RnC", "16RnC", "15RnC", "14RnC", "12RnC", "8RnC"),
    *("12RnC+20C", "12RnC+16C", "12RnC+12C", "8RnC+12C"),
)
USES = {
    "roles.cold": N_("small files, work on each: how many read, how many compute"),
    "soon.large.cold": N_("large files: how many threads"),
    "soon.small.cold": N_("small files: how many threads"),
    "soon.small.warm": N_("small files in memory: how many threads"),
    "map.small.cold": N_("small files: read or map"),
    "map.small.warm": N_("small files in memory: read or map"),
    "map.large.cold": N_("large files: read or map"),
    "map.large.warm": N_("large files in memory: read or map"),
    "massive.cold": N_("very many files of one page: read or map"),
    "general.cold": N_("very many files of mixed sizes: read or map"),
    "general.warm": N_("very many files of mixed sizes in memory: read or map"),
}
CONTRADICTIONS = (
    (
        N_("Work of {text.file_io.said.massive.compute_mean:us} on average"),
        N_("{text.file_io.true.compute_mean:us}: its microseconds were divided by {text.file_io.true.divisor}"),
    ),
    (
        N_("Variance of the work: {text.file_io.said.massive.compute_variance:us}"),
        N_("a standard deviation of {text.file_io.true.compute_mean:us}: a variance has no such unit"),
    ),
    (
        N_("{text.file_io.said.massive.files} files of one page: {text.file_io.said.massive.bytes:GiB}"),
        N_("{text.file_io.true.bytes:GiB}"),
    ),
    (
        N_("{text.file_io.true.five} threads: a difference of {text.file_io.said.serial.longest.5.delta:ms}"),
        N_("{text.file_io.true.five_delta:ms} by the sign of the other rows"),
    ),
    (
        N_("Larger files: a greater difference, {text.file_io.said.serial.big.4.delta:ms}"),
        N_("of the time it saves {text.file_io.serial.big.cold.gain}, before {text.file_io.serial.base.cold.gain}"),
    ),
    (
        N_("{text.file_io.said.soon.exp-small.files} small files: {text.file_io.said.soon.exp-small.bytes:MiB} in all"),
        N_("{text.file_io.true.small_bytes:MiB} are to be expected of its parameters"),
    ),
    (
        N_("Pages of {text.file_io.said.fault.page:KiB}"),
        N_("pages of {text.file_io.true.page:KiB}; one fault here brings {file_io.fault.step}"),
    ),
)


def roles(view: View) -> Table:
    """Return how many threads read and how many compute, beside the text's mixes."""
    _ = view.say
    run, rows = of_run(view), []
    here = {str(row.point.levels["roles"]) for row in run.rows.all(OP, arm="roles")}
    for mix in sorted({*here, *PUBLISHED_MIXES}, key=lambda mix: (mix not in here, threads(mix), mix)):
        where: dict[str, Level] = {"arm": "roles", "backend": "overlapped", "roles": mix}
        cells = [view.cell(run.row(READS_END, cache=COLD, **where), "")]
        waits = [run.row(OP, f"{state}_share", cache=COLD, **where) for state in ("io_wait", "work_wait")]
        there = [row.estimate.value for row in waits if row]
        cells.append(view.value(sum(there), "share") if there else DASH)
        cells += [view.cell(run.row(OP, cache=cache, **where)) for cache in CACHES]
        texts = [said(view, f"roles.{mix}", quantity) for quantity in ("read_end", "waiting", "elapsed")]
        rows.append([mix, *cells, *texts])
    heads = [_("Read calls end"), _("Waiting"), _("Elapsed, cold"), _("Elapsed, warm")]
    heads += [_("Published, read calls end"), _("Published, waiting"), _("Published, elapsed")]
    note = _("RnC makes all its read calls first, then computes; C only computes; R only reads; CnR computes first.")
    return Table(_("Roles of threads, small files"), right([_("Roles")], heads), rows, [note])


def maps(view: View) -> Table:
    """Return maps against reading, small and large files, cold and warm, with the advice that a map takes."""
    _ = view.say
    run, rows = of_run(view), []
    for name, kind in KIND_NAMES.items():
        points = [row.point for row in run.rows.all(OP, arm="map", set=name)]
        for backend, mix, extra in sorted({_way(point) for point in points}):
            cells = []
            for cache in CACHES:
                direct = "yes" if cache == COLD and backend != "mmap" and extra != "cached" else "no"
                advice = extra if extra in ADVICE_NAMES else "none"
                wanted: dict[str, Level] = {"arm": "map", "set": name, "backend": backend, "roles": mix}
                cells.append(view.cell(run.row(OP, cache=cache, direct=direct, advice=advice, **wanted)))
            if extra:
                cells[1] = DASH
            how = _(ADVICE_NAMES[extra]) if extra in ADVICE_NAMES else _("through the cache") if extra else ""
            text = DASH if extra else said(view, f"map.{name}.{mix}", spec="ms")
            rows.append([_(kind), _(WAY_NAMES[backend]), mix, how, *cells, text])
        rows += [
            [_(kind), _(WAY_NAMES[backend]), mix, "", DASH, DASH, said(view, f"map.{name}.{mix}", spec="ms")]
            for backend, mix in _published_maps(view, name)
            if (backend, mix, "") not in {_way(point) for point in points}
        ]
    words = [_("Files"), _("Way"), _("Roles"), _("How")]
    notes = [
        _("Each small file is summed {file_io.rounds} times, as published; a large one once."),
        _("The text does not say whether its files were in memory: its reads went past the cache, its maps did not."),
    ]
    heads = [_("Cold"), _("Warm"), _("Published")]
    return Table(_("Maps against reading"), right(words, heads), rows, notes)


def _way(point: Point) -> tuple[str, str, str]:
    levels = point.levels
    cached = point.backend != "mmap" and levels["cache"] == COLD and levels["direct"] == "no"
    extra = "cached" if cached else "" if levels["advice"] == "none" else str(levels["advice"])
    return point.backend, str(levels["roles"]), extra


def _published_maps(view: View, name: str) -> list[tuple[str, str]]:
    mixes = ["12RnC+12C", "9RnC+15C", "8RnC+16C", *(f"{count}RnC" for count in (4, 8, 16, 24))]
    found = [("overlapped", mix) for mix in mixes] + [("mmap", f"{count}SYNC") for count in (8, 16, 24, 32)]
    return [(backend, mix) for backend, mix in found if said(view, f"map.{name}.{mix}") != DASH]


def faults(view: View) -> Table:
    """Return how much of a map's time its page faults take over file size, beside reading the same file."""
    _ = view.say
    run, rows = of_run(view), []
    there = file_sets(run.profile).items()
    sizes = {each.size.mean: name for name, each in there if name.startswith("size-") and each.size.mean >= 4 * KIB}
    for size, name in sorted(sizes.items()):
        where: dict[str, Level] = {"arm": "fault", "set": name}
        cells = []
        for cache in CACHES:
            fault, work = (run.get(f"{TASK}{op}", backend="mmap", cache=cache, **where) for op in ("fault", "compute"))
            share = fault.value / (fault.value + work.value) if fault and work else None
            cells += [DASH if share is None else view.value(share, "share")]
            cells += [view.cell(run.row(f"{TASK}fault", backend="mmap", cache=cache, **where), "")]
            cells += [view.cell(run.row(f"{TASK}read", backend="sync", cache=cache, **where), "")]
        rows.append([view.value(size, "B"), *cells, said(view, f"fault.{size}", "share")])
    heads = [_("Faults' share, cold"), _("Faults, cold"), _("Read, cold"), _("Faults' share, warm"), _("Faults, warm")]
    heads += [_("Read, warm"), _("Published share")]
    note = _("One thread; the share is that of the faults in the faults and one sum over the file.")
    return Table(_("Page faults over file size"), right([_("File")], heads), rows, [note])


def massive(view: View) -> Table:
    """Return very many files of one page."""
    return _many(view, "massive", view.say(N_("Very many files of one page: {file_io.set.massive.files} files")))


def general(view: View) -> Table:
    """Return very many files of mixed sizes."""
    return _many(view, "general", view.say(N_("Very many files of mixed sizes: {file_io.set.general.files} files")))


def _many(view: View, arm: str, title: str) -> Table:
    _ = view.say
    run, rows = of_run(view), []
    here = {(row.point.backend, str(row.point.levels["roles"])) for row in run.rows.all(OP, arm=arm)}
    mixes = [("overlapped", mix) for mix in ("16RnC", *(f"{half}RnC+{half}C" for half in (4, 8, 12, 16)))]
    mixes += [("mmap", f"{count}SYNC") for count in (8, 16, 24, 32, 48, 64)]
    texts = {key for key in mixes if said(view, f"{arm}.{key[1]}") != DASH}
    for backend, mix in sorted(here | texts, key=lambda key: (key[0], threads(key[1]), key[1])):
        where: dict[str, Level] = {"arm": arm, "backend": backend, "roles": mix}
        cells = [view.cell(run.row(OP, cache=cache, **where)) for cache in CACHES]
        rows.append([_(WAY_NAMES[backend]), mix, *cells, said(view, f"{arm}.{mix}", spec="s")])
    heads = [_("Cold"), _("Warm"), _("Published, of a million files")]
    stems = (f"file_io.{arm}.peak_rss_bytes", f"file_io.{arm}.max_open_files")
    memory, files = view.fact(stems[0], "MB,int"), view.fact(stems[1])
    note = _("At most {memory} of memory and {files} open files in any launch.", memory=memory, files=files)
    return Table(title, right([_("Way"), _("Roles")], heads), rows, [note])


def choice(view: View) -> Table:
    """Return the rule of thumb: the fastest of each contest, and all that were not shown to be slower."""
    _ = view.say
    rows = []
    for name, use in USES.items():
        found = contest(view.contests, CHOICES[name])
        share = found.detectable() if found else None
        rows.append([_(use), *_fastest(view, found), DASH if share is None else view.value(share, "share")])
    heads = [_("Use"), _("Fastest"), _("Not shown to be slower"), _("Detectable slow-down")]
    note = _("RnC reads first, then computes; C only computes; SYNC reads and computes one file after the other.")
    return Table(_("How many readers, how many computers, read or map: on this machine"), _columns(heads), rows, [note])


def _columns(heads: list[str]) -> list[Column]:
    return [Column(head) for head in heads]


def _fastest(view: View, found: Contest | None) -> list[str]:
    if found is None:
        return [DASH, DASH]
    best = min(
        (row for row in of_run(view).rows.all(OP) if _is(row, found)), key=lambda row: row.estimate.value, default=None
    )
    tied = [name for name in found.tied() if name != found.fastest]
    if tied and len(tied) == len(found.others):  # the fastest by its median alone
        least = view.say(N_("undecided ({medians})"), medians=f"{found.fastest} {view.cell(best, '')}")
        return [least, ", ".join(tied)]
    return [f"{found.fastest} ({view.cell(best, '')})", ", ".join(tied) or DASH]


def _is(row: Row, found: Contest) -> bool:
    key = row.point.key()
    levels = dict(word.split("=", 1) for word in found.question.split())
    plain = row.point.placement == found.placement and key["advice"] == "none"
    return plain and all(str(key[name]) == value for name, value in levels.items())


def contradictions(view: View) -> Table:
    """Return what the text says and what follows from its own figures."""
    _ = view.say
    rows = [[_(says), _(follows)] for says, follows in CONTRADICTIONS]
    return Table(_("Where the text contradicts itself"), _columns([_("The text says"), _("It follows")]), rows)
