"""A peer that does one thing wrong (or, as `none`, nothing): broken_peer.py FAULT serve|connect
FOLDER.
"""

import os
import socket
import sys
import time
from pathlib import Path

LONGEST, SMALL, ODD = 65_536, 100, 7
fault, side, folder = sys.argv[1:]
path, stdin, stdout = Path(folder) / "socket", sys.stdin.buffer, sys.stdout.buffer
if fault == "deaf":
    time.sleep(60)
sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
if side == "serve":
    listening = sock
    listening.bind(str(path))
    listening.listen(1)
    sock, _ = listening.accept()
    path.unlink()
else:
    while sock.connect_ex(str(path)):
        time.sleep(0.001)
stdout.write(b"ready %d\n" % {"large": 1 << 30, "digits": 10**39, "short": 99}.get(fault, LONGEST))
stdout.flush()
held: list[bytes] = []
small = came = 0
seen = {"last": b""}
LATE, SOME = 120, 20


def lied(data: bytes) -> bytes:
    """Return what is told of a received message, by the fault."""
    before, seen["last"] = seen["last"], data
    hit = came % SOME == 0 and len(data) >= 8
    wrong = {
        "rot-late": came > LATE and bytes([data[0] ^ 1]) + data[1:],
        "stale": hit and len(before) >= 8 and before,
        "zeros": hit and bytes(len(data)),
        "cut": data[:2048],
    }.get(fault)
    return wrong or data


def give(data: bytes) -> None:
    sock.send(b"." + data)


while line := stdin.readline():
    word, number = line.split()
    if word == b"send":
        if fault == "early":
            stdout.write(b"sent\n")
            stdout.flush()
        if fault == "ahead" and int(number) > SMALL:
            data = stdin.read(int(number) - 1)
            give(data + b".")
            stdin.read(1)
            stdout.write(b"sent\n")
            stdout.flush()
            continue
        data = stdin.read(int(number))
        small += len(data) == SMALL
        if fault == "drop" and small == 3 and len(data) == SMALL:
            pass
        elif fault == "reorder" and small == 3 and len(data) == SMALL:
            held.append(data)
        else:
            give(data)
            for each in held:
                give(each)
            held.clear()
        if fault != "early":
            stdout.write(b"sent\n")
    else:
        sock.settimeout(max(0.001, int(number) / 1000))
        if fault == "hang":
            time.sleep(60)
        if fault == "die":
            os._exit(3)
        if fault == "flood":
            while True:
                stdout.write(b"message %d\n%s" % (1 << 29, bytes(1 << 20)))
        if fault == "drip":
            stdout.write(b"message %d\n" % LONGEST)
            while True:
                stdout.write(b".")
                stdout.flush()
                time.sleep(0.001)
        if fault == "digits":
            stdout.write(b"message " + b"9" * 5000 + b"\n")
            stdout.flush()
            continue
        try:
            again = fault == "twice" and seen["last"] and came % SOME == SOME - 1
            data = b"." + seen["last"] if again else sock.recv(1 + LONGEST)
        except TimeoutError:
            stdout.write(b"late\n")
        else:
            lie = 10 if fault == "lie" and len(data) == 1 + ODD else 0
            came += bool(data)
            told = lied(data[1:]) if data else b""
            said = b"message %d\n%s" % (len(told) + lie, told) if data else b"gone\n"
            stdout.write(said)
            while fault == "stuck" and len(data) == 1 + SMALL:
                stdout.flush()
                stdin.readline()
                stdout.write(said)
    stdout.flush()
