"""Every figure of the shared-dictionary study: its question as a caption, and what it shows in words."""

from ipclab.figures import shared_dict, shared_dict_parts
from ipclab.figures.drawing import Drawing
from ipclab.report.catalogue import N_

DRAWINGS = {
    "shared-dict-write": Drawing(
        shared_dict.write,
        7.0,
        3.5,
        N_("Does writing take longer through ZeroMQ: the whole scenario, and one message?"),
        N_(
            "Writing over entries on logarithmic axes, measured and as published. With {shared_dict.entries.largest} "
            "entries the whole scenario takes {shared_dict.published.zmq-push.write.largest} through ZeroMQ and "
            "{shared_dict.published.shared-memory.write.largest} into SharedMemory; one message takes "
            "{shared_dict.published.zmq-push.per_message.largest}."
        ),
    ),
    "shared-dict-read": Drawing(
        shared_dict.read,
        7.0,
        3.3,
        N_("How long does one read take by the published method?"),
        N_(
            "Mean reads over entries on logarithmic axes, measured and as published. With "
            "{shared_dict.entries.largest} entries: LMDB {shared_dict.published.lmdb.read.largest}, SharedMemory "
            "{shared_dict.published.shared-memory.read.largest}, ZeroMQ {shared_dict.published.zmq-push.read.largest}."
        ),
    ),
    "shared-dict-throughput": Drawing(
        shared_dict.throughput,
        7.0,
        3.3,
        N_("How many reads does one reader make in a second by the published method?"),
        N_(
            "Reads a second over entries on logarithmic axes, measured and computed from the text's means. With "
            "{shared_dict.entries.small} entries a reader of SharedMemory makes "
            "{shared_dict.published.shared-memory.throughput.small:int,bare}, with {shared_dict.entries.largest} "
            "{shared_dict.published.shared-memory.throughput.largest:int,bare}."
        ),
    ),
    "shared-dict-entries": Drawing(
        shared_dict.entries,
        7.0,
        3.8,
        N_("What does one entry cost to write and to read, over the number of entries?"),
        N_(
            "Time divided by entries, for every mechanism. A store of {shared_dict.entries.small} entries into "
            "posix-shm takes {shared_dict.write.posix-shm.small}, one of {shared_dict.entries.largest} "
            "{shared_dict.write.posix-shm.largest}; a read {shared_dict.read.posix-shm.small} and "
            "{shared_dict.read.posix-shm.largest}."
        ),
    ),
    "shared-dict-readers": Drawing(
        shared_dict.readers,
        7.0,
        3.6,
        N_("What do more readers cost the writer and each reader ({shared_dict.entries.large} entries)?"),
        N_(
            "Times over the number of readers. From one reader to {shared_dict.readers} ZeroMQ's writing of the "
            "scenario grows to {shared_dict.published.zmq-push.readers_ratio.large:x}; with "
            "{shared_dict.usual_readers} readers at once a read of posix-shm grows to "
            "{shared_dict.read_growth.posix-shm:x}."
        ),
    ),
    "shared-dict-shares": Drawing(
        shared_dict_parts.shares,
        7.0,
        5.6,
        N_("Which share of a write is encoding, and of a read decoding?"),
        N_(
            "Stacked bars for every mechanism and three numbers of entries. Decoding is "
            "{shared_dict.share.read.decode.shared-memory.small:pct} of a read of SharedMemory with "
            "{shared_dict.entries.small} entries and {shared_dict.share.read.decode.shared-memory.largest:pct} with "
            "{shared_dict.entries.largest}; encoding is {shared_dict.share.write.encode.shared-memory.largest:pct} of "
            "that write."
        ),
    ),
    "shared-dict-codecs": Drawing(
        shared_dict_parts.codecs,
        7.0,
        2.8,
        N_("What does each codec cost, one write and one read of {shared_dict.entries.large} entries together?"),
        N_(
            "Stacked bars of encoding, transport and decoding for four codecs in two mechanisms. In posix-shm a read "
            "takes {shared_dict.codec.posix-shm.pickle.read} with pickle, {shared_dict.codec.posix-shm.msgpack.read} "
            "with MessagePack, {shared_dict.codec.posix-shm.json.read} with JSON and "
            "{shared_dict.codec.posix-shm.fixed.read} with the fixed layout."
        ),
    ),
    "shared-dict-stream": Drawing(
        shared_dict_parts.stream,
        7.0,
        3.8,
        N_("How long does an update take until every reader has acknowledged it?"),
        N_(
            "Updates over entries on logarithmic axes, for one reader and for several. With "
            "{shared_dict.entries.largest} entries and {shared_dict.usual_readers} readers: posix-shm "
            "{shared_dict.update.posix-shm.usual.largest}, LMDB {shared_dict.update.lmdb.usual.largest}, ZeroMQ push "
            "{shared_dict.update.zmq-push.usual.largest}, MPI broadcast {shared_dict.update.mpi-bcast.usual.largest}."
        ),
    ),
    "shared-dict-live": Drawing(
        shared_dict_parts.live,
        7.0,
        2.9,
        N_("How old is what a reader gets while the writer updates without a pause?"),
        N_(
            "Median and p99 of the age of what was read, with the versions it is behind. With "
            "{shared_dict.entries.large} entries: posix-shm {shared_dict.live.posix-shm.large.staleness}, SharedMemory "
            "{shared_dict.live.shared-memory.large.staleness}, LMDB {shared_dict.live.lmdb.large.staleness}, MPI "
            "window {shared_dict.live.mpi-window.large.staleness}."
        ),
    ),
}
