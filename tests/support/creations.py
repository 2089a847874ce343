"""Where the source makes something that another process can reach by a name."""

import csv
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

LIST = Path(__file__).with_name("creations.csv")
CALLS = {
    ".py": r"O_CREAT|O_CREX|IPC_CREX|O_TMPFILE|SharedMemory\(|MessageQueue\(|Semaphore\("
    r"|(?:lmdb|zenoh)\.open\(|mkfifo|\.bind\(|\.listen\(|create_server|bind_to_random_port|mkdtemp"
    r"|mkstemp|Temporary\w+\(|\.mkdir\(|makedirs|memfd_create|\bmake(?:_folder)?\(path"
    r"|names\.make\w*|exclusively\(|\.touch\("
    r"|open\([^)]*[\"'][wax]b?\+?[\"']|write_text\(|write_bytes\(|joblib\.dump\(|\.create\("
    r"|symlink_to|hardlink_to|open_or_create|semprefix",
    ".rs": r"mq_open|shm_open|sem_open|OFlags::CREATE|O_CREAT|File::create|OpenOptions|fs::write"
    r"|create_dir|mkdirat|mkfifo\w*|(?:Listener|UdpSocket|UnixDatagram)::bind|memfd_create"
    r"|shmget|msgget|semget|symlink|renameat",
    ".go": r"os\.(?:Create|OpenFile|Mkdir|WriteFile)\w*|net\.Listen\w*"
    r"|syscall\.(?:Mkfifo|Open|Mknod|Bind)",
    ".c": r"shm_open|mq_open|sem_open|O_CREAT|\bbind\(|mkfifo|fopen",
}
COMMENTS = ("#", "//", '"""')
Calls = dict[tuple[str, str], int]


def found(roots: Iterable[Path]) -> Calls:
    """Return how often each call stands in each file below `roots`; a file by its last folder."""
    calls: Counter[tuple[str, str]] = Counter()
    for file in (file for root in roots for file in sorted(root.rglob("*"))):
        if file.suffix not in CALLS or "target" in file.parts:
            continue
        for line in map(str.strip, file.read_text().splitlines()):
            for call in re.findall(CALLS[file.suffix], "" if line.startswith(COMMENTS) else line):
                calls[f"{file.parent.name}/{file.name}", call] += 1
    return dict(calls)


def listed() -> Calls:
    """Return what `creations.csv` lists."""
    with LIST.open(newline="") as table:
        rows = list(csv.DictReader(table))
    return {(row["file"], row["call"]): int(row["number"]) for row in rows}


def safe() -> set[str]:
    """Return why what is listed is safe."""
    with LIST.open(newline="") as table:
        return {row["safe"] for row in csv.DictReader(table)}
