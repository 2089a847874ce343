"""The figures of the file-reading study: question, words and how each is drawn."""

from ipclab.figures import file_io, file_io_threads
from ipclab.figures.drawing import Drawing
from ipclab.report.catalogue import N_

FILE_IO = {
    "file-io-overlap": Drawing(
        file_io.overlap,
        7.0,
        2.9,
        N_("Do large files come faster when several are read at once, and what does each then wait?"),
        N_(
            "Left, the time of all files over files in flight: {file_io.overlap.cold.one} with one, "
            "{file_io.overlap.cold.many} with {file_io.overlap.deepest}. Right, the latency of one file: "
            "{file_io.overlap.latency.one} and {file_io.overlap.latency.many}."
        ),
    ),
    "file-io-states": Drawing(
        file_io_threads.states,
        7.0,
        3.6,
        N_("What do the threads do with their time?"),
        N_(
            "Stacked bars of thread states. With {file_io.threads.reference} threads that each read and compute, "
            "{file_io.states.sync.execution:pct} is execution and {file_io.states.sync.io_wait:pct} waiting for the "
            "disk; with one that reads for the others {file_io.states.overlapped.execution:pct} and "
            "{file_io.states.overlapped.io_wait:pct}."
        ),
    ),
    "file-io-timeline": Drawing(
        file_io_threads.timeline,
        7.0,
        6.4,
        N_("What did each thread do when? One launch of each way, files not in memory."),
        N_("Timelines with a lane for each thread: opening, read calls, reads under way, page faults, work, waiting."),
    ),
    "file-io-calls": Drawing(
        file_io.calls,
        7.0,
        3.8,
        N_("What does the read call cost over file size, and is it the call or its buffer?"),
        N_(
            "Read calls over file size on logarithmic axes. For the largest file compared the call takes "
            "{file_io.call.32m.fresh} into a fresh buffer, {file_io.call.32m.prefaulted} into one whose pages were "
            "touched before and {file_io.call.32m.registered} into a registered one; published: "
            "{text.file_io.said.call.33554432.call:ms}."
        ),
    ),
    "file-io-threads": Drawing(
        file_io.threads,
        7.0,
        3.0,
        N_("How many threads are enough when all read calls come first?"),
        N_(
            "Elapsed times over threads, files in memory and not. Large files: {file_io.soon.large.cold.x1} with one "
            "thread for each CPU, {file_io.soon.large.cold.x4} with four. Small files: {file_io.soon.small.cold.x1} "
            "and {file_io.soon.small.cold.x4}."
        ),
    ),
    "file-io-roles": Drawing(
        file_io.roles,
        7.0,
        3.2,
        N_("How many threads should read and how many compute, for small files?"),
        N_(
            "Mixes of roles in the order of their medians. Two threads for each CPU: {file_io.roles.x2.rnc} when all "
            "read first, {file_io.roles.x2.half} when half of them only compute. Fastest: {file_io.choice.roles.cold}."
        ),
    ),
    "file-io-maps": Drawing(
        file_io.maps,
        7.0,
        3.2,
        N_("Read or map, small and large files, in memory and not?"),
        N_(
            "Elapsed times by way. Small files not in memory: map {file_io.map.small.cold.mmap}, overlapped reads "
            "{file_io.map.small.cold.overlapped}; in memory: {file_io.map.small.warm.mmap} and "
            "{file_io.map.small.warm.overlapped}. Large files not in memory: {file_io.map.large.cold.mmap} and "
            "{file_io.map.large.cold.overlapped}; in memory: {file_io.map.large.warm.mmap} and "
            "{file_io.map.large.warm.overlapped}."
        ),
    ),
    "file-io-faults": Drawing(
        file_io.faults,
        7.0,
        3.0,
        N_("How much of a map's time do page faults take, over file size?"),
        N_(
            "The faults' share over file size, in memory and not, beside the text's. For the largest file compared: "
            "{file_io.fault.32m.cold.share:pct} when it is not in memory, {file_io.fault.32m.warm.share:pct} when it "
            "is, {text.file_io.said.fault.33554432.share:pct} published."
        ),
    ),
}
