"""Whether the kernel grants a system call that one mechanism needs, and what does where it does not."""

import os
from collections.abc import Callable

PROFILE = "allow it in the container's seccomp profile"


def refusal(call: str, since: str, attempt: Callable[[], object]) -> str | None:
    """Return why `call` is refused, and what grants it; None where `attempt`, which makes it, works.

    `since` says which kernel has it.
    """
    try:
        attempt()
    except OSError as error:
        return f"{call} is refused ({error.strerror}); {since}, or {PROFILE}"
    return None


def memfd_missing() -> str | None:
    """Return why no file in memory can be made here, with the fix; None where one can."""
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    return refusal(
        "memfd_create",
        "take Linux 3.17 or newer",
        lambda: os.close(os.memfd_create("ipclab", flags)),
    )


def eventfd_missing() -> str | None:
    """Return why no eventfd can be made here, with the fix; None where one can."""
    return refusal(
        "eventfd2",
        "take Linux 2.6.30 or newer",
        lambda: os.close(os.eventfd(0, os.EFD_CLOEXEC | os.EFD_SEMAPHORE)),
    )
