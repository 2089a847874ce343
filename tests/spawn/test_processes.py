"""Children and threads of processes, while threads come and go."""

import subprocess
import sys
import threading

from ipclab.spawn.processes import children, threads_of


def test_a_child_is_one_until_it_is_waited_for() -> None:
    before = children()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert children() - before == {child.pid}
    assert child.stdin
    child.stdin.close()
    child.wait(20)
    assert children() == before and children(child.pid) == set() and threads_of(child.pid) == []


def test_threads_that_end_meanwhile_hide_no_child() -> None:
    before, over = children(), threading.Event()

    def come_and_go() -> None:
        while not over.is_set():
            threading.Thread(target=lambda: None).start()

    restless = threading.Thread(target=come_and_go)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        restless.start()
        try:
            assert all(children() - before == {child.pid} for _ in range(200))
        finally:
            over.set()
            restless.join(20)
            assert child.stdin
            child.stdin.close()
