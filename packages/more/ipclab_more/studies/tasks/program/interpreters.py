"""Interpreters and their queues: public since Python 3.14, in the test package of 3.13."""

import sys
from collections.abc import Callable

__all__ = ["Queue", "create_queue", "serving"]
if sys.version_info >= (3, 14):
    from concurrent.interpreters import Queue, create, create_queue
else:
    from test.support.interpreters import create
    from test.support.interpreters.queues import Queue
    from test.support.interpreters.queues import create as create_queue


def serving(how: str, given: dict[str, int]) -> Callable[[], None]:
    """Return what has a new interpreter serve by the code `how`, and ends it.

    A queue goes there as its `id`, of which `Queue(id)` is the same one.
    """

    def serve() -> None:
        made = create()
        made.prepare_main(given)
        made.exec(f"from program.work import serve_tasks; {how}")
        made.close()

    return serve
