"""The file-reading study: how a program reads many files and works on them (methods: seed 004)."""

OP = "elapsed"  # of one launch: from the start of the threads until the last file is done
FIRST, READS_END = "elapsed.first-compute", "elapsed.read-end"
TASKS = ("open", "submit", "read", "fault", "compute", "close", "latency")
TASK = "file."  # one file's part of the work is the op `file.open`, `file.read` ...
HERE = "ipclab.studies.file_io"
BACKENDS = ("sync", "overlapped", "mmap")
US, MS = 1_000, 1_000_000
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
