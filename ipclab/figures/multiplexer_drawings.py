"""The figures of the multiplexer study: question, words and how each is drawn."""

from ipclab.figures import multiplexer
from ipclab.figures.drawing import Drawing
from ipclab.report.catalogue import N_

MULTIPLEXER = {
    "multiplexer-sides": Drawing(
        multiplexer.sides,
        7.0,
        5.0,
        N_("What does a message cost to write, to receive, and from process to process, by size and node?"),
        N_(
            "Time for each KiB over message size on logarithmic axes, in four panels. At "
            "{multiplexer.size.largest:MiB,int} writing: original {multiplexer.write.original.largest}, adaptive "
            "{multiplexer.write.adaptive.largest}; receiving: {multiplexer.receive.original.largest} and "
            "{multiplexer.receive.adaptive.largest}; over a pipe: {multiplexer.pipe.original.largest} and "
            "{multiplexer.pipe.adaptive.largest}; over a Unix socket: "
            "{multiplexer.unix.original.largest} and {multiplexer.unix.adaptive.largest}."
        ),
    ),
    "multiplexer-memory": Drawing(
        multiplexer.memory,
        7.0,
        2.9,
        N_("How much memory do both ends allocate for one message, and which end does?"),
        N_(
            "Bars of the bytes of receiver and sender. At {multiplexer.size.largest:MiB,int}: original "
            "{multiplexer.pipe.original.largest.bytes:MB}, optimized {multiplexer.pipe.optimized.largest.bytes:MB}, "
            "hybrid {multiplexer.pipe.hybrid.largest.bytes:MB}, adaptive {multiplexer.pipe.adaptive.largest.bytes:MB}."
        ),
    ),
    "multiplexer-factorial": Drawing(
        multiplexer.factorial,
        7.0,
        3.3,
        N_("What saves memory when writing, larger chunks or a pool, and what saves time?"),
        N_(
            "Bytes and time over chunk size, with headers made anew and from a pool. With chunks of "
            "{multiplexer.chunk.short:KiB,int} a pool allocates {multiplexer.costs.pool:pct} more; chunks of "
            "{multiplexer.chunk.long:KiB,int} without a pool save {multiplexer.saves.chunk:pct}."
        ),
    ),
    "multiplexer-streams": Drawing(
        multiplexer.streams,
        7.0,
        3.3,
        N_("What do many streams at once over one pipe cost, and are they served alike?"),
        N_(
            "Time for each message and the slowest stream over the mean, over the number of streams. With "
            "{multiplexer.streams.many} streams: original {multiplexer.streams.original.many} and "
            "{multiplexer.streams.original.many.fairness:x}, adaptive {multiplexer.streams.adaptive.many} and "
            "{multiplexer.streams.adaptive.many.fairness:x}."
        ),
    ),
    "multiplexer-threshold": Drawing(
        multiplexer.threshold,
        7.0,
        3.2,
        N_("Where should the fast path end, and what does a node without a threshold take?"),
        N_(
            "Time of Hybrid over its threshold for two sizes, and of Adaptive. The worst threshold takes "
            "{multiplexer.threshold.worst_over_best.short:x} and {multiplexer.threshold.worst_over_best.long:x} as "
            "long as the best, Adaptive {multiplexer.threshold.adaptive_over_best.short:x} and "
            "{multiplexer.threshold.adaptive_over_best.long:x}."
        ),
    ),
}
