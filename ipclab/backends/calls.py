"""Whether a sandbox grants a system call that one mechanism needs, and what does where it does not."""

import os
from collections.abc import Callable

PROFILE = "allow it in the container's seccomp profile"


def refusal(call: str, attempt: Callable[[], object]) -> str | None:
    """Return why `call` is refused, and what grants it; None where `attempt`, which makes it, works."""
    try:
        attempt()
    except OSError as error:
        return f"{call} is refused ({error.strerror or error}); {PROFILE}"
    return None


def memfd_missing() -> str | None:
    """Return why no file in memory can be made here, with the fix; None where one can."""
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    return refusal("memfd_create", lambda: os.close(os.memfd_create("ipclab", flags)))


def eventfd_missing() -> str | None:
    """Return why no eventfd can be made here, with the fix; None where one can."""
    flags = os.EFD_CLOEXEC | os.EFD_SEMAPHORE
    return refusal("eventfd2", lambda: os.close(os.eventfd(0, flags)))
